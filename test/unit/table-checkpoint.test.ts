/** A table whose log begins with a table checkpoint, of every form: what is left of it reads as it did when the log was whole. */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { tableHistory } from '../../src/observe/table-history.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { fileKey } from '../../src/store/replay.js'
import { defineSchema } from '../../src/store/schema.js'
import { Store } from '../../src/store/store.js'
import { baseSnapshot } from '../../src/store/table-checkpoint.js'
import type { Snapshot } from '../../src/store/table-log.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-checkpoints-'))
const original = join(folder, 'original')
const workspace = join(folder, 'workspace')
const table = join(workspace, 'tables', 't')
const log = join(table, '_delta_log')
const schema = defineSchema({ n: 'int', s: 'string' })
const NEWEST = 6
/** What the table was at each version while its log was whole. */
const before: Snapshot[] = []

beforeAll(async () => {
  const store = Store.open(original, realEffects)
  await store.createTable('t', schema)
  for (let n = 1; n < NEWEST; n++) {
    const txn = { appId: `app ${n % 2}`, version: 2 ** 40 + n }
    await store.append('t', columnsFromRows(schema, [{ n, s: `text ${n}` }]), { kind: 'write' }, { txn })
  }
  // The first of the files is merged into, so that there is a tombstone.
  await store.merge('t', columnsFromRows(schema, [{ n: 1, s: 'merged' }]), { on: 'n', whenMatched: 'update' })
  for (let version = 0; version <= NEWEST; version++) before.push(store.snapshot('t', version) ?? expect.fail('no snapshot'))
  store.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true })
  cpSync(join(original, 'tables', 't'), table, { recursive: true })
})

describe('the forms of a checkpoint', () => {
  test('classic, one that keeps the JSON of its own version and older ones', async () => {
    await writeCheckpoint(3, [name(3, 'checkpoint.parquet')])
    removeVersions(0, 1)
    expectReads({ oldestText: 2, oldestSnapshot: 3 })
  })

  // The last one to go may be the checkpoint's own, and the next version may take out a file of the checkpoint.
  test.each([1, 2, 3, 4, 5])('classic, at version %i, with the JSON gone up to any version', async (version) => {
    await writeCheckpoint(version, [name(version, 'checkpoint.parquet')])
    for (let gone = 0; gone <= version; gone++) {
      removeVersions(gone)
      expectReads({ oldestText: gone + 1, oldestSnapshot: version })
      rmSync(join(workspace, 'tables', '_log.db'))
    }
  })

  test('at the newest version', async () => {
    await writeCheckpoint(6, [name(6, 'checkpoint.parquet')])
    removeVersions(0, 1, 2, 3, 4, 5)
    expectReads({ oldestText: 6, oldestSnapshot: 6 })
  })

  test('in parts; a version that lacks one is none', async () => {
    await writeCheckpoint(2, [name(2, 'checkpoint.0000000001.0000000003.parquet'), name(2, 'checkpoint.0000000003.0000000003.parquet')])
    await writeCheckpoint(4, [name(4, 'checkpoint.0000000001.0000000002.parquet'), name(4, 'checkpoint.0000000002.0000000002.parquet')])
    removeVersions(0, 1)
    expectReads({ oldestText: 2, oldestSnapshot: 4 })
  })

  test.each(['json', 'parquet'])('V2 in %s, with sidecars', async (format) => {
    await writeV2(4, format)
    removeVersions(0, 1, 2)
    expectReads({ oldestText: 3, oldestSnapshot: 4 })
  })

  test('statistics that are kept as columns only: the count of rows stays', async () => {
    await writeCheckpoint(3, [name(3, 'checkpoint.parquet')], (action) =>
      'add' in action ? { add: { ...(action['add'] as object), stats: undefined, stats_parsed: { numRecords: 1 } } } : action,
    )
    removeVersions(0)
    expect(baseSnapshot(table, realEffects)?.files.map((file) => file.statistics)).toEqual(Array(3).fill('{"numRecords":1}'))
  })
})

