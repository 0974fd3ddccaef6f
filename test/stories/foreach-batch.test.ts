/** What a foreachBatch function may do with its writes, and what the ledger and the commit make of it. */
import { expect, test } from 'vitest'
import type { Batch, JointWrite, MergeOptions } from '../../src/engine/batch.js'
import { append, foreachBatch, query, table } from '../../src/engine/definition.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import type { Schema } from '../../src/store/schema.js'
import type { Row } from '../../src/store/values.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()

/** A workspace with the nine events in bronze. */
async function withBronze(): Promise<Story> {
  const story = begin()
  await story.produce(1, 2, 3, 4)
  await story.run(bronzeOrders)
  return story
}

test('a write that is not waited for is there before the batch is committed', async () => {
  const story = await withBronze()
  const hasty = query(
    'hasty',
    table('bronze_orders'),
    foreachBatch((batch) => void batch.append('hasty', batch.columns)),
  )

  const { ending } = await story.run(hasty, { killAt: 'mid-write' })

  expect(ending).toMatchObject({ kind: 'killed' })
  expect(story.list('checkpoints', 'hasty', 'commits')).toEqual([])
  await story.run(hasty)
  expect(await story.rows('hasty')).toHaveLength(9)
  await story.expectSound({ hasty: { holds: 'every-row' } })
})

test('a write that is not waited for and fails stops the query, and the batch runs again', async () => {
  const story = await withBronze()
  const hasty = query(
    'hasty',
    table('bronze_orders'),
    foreachBatch((batch) => void batch.merge('not_there', batch.columns, { on: 'order_id', whenNotMatched: 'insert' })),
  )

  await expect(story.run(hasty)).rejects.toMatchObject({ code: 'unknown-table' })
  expect(story.list('checkpoints', 'hasty', 'commits')).toEqual([])
})

test('writes side by side each have their row in the ledger', async () => {
  const story = await withBronze()
  const both = query(
    'both',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      await Promise.all([batch.append('left', batch.columns), batch.append('right', batch.columns)])
    }),
  )

  await story.run(both)

  const rows = await story.store((store) => store.ledger.rowsOfQuery('both'))
  expect(rows.map(({ tableName, writeNumber, rows }) => ({ tableName, writeNumber, rows }))).toEqual([
    { tableName: 'left', writeNumber: 1, rows: 9 },
    { tableName: 'right', writeNumber: 2, rows: 9 },
  ])
})

test('a second write with the same pair in one batch is skipped, as in Delta, and told with the rows that it leaves out', async () => {
  const story = await withBronze()
  const twice = query(
    'twice',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      const pair = { txnAppId: 'twice', txnVersion: batch.id }
      await batch.append('twice', batch.columns, pair)
      await batch.append(
        'twice',
        batch.filter((row) => row['status'] === 'paid'),
        pair,
      )
    }),
  )

  const { events } = await story.run(twice)

  const writes = events.flatMap((event) => (event.kind === 'batch' ? event.writes : []))
  expect(writes).toMatchObject([
    { outcome: 'committed', rowCount: 9 },
    { outcome: 'already-committed', leftOutRows: 1, reason: expect.stringContaining('an earlier write of this batch') },
  ])
  expect(await story.rows('twice')).toHaveLength(9)
})

test('a function that fails after a write that failed, too, is told by its own error', async () => {
  const story = await withBronze()
  const failing = query(
    'failing',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      await batch.append('failing', batch.columns)
      throw new Error('no')
    }),
  )

  await expect(story.run(failing)).rejects.toMatchObject({ code: 'foreach-batch-failed', condition: 'FOREACH_BATCH_USER_FUNCTION_ERROR' })
})

