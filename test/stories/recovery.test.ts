/**
 * A kill during recovery: killed at one step, started, killed at another, started again. What must follow is told by a model that
 * knows of each life only where it ended.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { newStory, temporaryStories, type Story } from './workspace.js'

const WAYS = [
  { name: 'native sink', query: bronzeOrders, idempotent: true, rows: 9 },
  { name: 'append', query: eventsCopy, idempotent: false, rows: 9 },
  { name: 'append with txn', query: eventsCopy, idempotent: true, rows: 9 },
  { name: 'MERGE', query: orders, idempotent: true, rows: 8 },
]

const PAIRS = STEPS.flatMap((first) => STEPS.map((second) => [first, second] as const))

const begin = temporaryStories()
let topicOnly: Story
let withBronze: Story
beforeAll(async () => {
  topicOnly = newStory()
  await topicOnly.produce(1, 2, 3, 4)
  withBronze = newStory(topicOnly)
  await withBronze.run(bronzeOrders)
})
afterAll(() => {
  topicOnly.remove()
  withBronze.remove()
})

describe.each(WAYS)('$name', ({ query, idempotent, rows }) => {
  test.each(PAIRS)('killed at %s, then at %s', async (first, second) => {
    const story = begin(query === bronzeOrders ? topicOnly : withBronze)
    let expected: Outcome = { writes: 0, attempts: 0, isDone: false, isKilled: false }

    for (const killAt of [first, second, null]) {
      expected = afterLife(expected, idempotent, killAt)
      const { ending } = await story.run(query, { idempotent, ...(killAt ? { killAt } : {}) })
      expect(ending.kind).toBe(expected.isKilled ? 'killed' : 'ended')
      expect(story.list('checkpoints', query.name, 'commits')).toEqual(expected.isDone ? ['0'] : [])
    }

    expect(expected.isDone).toBe(true)
    expect(await story.rows(query.table)).toHaveLength(expected.writes * rows)
    const ledger = await story.store((store) => store.ledger.rowsOfQuery(query.name))
    expect(ledger.map((row) => row.attempt)).toEqual(Array.from({ length: expected.attempts }, (_, index) => index + 1))
    expect(ledger.filter((row) => row.outcome === 'committed')).toHaveLength(expected.writes)
    await story.expectSound()
  })
})

interface Outcome {
  /** Versions that hold the batch. */
  readonly writes: number
  /** Attempts that the ledger knows. */
  readonly attempts: number
  /** Whether the batch is committed. */
  readonly isDone: boolean
  readonly isKilled: boolean
}

/** The model: what is on disk after one more life, which ends at a step or, with null, when there is no work left. */
function afterLife(before: Outcome, sinkKnowsBatch: boolean, killAt: Step | null): Outcome {
  if (before.isDone) return { ...before, isKilled: false }
  const skips = sinkKnowsBatch && before.writes > 0
  const isReached = (step: Step) => !skips || !['mid-write', 'files-written', 'version-linked'].includes(step)
  const isKilled = killAt !== null && isReached(killAt)
  const reaches = (step: Step) => isReached(step) && (!isKilled || STEPS.indexOf(step) <= STEPS.indexOf(killAt))
  return {
    writes: before.writes + (reaches('version-linked') ? 1 : 0),
    attempts: before.attempts + (reaches('offsets-logged') ? 1 : 0),
    isDone: reaches('batch-committed'),
    isKilled,
  }
}

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
