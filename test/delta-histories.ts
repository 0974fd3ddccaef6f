/**
 * Random legal logs of Delta tables, as another writer may have made them, and what they mean by the plainest rules of the protocol: a fold
 * over the lines that shares nothing with src.
 */
import fc from 'fast-check'

/** A live file as the log has it. */
export interface ModelFile {
  /** As it stands in the log. */
  readonly rawPath: string
  readonly path: string
  readonly vector: Readonly<Record<string, unknown>> | null
  readonly size: number
  readonly modifiedMs: number
  readonly dataChange: boolean
  readonly partitionValues: Readonly<Record<string, string | null>>
  readonly statistics: string | null
}

/** A table at a version. */
export interface ModelState {
  readonly version: number
  readonly columns: readonly string[]
  readonly protocol: unknown
  readonly configuration: Readonly<Record<string, string>>
  /** In the order in which they were added. */
  readonly files: readonly ModelFile[]
  /** Files that were taken out and did not come back. */
  readonly tombstones: readonly ModelFile[]
  readonly txns: Readonly<Record<string, { readonly version: number; readonly lastUpdatedMs: number | null }>>
}

export interface ModelVersion {
  readonly text: string
  readonly state: ModelState
  readonly adds: readonly ModelFile[]
  readonly removes: readonly { readonly key: string; readonly dataChange: boolean }[]
  /** Raw JSON of the actions that are the table's shape and its txns in force: what a checkpoint has of them. */
  readonly shapeLines: readonly string[]
}

export const MODEL_TABLE_ID = '7b1d3f9a-54a3-4a0e-8a1d-1b6b2f5a7c11'

export function modelKey({ path, vector }: Pick<ModelFile, 'path' | 'vector'>): string {
  return vector === null ? path : `${path} ${vector['storageType']}${vector['pathOrInlineDv']}${'offset' in vector ? `@${vector['offset']}` : ''}`
}

const MOVES = ['append', 'append', 'remove', 'vector', 'plain', 'back', 'again', 'column', 'protocol', 'property', 'txn', 'noise'] as const

const move = fc.record({ kind: fc.constantFrom(...MOVES), pick: fc.nat(999), dataChange: fc.boolean(), variant: fc.nat(11) })
const version = fc.record({
  moves: fc.array(move, { maxLength: 6 }),
  order: fc.nat(),
  commitInfo: fc.constantFrom('first', 'anywhere', 'none'),
  newline: fc.constantFrom('\n', '\n', '\r\n', '\n\n', '\n \n'),
  isEnded: fc.boolean(),
})

/** A log of one table from its version 0 on. */
export const histories = fc
  .record({ versions: fc.array(version, { minLength: 2, maxLength: 9 }), isPartitioned: fc.boolean() })
  .map(({ versions, isPartitioned }) => modelOf(versions, isPartitioned))

type VersionPlan = typeof version extends fc.Arbitrary<infer T> ? T : never

/** Spellings of a file's name as writers have them; each stands for another name. */
const SPELLINGS = ['part-', 'a%20b-', 'café-', 'x=a%253Ab/', "it's+a&b,c;d@e-", '%25-', 'caf%C3%A9-', '%F0%9F%8E%89-', 'p%3D1/q-', 'sub%2Fdir-']
/** So many of them are Spark's own: the order of files that were made in one moment is that of their names as Spark spells them. */
const SPELLED_AS_SPARK = 6
const NUMBERS = ['0', '7', '-1', '3', '2147483648', '4294967296', '9007199254740991', '9007199254740993', '9223372036854775807', '5', '1', '2']
const APPS = ['0f6b1c52-7f0d-4a55-9a7e-2f6f1c1f9f10', 'an app', '__proto__', 'élan "x"\n']
const PROTOCOLS = [
  { minReaderVersion: 1, minWriterVersion: 2 },
  { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ['deletionVectors'], writerFeatures: ['deletionVectors'] },
  { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ['appendOnly', 'invariants'] },
]
const NOISE = [
  { domainMetadata: { domain: 'delta.clustering', configuration: '{}', removed: false } },
  { cdc: { path: '_change_data/x.parquet', partitionValues: {}, size: 1, dataChange: false } },
  { checkpointMetadata: { version: 1, tags: {} } },
  { sidecar: { path: 'x.parquet', sizeInBytes: 1, modificationTime: 1 } },
  { somethingNew: { add: { path: 'no-file' } } },
  { somethingNew: null },
]

