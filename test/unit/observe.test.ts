import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase, openDatabaseImage } from '../../src/database.js'
import { openDatabaseToRead } from '../../src/database-to-read.js'
import { realEffects as fx } from '../../src/effects.js'
import { replayNewestBatch, resetQuery } from '../../src/engine/reset.js'
import { countTable } from '../../src/observe/counts.js'
import { FileRows } from '../../src/observe/file-rows.js'
import { Observer, observe } from '../../src/observe/observe.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { readTableRows } from '../../src/observe/read-table.js'
import type { Status } from '../../src/observe/status.js'
import { TableCounter } from '../../src/observe/table-counter.js'
import { viewOf } from '../../src/observe/table-view.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { rowsOf } from '../../src/store/values.js'
import { defineSchema } from '../../src/store/schema.js'
import { databaseImage } from '../../src/wal-image.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()
/** A world in which all that lies on disk was written long ago. */
const later = { ...fx, nowMs: () => fx.nowMs() + 60_000 }
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-observe-'))
  folders.push(folder)
  return folder
}

/** Every entry below a folder with its size and its times, and what is in the files. */
function traceOf(folder: string): unknown {
  if (!existsSync(folder)) return null
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(folder, name)
      const { size, mtimeMs, ino } = lstatSync(path)
      // `-shm` is the memory in which SQLite's readers and writers note their locks.
      return [name, size, name.endsWith('-shm') ? 0 : mtimeMs, ino, lstatSync(path).isFile() ? readFileSync(path, 'latin1') : null]
    })
}

/** A copy of what Spark left. */
function copyOf(name: string): string {
  const folder = temporaryFolder()
  cpSync(sparkWorkspace(name), folder, { recursive: true })
  return folder
}

async function nineOrders(): Promise<Story> {
  const story = newStory()
  await story.produce(1, 2, 3, 4)
  await story.run(bronzeOrders)
  await story.run(eventsCopy, { killAt: 'table-committed' })
  await story.run(orders)
  await story.expectSound()
  return story
}

