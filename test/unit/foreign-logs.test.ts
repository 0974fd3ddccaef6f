/**
 * Random legal logs of other writers, against a plain fold over their lines: read as they lie there, looked at while they grow, taken over,
 * begun at a table checkpoint, and read as a stream.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import { tableSourceOptions } from '../../src/engine/source-options.js'
import { formatTableOffset, parseTableOffset, type TableOffset } from '../../src/engine/table-offset.js'
import { filesOfRange, latestTableOffset } from '../../src/engine/table-source-plan.js'
import type { StreamtopError } from '../../src/errors.js'
import { observe } from '../../src/observe/observe.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { LogMemory } from '../../src/observe/table-memory.js'
import { deletedRows } from '../../src/store/deletion-vector.js'
import { defineSchema, formatSchemaString } from '../../src/store/schema.js'
import { Store } from '../../src/store/store.js'
import type { Snapshot, TableLog } from '../../src/store/table-log.js'
import { parseVersion } from '../../src/store/version-text.js'
import { checkpointText, histories, type ModelFile, modelKey, type ModelState, type ModelVersion } from '../delta-histories.js'
import { memoryTableLog } from '../memory-table-log.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-foreign-logs-'))
afterAll(() => rmSync(folder, { recursive: true }))
/** Nothing here is about a loss of power. */
const fx: Effects = { ...realEffects, files: { ...realEffects.files, syncFile: () => undefined, syncFolder: () => undefined } }
let workspaces = 0
const schema = defineSchema({ a: 'int' })
const FIRST = `${JSON.stringify({ metaData: { id: 't', schemaString: formatSchemaString(schema) } })}\n{"protocol":{}}\n`
const CHECKPOINT = 'checkpoint.01234567-89ab-4cde-8f01-23456789abcd.json'

const event = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('look' as const), pick: fc.nat(99) }),
  fc.record({ kind: fc.constant('adopt' as const) }),
  fc.record({ kind: fc.constant('checkpoint' as const), pick: fc.nat(99), order: fc.nat() }),
  fc.record({ kind: fc.constant('clean' as const), pick: fc.nat(99) }),
)

test('every version of a table reads as its log says, whatever was written, looked at, taken over and cleaned up before', () => {
  fc.assert(
    fc.property(histories, fc.array(event, { maxLength: 8 }), (versions, events) => {
      const table = new GrowingTable(versions)
      const memory = new LogMemory()
      for (const step of events) {
        if (step.kind === 'write') table.write(step.count)
        else if (step.kind === 'look') table.look(memory, [step.pick])
        else if (step.kind === 'adopt') table.adopt()
        else if (step.kind === 'checkpoint') table.checkpoint(step.pick, step.order)
        else table.clean(step.pick)
      }
      table.write(versions.length)
      const all = versions.map((_, version) => version)
      table.look(memory, all)
      table.look(new LogMemory(), all)
      table.adopt()
      table.look(memory, all)
      table.look(new LogMemory(), all)
    }),
    { numRuns: 25 },
  )
})

