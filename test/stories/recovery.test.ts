/** A kill during recovery, of each way of writing: the first where the table has the batch and nobody has recorded it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { orders } from '../../src/queries/orders.js'
import { type Beginnings, beginnings, expectKilledTwice, WAYS_OF_WRITING } from './kill-in-recovery.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()
let beginning: Beginnings
beforeAll(async () => {
  beginning = await beginnings()
})
afterAll(() => beginning.remove())

describe.each(WAYS_OF_WRITING)('$name', (way) => {
  test.each(STEPS)('killed at version-linked, then at %s', async (second) => {
    await expectKilledTwice(begin(beginning.of(way)), way, 'version-linked', second)
  })
})

test('the ledger says the same of a MERGE, whether its writer recorded it or the one who adopted it', async () => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.run(orders)
  await story.produce(2)
  await story.run(bronzeOrders)

  await story.run(orders, { killAt: 'version-linked' })
  await story.run(orders)

  const rows = await story.store((store) => store.ledger.rowsOfQuery('orders'))
  expect(rows.map(({ batchId, attempt, outcome, rows }) => ({ batchId, attempt, outcome, rows }))).toEqual([
    { batchId: 0, attempt: 1, outcome: 'committed', rows: 3 },
    { batchId: 1, attempt: 1, outcome: 'committed', rows: 2 },
    { batchId: 1, attempt: 2, outcome: 'unchanged', rows: 2 },
  ])
  await story.expectSound()
})