describe('observing', () => {
  it('a folder that is not there, or is empty, shows the queries that could run', async () => {
    const folder = temporaryFolder()
    for (const workspace of [folder, join(folder, 'not-there')]) {
      const status = await observe(workspace, BUILT_IN_QUERIES, fx)
      expect(status).toMatchObject({ format: 1, workspace, topics: [], tables: [], errors: [] })
      expect(status.queries.map(({ name, state, verdict, rows, attempts }) => [name, state, verdict, rows, attempts])).toEqual([
        ['bronze_orders', 'idle', 'empty', 0, null],
        ['events_copy', 'idle', 'empty', 0, null],
        ['orders', 'idle', 'empty', 0, null],
      ])
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes nothing, neither in our workspaces nor in those of others', async () => {
    const story = await nineOrders()
    const before = traceOf(story.folder)
    await observe(story.folder, BUILT_IN_QUERIES, fx)
    await countTable(story.folder, 'events_copy', fx)
    await readTableRows(story.folder, 'orders', {}, fx)
    expect(traceOf(story.folder)).toEqual(before)

    const foreign = copyOf('third-batch-pending')
    const beforeForeign = traceOf(foreign)
    await observe(foreign, BUILT_IN_QUERIES, fx)
    expect(traceOf(foreign)).toEqual(beforeForeign)
  })

  it('works beside a writer that has the log open, and sees what it has committed', async () => {
    const story = await nineOrders()
    await story.store(async (store) => {
      expect(existsSync(story.path('tables', '_log.db-wal'))).toBe(true)
      expect(await countTable(story.folder, 'events_copy', fx)).toEqual({ rows: 9, distinct: 9, version: 0 })
      const snapshot = store.snapshot('events_copy')
      if (!snapshot) throw new Error('no table')
      await store.append('events_copy', await store.read('events_copy', snapshot.schema, snapshot.files), { kind: 'write' })
      expect(await countTable(story.folder, 'events_copy', fx)).toEqual({ rows: 18, distinct: 9, version: 1 })
    })
  })

  it('sees what a writer that was killed left in the WAL, without a trace', async () => {
    const story = await nineOrders()
    const copy = temporaryFolder()
    await story.store(async (store) => {
      const snapshot = store.snapshot('events_copy')
      if (!snapshot) throw new Error('no table')
      await store.append('events_copy', await store.read('events_copy', snapshot.schema, snapshot.files), { kind: 'write' })
      // A copy without -shm, as a backup has it, while the last commit is in the WAL only.
      cpSync(story.folder, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    })
    const before = traceOf(copy)
    const status = await observe(copy, BUILT_IN_QUERIES, fx)
    expect(status.tables.find(({ name }) => name === 'events_copy')).toMatchObject({ rows: 18, distinct: 9, version: 1 })
    expect(traceOf(copy)).toEqual(before)
  })

  it('without _log.db gives the same tables, counts and verdicts; what only the ledger knew is unknown', async () => {
    const story = await nineOrders()
    const known = await observe(story.folder, BUILT_IN_QUERIES, fx)
    for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
    const withoutLog = await observe(story.folder, BUILT_IN_QUERIES, fx)
    const judged = ({ queries }: Status) =>
      queries.map(({ name, rows, distinct, missing, verdict, step }) => ({ name, rows, distinct, missing, verdict, step }))
    expect(withoutLog.tables).toEqual(known.tables)
    expect(judged(withoutLog)).toEqual(judged(known))
    for (const query of withoutLog.queries) expect([query.attempts, query.replays, query.skips]).toEqual([null, null, null])

    // A writer builds the log again; the attempts before stay unknown.
    await story.store(() => undefined)
    const rebuilt = await observe(story.folder, BUILT_IN_QUERIES, fx)
    expect(rebuilt.tables).toEqual(known.tables)
    expect(rebuilt.queries[1]).toMatchObject({ attempts: null, replays: null, skips: null, rows: 9, step: 'table-committed' })
  })

  it('a damaged _log.db is told, and the tables are shown all the same', async () => {
    const story = await nineOrders()
    for (const suffix of ['-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
    writeFileSync(story.path('tables', '_log.db'), 'this is no database, whatever its name says'.repeat(100))
    const status = await observe(story.folder, BUILT_IN_QUERIES, fx)
    expect(status.errors).toMatchObject([{ code: 'table-damaged' }])
    expect(status.tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['bronze_orders', 9],
      ['events_copy', 9],
      ['orders', 8],
    ])
  })

  it('a table with a lost data file is shown with its error, the others with their counts', async () => {
    const story = await nineOrders()
    rmSync(story.path('tables', '_counts.db'))
    const [file = ''] = story.list('tables', 'events_copy').filter((name) => name.endsWith('.parquet'))
    rmSync(story.path('tables', 'events_copy', file))
    const status = await observe(story.folder, BUILT_IN_QUERIES, fx)
    expect(status.tables[0]).toMatchObject({ name: 'bronze_orders', rows: 9, error: null })
    expect(status.tables[1]).toMatchObject({ name: 'events_copy', version: 0, rows: null, error: { code: 'table-damaged' } })
    expect(status.queries[1]).toMatchObject({ rows: null, missing: null, verdict: null })
    expect(status.queries[2]).toMatchObject({ rows: 8, verdict: 'exactly-once' })
  })

  it('a version that is linked and not in the log is seen, and its files are no orphans; a half file is one', async () => {
    const story = newStory()
    await story.produce(1)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { killAt: 'mid-write' })
    await story.run(eventsCopy, { killAt: 'version-linked' })
    const log = OverlaidLog.open(story.folder, fx)
    expect(log.overlaid('events_copy').map(({ version }) => version)).toEqual([0])
    log.close()
    const status = await observe(story.folder, BUILT_IN_QUERIES, fx)
    expect(status.tables[1]).toMatchObject({ name: 'events_copy', version: 0, rows: 3, files: 1, orphans: 1 })
    expect(status.queries[1]).toMatchObject({
      step: 'version-linked',
      verdict: 'exactly-once',
      inFlight: true,
      attempts: 2,
      batchId: 0,
      offsets: [0],
      commits: [],
    })
    await story.expectSound()
  })

  it('dropped tables are gone, and one whose drop was begun is not shown', async () => {
    const story = await nineOrders()
    await story.store((store) => {
      store.drop('orders')
      const table = store.log.table('events_copy')
      if (table) store.log.markDropping(table)
      return Promise.resolve()
    })
    // The folder of the second is still there.
    expect(story.list('tables')).toContain('events_copy')
    expect((await observe(story.folder, BUILT_IN_QUERIES, fx)).tables.map(({ name }) => name)).toEqual(['bronze_orders'])
  })

  it('looked at again and again says the same as looked at once', async () => {
    const story = newStory()
    // Everything that was written is long ago for one of them, so that it goes by what it remembers wherever it may.
    const observers = [new Observer(story.folder, BUILT_IN_QUERIES, fx), new Observer(story.folder, BUILT_IN_QUERIES, later)]
    const checkpoint = story.path('checkpoints', 'events_copy')
    const kept = temporaryFolder()
    const steps: (() => unknown)[] = [
      () => story.produce(1),
      () => story.run(bronzeOrders),
      () => story.run(eventsCopy, { killAt: 'table-committed' }),
      () => story.run(eventsCopy),
      () => story.run(orders),
      () => story.produce(2),
      () => story.run(bronzeOrders),
      () => story.run(orders, { killAt: 'table-committed' }),
      () => story.run(orders, { killAt: 'version-linked' }),
      () => story.store((store) => store.drop('events_copy')),
      () => story.run(eventsCopy),
      () => replayNewestBatch(story.folder, 'events_copy', fx),
      () => story.run(eventsCopy, { idempotent: true, killAt: 'version-linked' }),
      () => story.run(eventsCopy, { idempotent: true }),
      () => cpSync(checkpoint, kept, { recursive: true }),
      ...[3, 4, 1, 2].flatMap((part) => [() => story.produce(part), () => story.run(bronzeOrders), () => story.run(eventsCopy, { idempotent: true })]),
      // An older copy of the checkpoint: batches run again that are not the newest.
      () => rmSync(checkpoint, { recursive: true }),
      () => cpSync(kept, checkpoint, { recursive: true }),
      () => story.run(eventsCopy, { idempotent: true, sourceOptions: ['maxFilesPerTrigger=1'] }),
      () => resetQuery(story.folder, 'events_copy', fx),
      () => story.run(eventsCopy, { idempotent: true }),
      () => story.run(orders, { idempotent: false }),
      // The log is built again: what only the ledger knew is gone.
      () => ['', '-wal', '-shm'].map((suffix) => rmSync(story.path('tables', `_log.db${suffix}`), { force: true })),
      () => story.run(eventsCopy, { idempotent: true }),
      () => resetQuery(story.folder, 'bronze_orders', fx),
      () => story.run(bronzeOrders),
      () => story.run(orders),
    ]
    for (const [place, step] of steps.entries()) {
      await step()
      const now = await observe(story.folder, BUILT_IN_QUERIES, fx)
      for (const observer of observers) expect(await observer.observe(), `step ${place}`).toEqual(now)
      for (const observer of observers) expect(await observer.observe(), `step ${place}, again`).toEqual(now)
    }
  })

  it('gives the same status again when nothing has moved, and another when a file was changed in place', async () => {
    const story = await nineOrders()
    const observer = new Observer(story.folder, BUILT_IN_QUERIES, later)
    await observer.observe()
    const before = await observer.observe()
    expect(await observer.observe()).toBe(before)
    const closer = observer.closer('events_copy', 'events_copy', 5)
    expect(observer.closer('events_copy', 'events_copy', 5)).toBe(closer)
    expect(closer).toMatchObject({ batches: [{ batchId: 0, isCommitted: false, rows: 9 }], versions: [{ version: 0, batchId: 0 }] })

    writeFileSync(story.path('checkpoints', 'events_copy', 'offsets', '0'), 'v1\n')
    const after = await observer.observe()
    expect(after.queries[1]).toMatchObject({ lastError: { code: 'checkpoint-damaged' } })
    expect(after).toEqual(await observe(story.folder, BUILT_IN_QUERIES, fx))
  })

  it('does not go by the times of files that were written a moment ago', async () => {
    const story = await nineOrders()
    const observer = new Observer(story.folder, BUILT_IN_QUERIES, { ...fx, nowMs: () => 0 })
    const before = await observer.observe()
    const again = await observer.observe()
    expect(again).toEqual(before)
    expect(again).not.toBe(before)
  })

  it('counts no longer than it may, and the next look goes on', async () => {
    const story = newStory()
    for (const part of [1, 2, 3, 4]) {
      await story.produce(part)
      await story.run(bronzeOrders)
      await story.run(eventsCopy)
      await story.run(orders)
    }
    const whole = await observe(story.folder, BUILT_IN_QUERIES, fx)
    // Each file that is read takes longer than a look may count.
    let ms = 0
    const slow = { ...fx, monotonicMs: () => (ms += 10) }
    const observer = new Observer(story.folder, BUILT_IN_QUERIES, slow, { patienceMs: 5 })
    const looks = []
    do looks.push(await observer.observe())
    while (looks.length < 50 && !observer.isComplete)
    expect(looks.at(-1)).toEqual(whole)
    expect(looks.length).toBeGreaterThan(8)
    expect(looks[0]?.tables[0]).toMatchObject({ name: 'bronze_orders', version: 3, rows: null, countsVersion: null, error: null })

    // What is counted stays in sight, with its version, until the new rows are counted.
    await story.store(async (store) => {
      const snapshot = store.snapshot('bronze_orders')
      if (!snapshot) throw new Error('no table')
      const rows = await store.read('bronze_orders', snapshot.schema, snapshot.files)
      for (let times = 0; times < 3; times++) await store.append('bronze_orders', rows, { kind: 'write' })
    })
    expect((await observer.observe()).tables[0]).toMatchObject({ version: 6, rows: 9, countsVersion: 3 })
  })
})

describe('what Spark left on disk', () => {
  it('a batch that was appended twice is judged by the data', async () => {
    const { queries } = await observe(copyOf('plain-append-twice'), BUILT_IN_QUERIES, fx)
    expect(queries[1]).toMatchObject({ rows: 18, distinct: 9, missing: 0, verdict: 'duplicated', attempts: null, step: 'batch-committed' })
  })

  it('a batch that was written and not committed is in flight', async () => {
    const { queries } = await observe(copyOf('tagged-append-crashed'), BUILT_IN_QUERIES, fx)
    expect(queries[1]).toMatchObject({ rows: 9, verdict: 'exactly-once', inFlight: true, state: 'killed', step: 'table-committed', newestTxn: { version: 0 } })
  })
})

describe('counting', () => {
  const schema = defineSchema({ id: 'int', text: 'string' })

  it('is kept up through appends, changed rows and a drop, and is what counting anew says', async () => {
    const story = newStory()
    const counter = new TableCounter()
    const fileRows = new FileRows(story.path('tables'), fx)
    const count = async () => {
      const log = OverlaidLog.open(story.folder, fx)
      const view = viewOf(log, 't')
      log.close()
      const counted = view && (await counter.count(view, fileRows))
      fileRows.close()
      expect(counted).toEqual(await countTable(story.folder, 't', fx))
      return counted && [counted.rows, counted.distinct]
    }
    expect(await count()).toBeNull()
    await story.store(async (store) => {
      const rows = (...ids: number[]) =>
        columnsFromRows(
          schema,
          ids.map((id) => ({ id, text: id % 2 === 0 ? null : `row ${id}` })),
        )
      await store.append('t', rows(1, 2, 2, 3), { kind: 'write' })
      expect(await count()).toEqual([4, 3])
      await store.append('t', rows(3, 4), { kind: 'write' })
      expect(await count()).toEqual([6, 4])
      store.tidyUp()
      await store.merge('t', columnsFromRows(schema, [{ id: 4, text: 'four' }]), { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' })
      expect(await count()).toEqual([6, 4])
      await store.merge('t', columnsFromRows(schema, [{ id: 5, text: 'five' }]), { on: 'id', whenNotMatched: 'insert' })
      expect(await count()).toEqual([7, 5])
      store.drop('t')
      await store.append('t', rows(1, 1), { kind: 'write' })
      expect(await count()).toEqual([2, 1])
    })
  })

  it('does not need _counts.db', async () => {
    const story = await nineOrders()
    const withCache = await countTable(story.folder, 'bronze_orders', fx)
    rmSync(story.path('tables', '_counts.db'))
    expect(await countTable(story.folder, 'bronze_orders', fx)).toEqual(withCache)
    expect(story.list('tables')).not.toContain('_counts.db')
  })

  it('reads no more files than are needed for some rows', async () => {
    const story = newStory()
    await story.store(async (store) => {
      for (let id = 0; id < 3; id++) await store.append('t', columnsFromRows(schema, [{ id }, { id }]), { kind: 'write' })
      const [first] = store.snapshot('t')?.files ?? []
      for (const { path } of store.snapshot('t')?.files ?? []) if (path !== first?.path) rmSync(story.path('tables', 't', path))
    })
    const found = await readTableRows(story.folder, 't', { enough: 2 }, fx)
    expect([...rowsOf(found?.columns ?? columnsFromRows(schema, []))]).toEqual([
      { id: 0, text: null },
      { id: 0, text: null },
    ])
    await expect(readTableRows(story.folder, 't', { enough: 3 }, fx)).rejects.toMatchObject({ code: 'table-damaged' })
  })
})

describe('a database and its WAL as one image', () => {
  it('is what SQLite sees, whatever was written, moved and left open', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('insert' as const), bytes: fc.integer({ min: 1, max: 6000 }) }),
      fc.record({ kind: fc.constant('delete' as const), below: fc.integer({ min: 0, max: 40 }) }),
      fc.constant({ kind: 'checkpoint' as const }),
      fc.constant({ kind: 'rollback' as const }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const path = join(temporaryFolder(), 'a.db')
        const database = openDatabase(path)
        database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB)')
        for (const one of steps) {
          if (one.kind === 'insert') database.prepare('INSERT INTO t (bytes) VALUES (zeroblob(?))').run(one.bytes)
          else if (one.kind === 'delete') database.prepare('DELETE FROM t WHERE id < ?').run(one.below)
          else if (one.kind === 'checkpoint') database.pragma('wal_checkpoint(RESTART)')
          else database.exec('BEGIN; DELETE FROM t; ROLLBACK')
        }
        const rows = 'SELECT id, length(bytes) AS length FROM t ORDER BY id'
        const wal = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : null
        const image = openDatabaseImage(databaseImage(readFileSync(path), wal))
        expect(image.prepare(rows).all()).toEqual(database.prepare(rows).all())
        expect(image.pragma('integrity_check', { simple: true })).toBe('ok')
        image.close()
        database.close()
      }),
      { numRuns: 40 },
    )
  })

  it('of a WAL that ends in the middle of a commit has what was committed before', () => {
    const path = join(temporaryFolder(), 'a.db')
    const database = openDatabase(path)
    database.exec('CREATE TABLE t (id INTEGER)')
    database.exec('INSERT INTO t VALUES (1)')
    const whole = readFileSync(`${path}-wal`).length
    database.exec('INSERT INTO t VALUES (2)')
    const wal = readFileSync(`${path}-wal`)
    for (const end of [whole, whole + 1, wal.length - 1]) {
      const image = openDatabaseImage(databaseImage(readFileSync(path), wal.subarray(0, end)))
      expect(image.prepare('SELECT id FROM t').pluck().all()).toEqual([1])
      image.close()
    }
    const flipped = Buffer.from(wal)
    flipped[wal.length - 100] = (flipped[wal.length - 100] ?? 0) ^ 1
    const image = openDatabaseImage(databaseImage(readFileSync(path), flipped))
    expect(image.prepare('SELECT id FROM t').pluck().all()).toEqual([1])
    image.close()
    database.close()
  })

  it('leaves no file behind when a database that nobody has open is read', () => {
    const folder = temporaryFolder()
    const database = openDatabase(join(folder, 'a.db'))
    database.exec('CREATE TABLE t (id INTEGER)')
    database.close()
    const reader = openDatabaseToRead(join(folder, 'a.db'), fx)
    expect(reader?.prepare('SELECT count(*) FROM t').pluck().get()).toBe(0)
    reader?.close()
    expect(readdirSync(folder)).toEqual(['a.db'])
    expect(openDatabaseToRead(join(folder, 'none.db'), fx)).toBeNull()
  })
})