/** Spark reads such tables too: the last one counts. One table of them must not keep the others from being opened. */
describe('what no version should name twice', () => {
  const add = (size: number) => addLine('f', { size })
  const remove = '{"remove":{"path":"gone","dataChange":true}}\n'
  const txn = (version: number) => `{"txn":{"appId":"a","version":${version}}}\n`
  const twice = add(1) + addLine('g', { size: 9 }) + add(2) + txn(7) + remove + remove + txn(3)

  test.each<[string, Record<string, string>]>([
    ['in version 0', { '0.json': FIRST + twice }],
    ['in a later version', { '0.json': FIRST + add(5), '1.json': twice }],
    ['in a table checkpoint', { [`4.${CHECKPOINT}`]: FIRST + twice, '4.json': remove }],
    ['behind a table checkpoint', { [`4.${CHECKPOINT}`]: FIRST + add(5) + remove, '5.json': twice }],
  ])('%s', (_, files) => {
    const workspace = workspaceOf(files)
    const shown = (reader: TableLog) => {
      const { files, txns } = reader.snapshot('t') ?? expect.fail('no snapshot')
      return { files: files.map(({ path, size }) => `${path} ${size}`).sort(), txns: [...txns.values()].map(({ version }) => version) }
    }
    const expected = { files: ['f 2', 'g 9'], txns: [3] }
    const memory = new LogMemory()
    for (let life = 0; life < 2; life++) {
      for (const remembered of [memory, new LogMemory()]) {
        const reader = OverlaidLog.open(workspace, fx, remembered)
        // The snapshot before is what the next one is made from.
        reader.snapshot('t', reader.oldestSnapshotVersion('t') ?? 0)
        expect(shown(reader)).toEqual(expected)
        reader.close()
      }
      const store = Store.open(workspace, fx)
      expect(shown(store)).toEqual(expected)
      store.close()
    }
  })
})

test('a stream takes from such a table what the protocol gives it, in any batches, and the same when it is asked again', () => {
  const options = fc.constantFrom('', 'skipChangeCommits=true', 'ignoreDeletes=true', 'ignoreChanges=true')
  const limit = fc.constantFrom('', 'maxFilesPerTrigger=1', 'maxFilesPerTrigger=2', 'maxBytesPerTrigger=4000b')
  const begin = fc.constantFrom('snapshot', 'version', 'latest')
  fc.assert(
    fc.property(histories, options, limit, begin, fc.nat(99), fc.nat(99), (versions, option, limited, kind, firstSeen, startPick) => {
      const seen = firstSeen % versions.length
      const first = startPick % (seen + 1)
      const start = kind === 'snapshot' ? [] : [`startingVersion=${kind === 'version' ? first : 'latest'}`]
      const given = tableSourceOptions([option, limited, ...start].filter((pair) => pair !== ''))
      const all = versions.map(({ text }, version) => parseVersion(text, `version ${version}`))
      const initial = kind === 'snapshot' ? inModelOrder((versions[seen] as ModelVersion).state.files) : []
      const expected = streamOf(versions.slice(kind === 'version' ? first : seen + 1), option)

      const taken: string[] = []
      const ranges: { start: TableOffset | null; end: TableOffset; keys: string[] }[] = []
      let failed: unknown = null
      let at: TableOffset | null = null
      for (let newest = seen; newest < versions.length && failed === null; ) {
        const log = memoryTableLog({ t: all.slice(0, newest + 1) })
        let end: TableOffset | null = null
        try {
          end = latestTableOffset(log, 't', at, given)
        } catch (error) {
          failed = (error as StreamtopError).code
        }
        if (end === null) newest++
        else {
          // As it is logged and read again.
          end = parseTableOffset(formatTableOffset(end), 'offsets')
          const keys = filesOfRange(log, 't', at, end, given).files.map(shownKey)
          ranges.push({ start: at, end, keys })
          taken.push(...keys)
          at = end
        }
      }
      expect(failed).toBe(expected.error)
      const keys = [...initial.map(modelKey), ...expected.keys]
      // What stands before the version that cannot be read may be left with it, but for a full batch.
      expect(taken).toEqual(failed === null || limited === 'maxFilesPerTrigger=1' ? keys : keys.slice(0, taken.length))
      const grown = memoryTableLog({ t: all })
      for (const range of ranges) expect(filesOfRange(grown, 't', range.start, range.end, given).files.map(shownKey)).toEqual(range.keys)
    }),
    { numRuns: 200 },
  )
})