describe('which checkpoint', () => {
  test('the oldest from which the JSON goes on; what _last_checkpoint says does not count', async () => {
    for (const version of [1, 3, 5]) await writeCheckpoint(version, [name(version, 'checkpoint.parquet')])
    removeVersions(0, 1, 2)
    for (const hint of ['{"version":1,"size":3}', '{"version":99,"size":3}', 'no JSON', '']) {
      writeFileSync(join(log, '_last_checkpoint'), hint)
      expectReads({ oldestText: 3, oldestSnapshot: 3 })
      rmSync(join(workspace, 'tables', '_log.db'))
    }
  })

  test('a broken one is passed over for a later one', async () => {
    await writeCheckpoint(3, [name(3, 'checkpoint.parquet')])
    const whole = readFileSync(join(log, name(3, 'checkpoint.parquet')))
    writeFileSync(join(log, name(3, 'checkpoint.parquet')), whole.subarray(0, whole.length - 100))
    await writeV2(4, 'json')
    rmSync(join(log, '_sidecars', 'a sidecar.parquet'))
    await writeCheckpoint(5, [name(5, 'checkpoint.parquet')])
    removeVersions(0, 1, 2)
    expectReads({ oldestText: 3, oldestSnapshot: 5 })
  })

  test('when all are broken, or none is there, the table is damaged', async () => {
    removeVersions(0)
    expect(() => baseSnapshot(table, realEffects)).toThrow(expect.objectContaining({ code: 'table-damaged', condition: 'DELTA_STATE_RECOVER_ERROR' }))
    writeFileSync(join(log, name(3, 'checkpoint.parquet')), 'no Parquet')
    expect(() => baseSnapshot(table, realEffects)).toThrow(/checkpoint.parquet cannot be read/)
    await writeCheckpoint(3, [name(3, 'checkpoint.parquet')], (action) => ('metaData' in action ? {} : action))
    expect(() => baseSnapshot(table, realEffects)).toThrow(/has no metadata and protocol/)
    const store = Store.open(workspace, realEffects)
    expect(() => store.snapshot('t')).toThrow(/has no metadata and protocol/)
    store.close()
  })

  test('a gap is an error unless a checkpoint lies behind it', async () => {
    removeVersions(3)
    expect(() => baseSnapshot(table, realEffects)).toThrow(expect.objectContaining({ condition: 'DELTA_VERSIONS_NOT_CONTIGUOUS' }))
    await writeCheckpoint(2, [name(2, 'checkpoint.parquet')])
    expect(() => baseSnapshot(table, realEffects)).toThrow(expect.objectContaining({ condition: 'DELTA_VERSIONS_NOT_CONTIGUOUS' }))
    await writeCheckpoint(4, [name(4, 'checkpoint.parquet')])
    expectReads({ oldestText: 4, oldestSnapshot: 4 })
  })

  test('none is needed, or read, while version 0 is there', () => {
    writeFileSync(join(log, name(3, 'checkpoint.parquet')), 'no Parquet')
    expect(baseSnapshot(table, realEffects)).toEqual(before[0])
    expectReads({ oldestText: 0, oldestSnapshot: 0 })
  })
})

test('a table whose newest version is there as a checkpoint alone is damaged, and nothing is written over it', async () => {
  await writeCheckpoint(6, [name(6, 'checkpoint.parquet')])
  for (const gone of [[6], [0, 1, 2, 3, 4, 5]]) {
    removeVersions(...gone)
    const left = readdirSync(log)
    const missing = expect.objectContaining({ code: 'table-damaged', message: expect.stringContaining(`${name(6, 'json')} is missing`) })
    const reader = OverlaidLog.open(workspace, realEffects)
    expect(reader.tableNames()).toEqual(['t'])
    expect(reader.errorOf('t')).toEqual(missing)
    reader.close()
    const store = Store.open(workspace, realEffects)
    expect(() => store.snapshot('t')).toThrow(missing)
    await expect(store.append('t', columnsFromRows(schema, [{ n: 0 }]), { kind: 'write' })).rejects.toEqual(missing)
    store.close()
    expect(readdirSync(log)).toEqual(left)
  }
})

test('after it was taken over the table goes on as any other', async () => {
  await writeCheckpoint(3, [name(3, 'checkpoint.parquet')])
  removeVersions(0, 1, 2)
  const store = Store.open(workspace, realEffects)
  const logged = store.log.table('t') ?? expect.fail('no table')
  const key = logged.tableKey
  // The txn of version 2 is known and its text is gone; that of version 3 can be looked up.
  expect(store.log.newestTxn(logged, 'app 0')).toMatchObject({ version: 2 ** 40 + 4 })
  expect([2, 3, 4].map((n) => store.log.versionOfTxn(key, `app ${n % 2}`, 2 ** 40 + n))).toEqual([null, 3, 4])
  const skipped = await store.append('t', columnsFromRows(schema, [{ n: 0 }]), { kind: 'write' }, { txn: { appId: 'app 1', version: 2 ** 40 + 5 } })
  expect(skipped.outcome).toBe('already-committed')
  expect(await store.append('t', columnsFromRows(schema, [{ n: 7 }]), { kind: 'write' })).toMatchObject({ outcome: 'committed', version: 7 })
  expect(store.snapshot('t')?.files).toHaveLength((before[NEWEST]?.files.length ?? 0) + 1)
  store.close()
  const again = Store.open(workspace, realEffects)
  expect(again.newestVersion('t')).toBe(7)
  again.close()
})

