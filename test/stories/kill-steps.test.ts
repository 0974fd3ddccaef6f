/** Every step × every way of writing: killed there, looked at, started again. What must be on disk, and what must come out. */
import { describe, expect, test } from 'vitest'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()

const WAYS = [
  { name: 'native sink', query: bronzeOrders, table: 'bronze_orders', idempotent: true, rows: 9, twice: 9 },
  { name: 'native sink without txn', query: bronzeOrders, table: 'bronze_orders', idempotent: false, rows: 9, twice: 18 },
  { name: 'append', query: eventsCopy, table: 'events_copy', idempotent: false, rows: 9, twice: 18 },
  { name: 'append with txn', query: eventsCopy, table: 'events_copy', idempotent: true, rows: 9, twice: 9 },
  { name: 'MERGE', query: orders, table: 'orders', idempotent: true, rows: 8, twice: 8 },
  { name: 'plain insert', query: orders, table: 'orders', idempotent: false, rows: 8, twice: 16 },
]

/** Where the table has the batch and the checkpoint does not know. */
const WRITTEN: readonly Step[] = ['version-linked', 'table-committed']

describe.each(WAYS)('$name', (way) => {
  test.each(STEPS)('killed at %s', async (step) => {
    const story = begin()
    await story.produce(1, 2, 3, 4)
    if (way.query !== bronzeOrders) await story.run(bronzeOrders)

    const { ending } = await story.run(way.query, { idempotent: way.idempotent, killAt: step })

    expect(ending).toMatchObject({ kind: 'killed', at: { step, batchId: 0, attempt: 1 } })
    expect(story.list('checkpoints', way.query.name, 'offsets')).toEqual(step === 'planned' ? [] : ['0'])
    expect(story.list('checkpoints', way.query.name, 'commits')).toEqual(step === 'batch-committed' ? ['0'] : [])

    const again = await story.run(way.query, { idempotent: way.idempotent })

    expect(again.ending).toEqual({ kind: 'ended' })
    expect(story.list('checkpoints', way.query.name, 'commits')).toEqual(['0'])
    expect(await story.rows(way.table)).toHaveLength(WRITTEN.includes(step) ? way.twice : way.rows)

    const third = await story.run(way.query, { idempotent: way.idempotent })
    expect(third.events.filter((event) => event.kind === 'step')).toEqual([])
    await story.expectSound()
  })
})