test.each([
  ['promises of rows', (rows: readonly Row[]) => rows.map(async (row) => row), 'row 0 is a promise'],
  ['numbers', () => [5], 'row 0 is 5'],
  ['a null', (rows: readonly Row[]) => [...rows, null], 'row 9 is null'],
  ['lists', () => [[1001, 'C01']], 'row 0 is a list'],
  ['functions', () => [() => ({})], 'row 0 is () => ({})'],
  ['a promise', async (rows: readonly Row[]) => rows, 'is a promise, not rows'],
  ['nothing', () => undefined, 'is of type undefined, not rows'],
  ['a text', () => 'rows', 'is of type string, not rows'],
  ['one row alone', (rows: readonly Row[]) => rows[0], 'is of type object, not rows'],
])('%s are no rows, and none is written', async (_, make, message) => {
  const story = await withBronze()
  const wrong = query(
    'wrong',
    table('bronze_orders'),
    foreachBatch(async (batch) => void (await batch.append('wrong', make(batch.rows) as Row[]))),
  )

  await expect(story.run(wrong)).rejects.toMatchObject({ code: 'bad-value', message: expect.stringContaining(message) })
  expect(story.list('checkpoints', 'wrong', 'commits')).toEqual([])
})

test.each([
  ['an append', (batch: Batch) => batch.append('wrong', batch.columns, { txnAppID: 'a', txnVersion_: 1 } as object), 'no option txnAppID'],
  [
    'a MERGE',
    (batch: Batch) => batch.merge('orders', batch.columns, { on: 'order_id', whenMached: 'update', whenNotMatched: 'insert' } as MergeOptions),
    'no option whenMached',
  ],
  ['a joint commit', (batch: Batch) => batch.commitTogether([{ append: 'wrong', row: batch.columns } as unknown as JointWrite]), 'no option row'],
])('an option that is misspelled is refused in %s: it would be one that is not given', async (_, write, message) => {
  const story = await withBronze()
  const wrong = query(
    'wrong',
    table('bronze_orders'),
    foreachBatch(async (batch) => void (await write(batch))),
  )

  await expect(story.run(wrong)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) })
})

test.each([
  ['where', query('wrong', table('bronze_orders').where((async () => false) as unknown as () => boolean), append('wrong'))],
  [
    'filter',
    query(
      'wrong',
      table('bronze_orders'),
      foreachBatch(async (batch) => void (await batch.append('wrong', batch.filter((async () => false) as unknown as () => boolean)))),
    ),
  ],
])('an async function in %s is refused: its promise would be true for every row', async (_, wrong) => {
  const story = await withBronze()

  await expect(story.run(wrong)).rejects.toMatchObject({ code: 'foreach-batch-failed', message: expect.stringContaining('answered with a promise') })
  expect(story.list('checkpoints', 'wrong', 'commits')).toEqual([])
})

test.each([
  ['of a type by its SQL name', [{ name: 'a', type: 'int', nullable: true }], 'column a of a schema has type int'],
  ['of a kind that there is not', [{ name: 'a', type: { kind: 'array' }, nullable: true }], 'which streamtop does not know'],
  ['of a decimal without digits', [{ name: 'a', type: { kind: 'decimal' }, nullable: true }], 'which streamtop does not know'],
  ['without nullable', [{ name: 'a', type: { kind: 'integer' } }], 'whether it is nullable'],
  ['of no name', [{ type: { kind: 'integer' }, nullable: true }], 'has a name'],
  ['null', [null], 'has a name'],
  [
    'of one name in two cases',
    [
      { name: 'a', type: { kind: 'integer' }, nullable: true },
      { name: 'A', type: { kind: 'integer' }, nullable: true },
    ],
    'two columns are called A',
  ],
  ['that are no list', { a: 'int' }, 'a list of columns'],
])('no table is made with columns %s: nobody could read it', async (_, columns, message) => {
  const story = await withBronze()
  const schema = { columns } as unknown as Schema
  const wrong = { code: 'bad-config', message: expect.stringContaining(message) }
  const creates = foreachBatch((batch) => batch.createTable('made', schema))
  const appends = foreachBatch(async (batch) => void (await batch.append('made', [], { schema, txnAppId: 'made', txnVersion: batch.id })))

  await expect(story.run(query('creates', table('bronze_orders'), creates))).rejects.toMatchObject(wrong)
  await expect(story.run(query('appends', table('bronze_orders'), appends))).rejects.toMatchObject(wrong)
  expect(story.list('tables')).not.toContain('made')
})
