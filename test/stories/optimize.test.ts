/**
 * `optimize`: small files put together. No row changes for anybody: the rows and their order, a stream in the middle of the table, the
 * counts, the verdict and the ledger are what they were. Whoever writes at the same moment is not lost.
 */
import { copyFileSync, cpSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Effects, realEffects as fx } from '../../src/effects.js'
import { observe } from '../../src/observe/observe.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import type { Columns } from '../../src/store/columns.js'
import type { MergeSpec } from '../../src/store/merge-spec.js'
import type { OnMoment } from '../../src/store/moments.js'
import { RowCounts } from '../../src/store/row-counts.js'
import { hashRows } from '../../src/store/row-hash.js'
import { Store } from '../../src/store/store.js'
import type { Snapshot } from '../../src/store/table-log.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()

/** Bronze in as many files as there are parts. */
async function bronzeOf(...parts: number[]): Promise<Story> {
  const story = begin()
  for (const part of parts) {
    await story.produce(part)
    await story.run(bronzeOrders)
  }
  return story
}

const optimized = (story: Story, table: string, onMoment?: OnMoment) => story.store((store) => store.optimize(table, { onMoment }))

function snapshotOf(store: Store, table: string): Snapshot {
  const snapshot = store.snapshot(table)
  if (snapshot === null) throw new Error(`no table ${table}`)
  return snapshot
}

/** What is to be the same before and after: what `status` says, but for files and versions. */
async function facts(story: Story) {
  const { queries, tables } = await observe(story.folder, BUILT_IN_QUERIES, fx)
  return {
    queries: queries.map(({ name, rows, distinct, missing, verdict, lag, attempts, replays }) => ({
      name,
      rows,
      distinct,
      missing,
      verdict,
      lag,
      attempts,
      replays,
    })),
    tables: tables.map(({ name, rows, distinct, duplicates, error }) => ({ name, rows, distinct, duplicates, error })),
  }
}

test('four files are one, with the same rows in the same order, and the version is what Spark writes', async () => {
  const story = await bronzeOf(1, 2, 3, 4)
  const before = await story.rows('bronze_orders')

  expect(await optimized(story, 'bronze_orders')).toMatchObject({ version: 4, filesRemoved: 4, filesAdded: 1, rows: 9 })

  expect(await story.rows('bronze_orders')).toEqual(before)
  expect(shapesIn(story.folder)).toEqual(shapesIn(sparkWorkspace('source-optimized')))
  expect(await optimized(story, 'bronze_orders')).toMatchObject({ version: null, filesRemoved: 0 })
  await story.expectSound()
})

/** The actions of version 4, without what is of one table, or streamtop's own. */
function shapesIn(folder: string): unknown[] {
  const lines = readFileSync(`${folder}/tables/bronze_orders/_delta_log/00000000000000000004.json`, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { commitInfo, add, remove } = JSON.parse(line)
    if (!commitInfo) return { kind: add ? 'add' : 'remove', keys: Object.keys(add ?? remove), dataChange: (add ?? remove).dataChange }
    const { timestamp, txnId, engineInfo, operationMetrics, textCrc32, ...rest } = commitInfo
    return { ...rest, said: Object.keys(commitInfo).filter((name) => name !== 'textCrc32'), metrics: Object.keys(operationMetrics) }
  })
}

test('nobody sees a row twice: neither streams in the middle, nor the counts, the lag and the verdict', async () => {
  const story = await bronzeOf(1, 2)
  await story.run(eventsCopy, { idempotent: false, killAt: 'table-committed' })
  await story.run(orders)
  await story.produce(3)
  await story.run(bronzeOrders)
  const before = await facts(story)
  expect(before.queries.map(({ lag }) => lag)).toEqual([0, 7, 2])

  for (const table of ['bronze_orders', 'events_copy', 'orders']) await optimized(story, table)

  expect(await facts(story)).toEqual(before)
  await story.run(eventsCopy, { idempotent: false })
  await story.run(orders)
  const after = await facts(story)
  expect(after.queries.map(({ name, rows, missing, verdict, lag }) => ({ name, rows, missing, verdict, lag }))).toEqual([
    { name: 'bronze_orders', rows: 7, missing: 0, verdict: 'exactly-once', lag: 0 },
    // The batch that was killed behind its write is there twice, as it would be anyway.
    { name: 'events_copy', rows: 12, missing: 0, verdict: 'duplicated', lag: 0 },
    { name: 'orders', rows: 6, missing: 0, verdict: 'exactly-once', lag: 0 },
  ])
  await story.expectSound()
})

test('the counts of the new file are kept without a look into it', async () => {
  const story = await bronzeOf(1, 2)
  await optimized(story, 'bronze_orders')
  await story.store(async (store) => {
    const { schema, files } = snapshotOf(store, 'bronze_orders')
    expect(files).toHaveLength(1)
    const kept = RowCounts.openForReading(store.tablesFolder, fx)
    expect(kept?.find('bronze_orders', files[0]?.path ?? '')).toEqual(hashRows(await store.read('bronze_orders', schema, files)))
    kept?.close()
  })
})

/** The rows of the oldest file. */
async function oldestRows(store: Store): Promise<Columns> {
  const { schema, files } = snapshotOf(store, 'bronze_orders')
  return store.read('bronze_orders', schema, files.slice(0, 1))
}