test('files that were taken out before are named by the log, and no version has them', async () => {
  await writeCheckpoint(6, [name(6, 'checkpoint.parquet')])
  removeVersions(0, 1, 2, 3, 4, 5)
  const removed = before[1]?.files[0]?.path ?? expect.fail('no file')
  for (const taken of [false, true]) {
    if (taken) Store.open(workspace, realEffects).close()
    const reader = OverlaidLog.open(workspace, realEffects)
    expect(reader.everyPath('t')).toContain(removed)
    expect(reader.snapshot('t')?.files.map(({ path }) => path)).not.toContain(removed)
    expect(reader.removedFiles('t', 6)).toEqual([])
    reader.close()
  }
})

test('a table that was dropped is not taken over from its checkpoint', async () => {
  await writeCheckpoint(3, [name(3, 'checkpoint.parquet')])
  removeVersions(0, 1, 2)
  const aside = join(folder, 'aside')
  cpSync(table, aside, { recursive: true })
  const store = Store.open(workspace, realEffects)
  expect(store.drop('t')).toBe(true)
  cpSync(aside, table, { recursive: true })
  expect(store.newestVersion('t')).toBeNull()
  store.close()
})

/** Looks at the table as it lies there, then takes it over and looks again. */
function expectReads(expected: { readonly oldestText: number; readonly oldestSnapshot: number }): void {
  const reader = OverlaidLog.open(workspace, realEffects)
  expectSame(reader, expected)
  expect(reader.history('t', 100).map(({ version }) => version)).toEqual(versionsDownTo(expected.oldestText))
  reader.close()
  expect(tableHistory(workspace, 't', 100, realEffects)).toHaveLength(NEWEST - expected.oldestText + 1)
  expect(readdirSync(join(workspace, 'tables')).filter((name) => name !== '.uncommitted')).toEqual(['t'])
  for (let life = 0; life < 2; life++) {
    const store = Store.open(workspace, realEffects)
    expectSame(store, expected)
    const texts = store.log.versions(store.log.table('t')?.tableKey ?? -1, 100)
    expect(texts.map(({ version }) => version)).toEqual(versionsDownTo(expected.oldestText))
    for (const { version, text } of texts) expect(text).toBe(readFileSync(join(log, name(version, 'json')), 'utf8'))
    store.close()
  }
  const base = baseSnapshot(table, realEffects)
  expect(base && comparable(base)).toEqual(comparable(before[expected.oldestSnapshot] as Snapshot))
}

function expectSame(reader: Store | OverlaidLog, { oldestText, oldestSnapshot }: { readonly oldestText: number; readonly oldestSnapshot: number }): void {
  expect([reader.oldestVersion('t'), reader.oldestSnapshotVersion('t'), reader.newestVersion('t')]).toEqual([oldestText, oldestSnapshot, NEWEST])
  for (let version = 0; version <= NEWEST; version++) {
    if (version < oldestSnapshot) {
      const refused = expect.objectContaining({
        condition: 'DELTA_VERSION_NOT_FOUND',
        message: expect.stringContaining(`it has ${oldestSnapshot} to ${NEWEST}`),
      })
      expect(() => reader.snapshot('t', version)).toThrow(refused)
    } else {
      expect(comparable(reader.snapshot('t', version) ?? expect.fail('no snapshot'))).toEqual(comparable(before[version] as Snapshot))
    }
  }
  for (let version = oldestText; version <= NEWEST; version++) expect(reader.changes('t', version).commitInfo).toHaveProperty('operation')
}

/** A checkpoint says of no file that it changed data, and has no order. */
function comparable(snapshot: Snapshot) {
  const files = [...snapshot.files]
    .sort((a, b) => (fileKey(a) < fileKey(b) ? -1 : 1))
    .map((file) => ({ ...file, dataChange: false, partitionValues: { ...file.partitionValues } }))
  const txns = [...snapshot.txns.values()]
    .map(({ appId, version, lastUpdatedMs }) => ({ appId, version, lastUpdatedMs }))
    .sort((a, b) => (a.appId < b.appId ? -1 : 1))
  return { ...snapshot, files, txns }
}

function versionsDownTo(oldest: number): number[] {
  return Array.from({ length: NEWEST - oldest + 1 }, (_, i) => NEWEST - i)
}

function name(version: number, rest: string): string {
  return `${String(version).padStart(20, '0')}.${rest}`
}