describe('a folder where a file should be, and a name that no file has, are damage of one table', () => {
  test.each<[string, Record<string, string>, string]>([
    ['a data file', { '0.json': FIRST + addLine('f') }, 'f'],
    ['a version', { '0.json': FIRST }, '_delta_log/00000000000000000001.json'],
    ['the first version', {}, '_delta_log/00000000000000000000.json'],
    ['a table checkpoint', { '1.json': addLine('f') }, `_delta_log/00000000000000000001.${CHECKPOINT}`],
  ])('a folder: %s', async (_, files, place) => {
    const workspace = workspaceOf(files)
    mkdirSync(join(workspace, 'tables', 't', place), { recursive: true })
    await expectNamed(workspace, { code: 'table-damaged', message: expect.stringContaining(`${place} is a folder where a file should be`) })
  })

  test('a folder: a file of deletion vectors', () => {
    const workspace = workspaceOf({})
    mkdirSync(join(workspace, 'v.bin'))
    const vector = { storageType: 'p', pathOrInlineDv: 'v.bin', offset: 1, sizeInBytes: 1, cardinality: 1 }
    expect(() => deletedRows(workspace, vector, new Map(), fx)).toThrow(/v.bin is a folder where a file should be/)
  })

  test.each([
    ['with a zero byte', 'a%00b', 'unsupported-feature'],
    ['of too many letters', 'x'.repeat(5000), 'table-damaged'],
  ])('a name %s', async (_, path, code) => {
    const workspace = workspaceOf({ '0.json': FIRST + addLine(path) })
    await expectNamed(workspace, { code })
    const store = Store.open(workspace, fx)
    const vacuumed = () => store.vacuum('t', { dryRun: true }).files
    if (code === 'table-damaged') expect(vacuumed).toThrow(expect.objectContaining({ code }))
    else expect(vacuumed()).toEqual([])
    store.close()
  })

  /** By a look, which shows the other table, and by whoever reads its rows. */
  async function expectNamed(workspace: string, named: object): Promise<void> {
    const other = join(workspace, 'tables', 'other', '_delta_log')
    mkdirSync(other, { recursive: true })
    writeFileSync(join(other, `${'0'.repeat(20)}.json`), FIRST.replace('"id":"t"', '"id":"other"'))
    const { tables } = await observe(workspace, [], fx)
    expect(tables).toMatchObject([
      { name: 'other', error: null },
      { name: 't', error: named },
    ])
    const store = Store.open(workspace, fx)
    const read = async () => store.read('t', schema, store.snapshot('t')?.files ?? [])
    await expect(read()).rejects.toMatchObject(named)
    expect(store.newestVersion('other')).toBe(0)
    store.close()
  }
})

/** A table with these files in its log, their numbers written short. */
function workspaceOf(files: Readonly<Record<string, string>>): string {
  const workspace = join(folder, String(workspaces++))
  const log = join(workspace, 'tables', 't', '_delta_log')
  mkdirSync(log, { recursive: true })
  for (const [name, text] of Object.entries(files))
    writeFileSync(
      join(
        log,
        name.replace(/^\d+/, (digits) => digits.padStart(20, '0')),
      ),
      text,
    )
  return workspace
}

function addLine(path: string, more: object = {}): string {
  return `${JSON.stringify({ add: { path, partitionValues: {}, size: 1, modificationTime: 1, dataChange: true, ...more } })}\n`
}

/** Whether a version only wrote rows again. */
function isRewrite({ adds, removes }: ModelVersion): boolean {
  return removes.length > 0 && [...adds, ...removes].every(({ dataChange }) => !dataChange)
}

function inModelOrder(files: readonly ModelFile[]): ModelFile[] {
  return [...files].sort((a, b) => a.modifiedMs - b.modifiedMs || Buffer.compare(Buffer.from(a.rawPath), Buffer.from(b.rawPath)))
}

/** The table of what a version gives to a stream, by the option that was given. */
function streamOf(versions: readonly ModelVersion[], option: string): { readonly keys: string[]; readonly error: string | null } {
  const keys: string[] = []
  for (const { adds, removes } of versions) {
    const added = adds.filter(({ dataChange }) => dataChange).map(modelKey)
    const hasRemoves = removes.some(({ dataChange }) => dataChange)
    if (hasRemoves && option === 'skipChangeCommits=true') continue
    if (hasRemoves && option !== 'ignoreChanges=true') {
      if (added.length > 0) return { keys, error: 'source-changed' }
      if (option !== 'ignoreDeletes=true') return { keys, error: 'source-deleted' }
    }
    keys.push(...added)
  }
  return { keys, error: null }
}