test.each(['files-written', 'version-linked'])('an append at %s is committed, and so is what was put together', async (at) => {
  const story = await bronzeOf(1, 2)
  const append: OnMoment = async (moment) => {
    if (moment === at) await story.store(async (store) => store.append('bronze_orders', await oldestRows(store), { kind: 'write' }))
  }
  expect(await optimized(story, 'bronze_orders', append)).toMatchObject({ filesRemoved: 2, filesAdded: 1 })
  const files = await story.store((store) => snapshotOf(store, 'bronze_orders').files.length)
  expect({ files, rows: (await story.rows('bronze_orders')).length }).toEqual(at === 'files-written' ? { files: 2, rows: 8 } : { files: 2, rows: 10 })
})

const UPSERT: MergeSpec = { on: ['partition', 'offset'], whenMatched: 'update', whenNotMatched: 'insert' }

/** Optimizes while somebody merges into the same files before each of the first writes of a file. */
async function optimizedBesideMerges(story: Story, merges: number): Promise<unknown> {
  let left = merges
  const racing: Effects = {
    ...fx,
    files: {
      ...fx.files,
      async writeInHalves(...given) {
        if (left-- > 0) await story.store(async (store) => store.merge('bronze_orders', await oldestRows(store), UPSERT))
        await fx.files.writeInHalves(...given)
      },
    },
  }
  const store = Store.open(story.folder, racing)
  try {
    return await store.optimize('bronze_orders')
  } finally {
    store.close()
  }
}

test('files that a MERGE has rewritten meanwhile are put together anew; after four times it is refused by name', async () => {
  const story = await bronzeOf(1, 2, 3)
  expect(await optimizedBesideMerges(story, 2)).toMatchObject({ filesRemoved: 3, filesAdded: 1, rows: 7 })
  expect(await story.rows('bronze_orders')).toHaveLength(7)
  await story.produce(4)
  await story.run(bronzeOrders)
  await expect(optimizedBesideMerges(story, 9)).rejects.toMatchObject({ code: 'conflict', condition: 'DELTA_CONCURRENT_DELETE_READ' })
  expect(await story.rows('bronze_orders')).toHaveLength(9)
})

test('a MERGE whose files were put together meanwhile is computed again', async () => {
  const story = await bronzeOf(1, 2)
  await story.store(async (store) => {
    let isFirst = true
    const onMoment: OnMoment = async (moment) => {
      if (moment !== 'files-written' || !isFirst) return
      isFirst = false
      await optimized(story, 'bronze_orders')
    }
    expect(await store.merge('bronze_orders', await oldestRows(store), UPSERT, { onMoment })).toMatchObject({ outcome: 'committed', version: 3 })
  })
  expect(await story.rows('bronze_orders')).toHaveLength(5)
})

test.each(['deletion-vector', 'partitioned'])("Spark's table, %s: the same rows, each in its partition, none that was deleted", async (name) => {
  const story = begin()
  cpSync(sparkWorkspace(name), story.folder, { recursive: true })
  if (name === 'partitioned') writeFilesAgain(story.path('tables', 'bronze_orders'))
  const sorted = async () => (await story.rows('bronze_orders')).map((row) => Object.values(row).join(' ')).sort()
  const before = await sorted()
  const filesBefore = await story.store((store) => snapshotOf(store, 'bronze_orders').files)

  await optimized(story, 'bronze_orders')

  expect(await sorted()).toEqual(before)
  const files = await story.store((store) => snapshotOf(store, 'bronze_orders').files)
  expect(files.map(({ deletionVector }) => deletionVector)).toEqual(files.map(() => null))
  const partitionsOf = (all: typeof files) =>
    new Set(all.map(({ path, partitionValues }) => `${path.split('/').slice(0, -1)} ${JSON.stringify(partitionValues)}`))
  expect(files).toHaveLength(name === 'partitioned' ? 4 : 1)
  expect(partitionsOf(files)).toEqual(partitionsOf(filesBefore))
})

/** A second file with the same rows in each partition, as a version of Spark's would add it. */
function writeFilesAgain(table: string): void {
  const log = (version: number) => `${table}/_delta_log/${String(version).padStart(20, '0')}.json`
  const adds = readFileSync(log(0), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"add"'))
  for (const line of adds) {
    const path = decodeURIComponent(JSON.parse(line).add.path)
    copyFileSync(`${table}/${path}`, `${table}/${path.replace('part-00000', 'part-00001')}`)
  }
  writeFileSync(log(1), ['{"commitInfo":{"operation":"WRITE"}}', ...adds.map((line) => line.replace('part-00000', 'part-00001')), ''].join('\n'))
}

test('nothing is written behind a link, whatever a table names', async () => {
  const story = begin()
  cpSync(sparkWorkspace('partitioned'), story.folder, { recursive: true })
  const [table, outside] = [story.path('tables', 'bronze_orders'), story.path('outside')]
  writeFilesAgain(table)
  renameSync(`${table}/status=paid`, outside)
  symlinkSync(outside, `${table}/status=paid`)
  const before = [story.list('outside'), (await story.rows('bronze_orders')).length]
  await optimized(story, 'bronze_orders')
  expect([story.list('outside'), (await story.rows('bronze_orders')).length]).toEqual(before)
})

test('a table that streamtop may not write is refused by the name of the feature', async () => {
  const story = begin()
  cpSync(sparkWorkspace('column-mapping'), story.folder, { recursive: true })
  await expect(optimized(story, 'bronze_orders')).rejects.toMatchObject({ code: 'unsupported-feature', message: expect.stringContaining('columnMapping') })
})