function removeVersions(...versions: number[]): void {
  for (const version of versions) rmSync(join(log, name(version, 'json')))
}

type Action = Record<string, unknown>

/** The actions that a checkpoint of a version has: its state, and a tombstone for each file that is no longer live. */
function actionsAt(version: number): Action[] {
  const { metadata, protocol, files, txns } = before[version] as Snapshot
  const { id, schemaString, partitionColumns, configuration, createdTimeMs } = metadata
  const live = new Set(files.map(fileKey))
  const gone = new Map(
    before.slice(0, version).flatMap((one) => one.files.filter((file) => !live.has(fileKey(file))).map((file) => [file.path, file] as const)),
  )
  return [
    { protocol },
    { metaData: { id, format: { provider: 'parquet', options: {} }, schemaString, partitionColumns, configuration, createdTime: createdTimeMs } },
    ...[...txns.values()].map((txn) => ({ txn: { appId: txn.appId, version: txn.version, lastUpdated: txn.lastUpdatedMs } })),
    ...files.map((file) => ({
      add: { path: file.path, partitionValues: {}, size: file.size, modificationTime: file.modifiedMs, dataChange: false, stats: file.statistics },
    })),
    ...[...gone.values()].map((file) => ({
      remove: { path: file.path, deletionTimestamp: 1, dataChange: true, extendedFileMetadata: true, partitionValues: {}, size: file.size },
    })),
  ]
}

/** Writes a checkpoint in Parquet, its actions dealt out over the files. */
async function writeCheckpoint(version: number, names: readonly string[], change: (action: Action) => Action = (action) => action): Promise<void> {
  const actions = actionsAt(version).map(change)
  for (const [index, file] of names.entries())
    await writeParquet(
      join(log, file),
      actions.filter((_, i) => i % names.length === index),
    )
}

/** A V2 checkpoint: the files' actions in two sidecars, one of them with a name that has to be encoded. */
async function writeV2(version: number, format: string): Promise<void> {
  const actions = actionsAt(version)
  const ofFiles = actions.filter((action) => 'add' in action || 'remove' in action)
  mkdirSync(join(log, '_sidecars'), { recursive: true })
  await writeParquet(join(log, '_sidecars', 'a sidecar.parquet'), ofFiles.slice(0, 2))
  await writeParquet(join(log, '_sidecars', 'b.parquet'), ofFiles.slice(2))
  const sidecars = ['a%20sidecar.parquet', 'b.parquet'].map((path) => ({ sidecar: { path, sizeInBytes: 1, modificationTime: 1, tags: {} } }))
  const top = [{ checkpointMetadata: { version } }, ...actions.filter((action) => !ofFiles.includes(action)), ...sidecars]
  const path = join(log, name(version, `checkpoint.01234567-89ab-4cde-8f01-23456789abcd.${format}`))
  if (format === 'json') writeFileSync(path, top.map((action) => `${JSON.stringify(action)}\n`).join(''))
  else await writeParquet(path, top)
}

/** DuckDB writes the nested columns, as another engine would. */
async function writeParquet(path: string, actions: readonly Action[]): Promise<void> {
  const lines = join(folder, 'actions.json')
  writeFileSync(lines, actions.map((action) => `${JSON.stringify(action)}\n`).join(''))
  const strings = 'MAP(VARCHAR, VARCHAR)'
  const vector = 'STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, "offset" INT, sizeInBytes INT, cardinality BIGINT)'
  const columns = {
    txn: 'STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)',
    add: `STRUCT(path VARCHAR, partitionValues ${strings}, size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, tags ${strings}, stats VARCHAR, stats_parsed STRUCT(numRecords BIGINT), deletionVector ${vector})`,
    remove: `STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN, partitionValues ${strings}, size BIGINT, deletionVector ${vector})`,
    metaData: `STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options ${strings}), schemaString VARCHAR, partitionColumns VARCHAR[], configuration ${strings}, createdTime BIGINT)`,
    protocol: 'STRUCT(minReaderVersion INT, minWriterVersion INT, readerFeatures VARCHAR[], writerFeatures VARCHAR[])',
    sidecar: `STRUCT(path VARCHAR, sizeInBytes BIGINT, modificationTime BIGINT, tags ${strings})`,
  }
  const typed = Object.entries(columns).map(([column, type]) => `${column}: '${type}'`)
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run(
    `COPY (SELECT * FROM read_json('${lines}', format='newline_delimited', columns={${typed.join(', ')}})) TO '${join(folder, 'checkpoint.parquet')}' (FORMAT parquet)`,
  )
  connection.closeSync()
  copyFileSync(join(folder, 'checkpoint.parquet'), path)
}