/** A table that another writer writes, and everybody who reads it. */
class GrowingTable {
  readonly #versions: readonly ModelVersion[]
  readonly #workspace = join(folder, String(workspaces++))
  readonly #log = join(this.#workspace, 'tables', 't', '_delta_log')
  readonly #checkpoints: number[] = []
  #newest = -1
  /** The oldest version whose JSON is there. */
  #oldest = 0
  /** What the SQLite log has; null while there is none. */
  #adopted: { readonly oldest: number; readonly oldestSnapshot: number; newest: number } | null = null

  constructor(versions: readonly ModelVersion[]) {
    this.#versions = versions
    mkdirSync(this.#log, { recursive: true })
    this.write(1)
  }

  write(count: number): void {
    for (let i = 0; i < count && this.#newest < this.#versions.length - 1; i++) {
      this.#newest++
      writeFileSync(this.#path(this.#newest, 'json'), this.#versions[this.#newest]?.text ?? '')
    }
  }

  checkpoint(pick: number, order: number): void {
    const version = this.#oldestSnapshot() + (pick % (this.#newest - this.#oldestSnapshot() + 1))
    if (version === 0 || this.#checkpoints.includes(version)) return
    this.#checkpoints.push(version)
    writeFileSync(this.#path(version, CHECKPOINT), checkpointText(this.#versions[version] as ModelVersion, order))
  }

  /** Removes the JSON of the oldest versions, up to the newest checkpoint at most, and never the newest, nor what is adopted last. */
  clean(pick: number): void {
    const last = Math.min(Math.max(-1, ...this.#checkpoints), this.#newest - 1, (this.#adopted?.newest ?? Number.POSITIVE_INFINITY) - 1)
    const count = last - this.#oldest + 1
    if (count <= 0) return
    for (const end = this.#oldest + 1 + (pick % count); this.#oldest < end; this.#oldest++) rmSync(this.#path(this.#oldest, 'json'))
  }

  adopt(): void {
    const { oldest, oldestSnapshot } = this.#adopted ?? { oldest: this.#oldest, oldestSnapshot: this.#oldestSnapshot() }
    this.#adopted = { oldest, oldestSnapshot, newest: this.#newest }
    const store = Store.open(this.#workspace, fx)
    try {
      this.#expectReads(
        store,
        this.#versions.map((_, version) => version),
      )
    } finally {
      store.close()
    }
  }

  look(memory: LogMemory, picks: readonly number[]): void {
    const reader = OverlaidLog.open(this.#workspace, fx, memory)
    try {
      expect(reader.errorOf('t')).toBeNull()
      this.#expectReads(reader, picks)
      expect(reader.history('t', 99).map(({ version }) => version)).toEqual(this.#readable().reverse())
      expect([...reader.removedFiles('t', this.#newest)].map(shownKey).sort()).toEqual(this.#removedKeys())
      const behind = this.#behindSnapshot()
      expect(reader.rewrites('t').filter((version) => version >= (behind[0]?.state.version ?? 0))).toEqual(
        behind.filter(isRewrite).map(({ state }) => state.version),
      )
      const isOneSchema = behind.every(({ state }) => state.columns.length === this.#versions[0]?.state.columns.length)
      if (reader.hasOneSchema('t')) expect(new Set(behind.map(({ state }) => state.columns.length)).size).toBeLessThan(2)
      else expect(isOneSchema).toBe(false)
    } finally {
      reader.close()
    }
  }

  #expectReads(log: TableLog, picks: readonly number[]): void {
    const { oldest, oldestSnapshot } = this.#adopted ?? { oldest: this.#oldest, oldestSnapshot: this.#oldestSnapshot() }
    expect([log.oldestVersion('t'), log.oldestSnapshotVersion('t'), log.newestVersion('t')]).toEqual([oldest, oldestSnapshot, this.#newest])
    for (const pick of picks) {
      const version = oldestSnapshot + (pick % (this.#newest - oldestSnapshot + 1))
      const model = this.#versions[version] as ModelVersion
      const base = oldestSnapshot === 0 ? null : (this.#versions[oldestSnapshot] as ModelVersion).state
      const snapshot = log.snapshot('t', version)
      expect(snapshot && shown(snapshot, base)).toEqual(shownModel(model.state, base))
      if (version < oldest) continue
      const changes = log.changes('t', version)
      expect(changes.adds.map(shownKey)).toEqual(model.adds.map(modelKey))
    }
  }

  #readable(): number[] {
    const oldest = this.#adopted?.oldest ?? this.#oldest
    return Array.from({ length: this.#newest - oldest + 1 }, (_, i) => oldest + i)
  }

  /** Where snapshots begin for a reader without a SQLite log. */
  #oldestSnapshot(): number {
    if (this.#oldest === 0) return 0
    return Math.min(...this.#checkpoints.filter((version) => version >= this.#oldest - 1))
  }

  /** The versions behind the one where snapshots begin. */
  #behindSnapshot(): readonly ModelVersion[] {
    return this.#versions.slice((this.#adopted?.oldestSnapshot ?? this.#oldestSnapshot()) + 1, this.#newest + 1)
  }

  /** Files whose rows one of these versions took out. */
  #removedKeys(): string[] {
    return this.#behindSnapshot()
      .flatMap(({ removes }) => removes.flatMap(({ key, dataChange }) => (dataChange ? [key] : [])))
      .sort()
  }

  #path(version: number, rest: string): string {
    return join(this.#log, `${String(version).padStart(20, '0')}.${rest}`)
  }
}

function shownKey(file: Snapshot['files'][number]): string {
  return modelKey({ path: file.path, vector: file.deletionVector as Record<string, unknown> | null })
}

/** A checkpoint has no order, and says of no file that it changed data: files that it has are sorted, and come first. */
function shown(snapshot: Snapshot, base: ModelState | null) {
  const files = snapshot.files.map((file) => ({
    key: shownKey(file),
    vector: file.deletionVector,
    size: file.size,
    modifiedMs: file.modifiedMs,
    dataChange: file.dataChange,
    partitionValues: { ...file.partitionValues },
    statistics: file.statistics,
  }))
  return {
    version: snapshot.version,
    columns: snapshot.schema.columns.map(({ name }) => name),
    protocol: snapshot.protocol,
    configuration: { ...snapshot.metadata.configuration },
    files: baseFirst(files, base),
    txns: [...snapshot.txns.values()].map(({ appId, version, lastUpdatedMs }) => [appId, version, lastUpdatedMs]).sort(),
  }
}

function shownModel(state: ModelState, base: ModelState | null) {
  const { version, columns, protocol, configuration, txns } = state
  const files = state.files.map(({ rawPath: _, path, ...file }) => ({ key: modelKey({ path, vector: file.vector }), ...file }))
  return {
    version,
    columns,
    protocol,
    configuration,
    files: baseFirst(files, base),
    txns: Object.entries(txns)
      .map(([appId, { version, lastUpdatedMs }]) => [appId, version, lastUpdatedMs])
      .sort(),
  }
}

function baseFirst<T extends { readonly key: string; readonly dataChange: boolean }>(files: readonly T[], base: ModelState | null): readonly object[] {
  if (base === null) return files
  const keys = new Set(base.files.map(modelKey))
  const ofBase = files.filter(({ key }) => keys.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1))
  return [...ofBase.map((file) => ({ ...file, dataChange: null })), ...files.filter(({ key }) => !keys.has(key))]
}