function modelOf(plans: readonly VersionPlan[], isPartitioned: boolean): ModelVersion[] {
  const live = new Map<string, ModelFile>()
  const gone = new Map<string, ModelFile>()
  const txns: Record<string, { version: number; lastUpdatedMs: number | null }> = Object.create(null)
  const txnLines = new Map<string, string>()
  let columns = isPartitioned ? ['a', 'p'] : ['a']
  let protocol: unknown = PROTOCOLS[0]
  let configuration: Record<string, string> = {}
  let counter = 0
  const versions: ModelVersion[] = []

  const metaData = () =>
    JSON.stringify({
      metaData: {
        id: MODEL_TABLE_ID,
        name: null,
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify({
          type: 'struct',
          fields: columns.map((name) => ({ name, type: name === 'p' ? 'string' : 'long', nullable: true, metadata: {} })),
        }),
        partitionColumns: isPartitioned ? ['p'] : [],
        configuration,
        createdTime: 1_767_225_600_000,
        unknownField: [1],
      },
    })

  for (const [at, plan] of plans.entries()) {
    const touched = new Set<string>()
    const apps = new Set<string>()
    const lines: string[] = []
    const adds: ModelFile[] = []
    const removes: { key: string; dataChange: boolean }[] = []
    let isShapeNew = at === 0
    let isProtocolNew = at === 0

    const isFree = (file: ModelFile | undefined): file is ModelFile => file !== undefined && !touched.has(file.path)
    const remove = (file: ModelFile, dataChange: boolean, variant: number) => {
      touched.add(file.path)
      live.delete(modelKey(file))
      gone.set(modelKey(file), file)
      removes.push({ key: modelKey(file), dataChange })
      lines.push(removeLine(file, dataChange, variant))
    }
    const add = (file: ModelFile, variant: number) => {
      touched.add(file.path)
      adds.push(file)
      lines.push(addLine(file, variant))
    }
    const rewritten = (file: ModelFile, vector: ModelFile['vector'], dataChange: boolean, variant: number): ModelFile => ({
      ...file,
      vector,
      dataChange,
      statistics: variant % 3 === 0 ? null : `{"numRecords":10,"tightBounds":${variant % 2 === 0}}`,
    })

    for (const { kind, pick, dataChange, variant } of plan.moves) {
      const alive = [...live.values()]
      const file = alive[pick % Math.max(1, alive.length)]
      const changesVector = kind === 'vector' || kind === 'plain'
      if (kind === 'append') {
        const spelling = pick % SPELLINGS.length
        const rawPath = `${SPELLINGS[spelling]}${counter++}.parquet`
        const modifiedMs = 1_767_225_600_000 + (spelling < SPELLED_AS_SPARK ? variant % 3 : 10 + counter)
        const partitionValues = isPartitioned ? { p: variant % 4 === 0 ? null : `p ${variant}/ü` } : {}
        const statistics = variant % 3 === 0 ? null : `{"numRecords":${variant},"minValues":{"a":9007199254740993}}`
        add({ rawPath, path: decoded(rawPath), vector: null, size: variant * 1000, modifiedMs, dataChange, partitionValues, statistics }, variant)
      } else if (kind === 'remove' && isFree(file)) remove(file, dataChange, variant)
      else if (changesVector && isFree(file) && (kind === 'vector' || file.vector !== null)) {
        const next = rewritten(file, kind === 'plain' ? null : vectorOf(variant, counter++), dataChange, variant)
        // Both in one version, the add before or behind the remove.
        remove(file, dataChange, variant)
        add(next, variant)
      } else if (kind === 'again' && isFree(file)) add(rewritten(file, file.vector, false, variant), variant)
      else if (kind === 'back') {
        const lost = [...gone.values()].filter(({ path }) => !alive.some((one) => one.path === path))
        const found = lost[pick % Math.max(1, lost.length)]
        if (isFree(found)) add({ ...found, dataChange }, variant)
      } else if (kind === 'column' && columns.length < 5) {
        columns = [...columns, `c${counter++}`]
        isShapeNew = true
      } else if (kind === 'property') {
        configuration = { ...configuration, [`k${variant % 3}`]: String(counter++) }
        isShapeNew = true
      } else if (kind === 'protocol') {
        protocol = PROTOCOLS[variant % PROTOCOLS.length]
        isProtocolNew = true
      } else if (kind === 'txn') {
        const appId = APPS[pick % APPS.length] as string
        if (apps.has(appId)) continue
        apps.add(appId)
        const number = NUMBERS[variant] as string
        const lastUpdatedMs = dataChange ? 1_767_225_600_000 + variant : null
        txns[appId] = { version: Number(number), lastUpdatedMs }
        txnLines.set(appId, `{"txn":{"appId":${JSON.stringify(appId)},"version":${number}${lastUpdatedMs === null ? '' : `,"lastUpdated":${lastUpdatedMs}`}}}`)
        lines.push(txnLines.get(appId) as string)
      } else if (kind === 'noise') lines.push(JSON.stringify(NOISE[variant % NOISE.length]))
    }
    if (isShapeNew) lines.push(metaData())
    if (isProtocolNew) lines.push(JSON.stringify({ protocol }))
    if (plan.commitInfo === 'anywhere' || lines.length === 0) lines.push(COMMIT_INFO)
    const ordered = shuffled(lines, plan.order)
    if (plan.commitInfo === 'first' && lines.length > 0) ordered.unshift(COMMIT_INFO)
    // A stream numbers the adds as they stand in the file.
    const inFile = ordered.flatMap((line) => {
      const index = lines.indexOf(line)
      return index < 0 ? [] : adds.filter((file) => addLineOf.get(file) === line)
    })
    for (const file of inFile) {
      live.delete(modelKey(file))
      live.set(modelKey(file), file)
      gone.delete(modelKey(file))
    }
    versions.push({
      text: ordered.join(plan.newline) + (plan.isEnded ? plan.newline : ''),
      adds: inFile,
      removes,
      shapeLines: [metaData(), JSON.stringify({ protocol }), ...txnLines.values()],
      state: {
        version: at,
        columns,
        protocol,
        configuration,
        files: [...live.values()],
        tombstones: [...gone.values()],
        txns: Object.assign(Object.create(null), txns),
      },
    })
  }
  return versions
}

const COMMIT_INFO = '{"commitInfo":{"timestamp":1767225600500,"operation":"WRITE","operationParameters":{"mode":"Append"},"txnId":"t"}}'

/** The lines of a V2 checkpoint in JSON at a version, in any order; tombstones may have been dropped. */
export function checkpointText({ state, shapeLines }: ModelVersion, order: number): string {
  const kept = state.tombstones.filter((_, index) => (order >> index) % 2 === 0)
  const lines = [
    ...[`{"checkpointMetadata":{"version":${state.version}}}`, ...shapeLines],
    ...state.files.map((file) => addLine({ ...file, dataChange: false }, order % 12)),
    ...kept.map((file) => removeLine(file, true, order % 12)),
  ]
  return shuffled(lines, order)
    .map((line) => `${line}\n`)
    .join('')
}

const addLineOf = new WeakMap<ModelFile, string>()

function addLine(file: ModelFile, variant: number): string {
  const { rawPath, partitionValues, size, modifiedMs, dataChange, statistics, vector } = file
  const line = JSON.stringify({
    add: {
      ...(variant % 5 === 1 ? { baseRowId: 4, defaultRowCommitVersion: 1, clusteringProvider: null, unknownField: { a: [1] } } : {}),
      path: rawPath,
      partitionValues,
      size,
      modificationTime: modifiedMs,
      dataChange,
      ...(statistics === null ? (variant % 2 === 0 ? { stats: null } : {}) : { stats: statistics }),
      ...(variant % 4 === 2 ? { tags: { INSERTION_TIME: '1', MIN: null } } : {}),
      ...(vector === null ? (variant % 2 === 1 ? { deletionVector: null } : {}) : { deletionVector: vector }),
    },
  })
  addLineOf.set(file, line)
  return line
}

/** Old writers leave out all that is not needed. */
function removeLine({ rawPath, partitionValues, size, vector }: ModelFile, dataChange: boolean, variant: number): string {
  return JSON.stringify({
    remove: {
      path: rawPath,
      ...(variant % 3 === 0 ? {} : { deletionTimestamp: 1_767_225_600_000 }),
      dataChange,
      ...(variant % 3 === 1 ? { extendedFileMetadata: true, partitionValues, size } : {}),
      ...(vector === null ? {} : { deletionVector: vector }),
    },
  })
}

function vectorOf(variant: number, unique: number): Record<string, unknown> {
  const rest = { sizeInBytes: 34, cardinality: variant }
  if (variant % 3 === 0) return { storageType: 'i', pathOrInlineDv: `wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L${unique}`, ...rest }
  // Many vectors lie in one file: their offset tells them apart.
  if (variant % 3 === 1) return { storageType: 'u', pathOrInlineDv: 'ab^-aqEH.-t@S}K{vb[*k^', offset: unique, ...rest }
  return { storageType: 'u', pathOrInlineDv: `ab^-aqEH.-t@S}K{vb[*${String(unique).padStart(2, '0')}`, ...rest }
}

/** Percent signs decoded once, as bytes of UTF-8. */
function decoded(path: string): string {
  const bytes: number[] = []
  for (let at = 0; at < path.length; ) {
    const hex = /^%[\dA-F]{2}/.exec(path.slice(at))?.[0]
    const letter = hex ?? String.fromCodePoint(path.codePointAt(at) as number)
    bytes.push(...(hex ? [Number.parseInt(hex.slice(1), 16)] : Buffer.from(letter)))
    at += letter.length
  }
  return Buffer.from(bytes).toString('utf8')
}

/** The same order for the same number. */
function shuffled<T>(items: readonly T[], order: number): T[] {
  const left = [...items]
  const result: T[] = []
  for (let state = order + 1; left.length > 0; state = (state * 48_271) % 2_147_483_647) result.push(...left.splice(state % left.length, 1))
  return result
}
