/**
 * A foreachBatch that writes two tables, apart or in one commit, with ids on none, one or both of its writes: killed at every step,
 * started again. Together it is whole or absent whatever happens, and one id guards both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { foreachBatch, type QueryDefinition, query, table } from '../../src/engine/definition.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { ordersSchema } from '../../src/queries/orders-schema.js'
import { newer } from '../../src/store/merge-spec.js'
import { newestOfEach } from '../../src/store/newest-of-each.js'
import { projectColumns } from '../../src/store/columns.js'
import { SqliteLog } from '../../src/store/sqlite-log.js'
import { checkWorkspace } from '../checker.mjs'
import { BRONZE, COPY, ORDERS, SENT } from '../nine-events.js'
import { newStory, type Story, temporaryStories } from './workspace.js'

type Ids = 'none' | 'one' | 'both'
type First = 'append' | 'merge'

const begin = temporaryStories()
let withBronze: Story
beforeAll(async () => {
  withBronze = newStory()
  await withBronze.produce(1, 2, 3, 4)
  await withBronze.run(bronzeOrders)
})
afterAll(() => withBronze.remove())

/** Writes `first`, as an append or a MERGE, and `second`. */
function twoTables(first: First, ids: Ids, isTogether: boolean): QueryDefinition {
  return query(
    'two',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      const pair = { txnAppId: 'two', txnVersion: batch.id }
      const [left, right] = [ids === 'none' ? {} : pair, ids === 'both' ? pair : {}]
      const newest = projectColumns(newestOfEach(batch.columns, ['order_id'], 'event_time', 'partition', 'offset'), ordersSchema)
      const merge = { on: 'order_id', whenMatched: { when: newer('event_time'), act: 'update' }, whenNotMatched: 'insert', ...left } as const
      if (first === 'merge') await batch.createTable('first', ordersSchema)
      const append = { append: 'first', rows: batch.columns, ...left }
      const second = { append: 'second', rows: batch.columns, ...right }
      if (isTogether) {
        await batch.commitTogether([first === 'merge' ? { merge: 'first', rows: newest, ...merge } : append, second])
        return
      }
      await (first === 'merge' ? batch.merge('first', newest, merge) : batch.append('first', batch.columns, left))
      await batch.append('second', batch.columns, right)
    }),
    { table: 'first', alsoWrites: ['second'] },
  )
}

/** Versions with rows of the batch that the log has of each table, at one moment. */
function written(story: Story): number[] {
  const log = SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects)
  try {
    return ['first', 'second'].map((name) => {
      const found = log?.table(name)
      return found ? (log?.versions(found.tableKey, 100) ?? []).filter(({ operation }) => operation !== 'CREATE TABLE').length : 0
    })
  } finally {
    log?.close()
  }
}

async function expectOutcome(story: Story, first: First, times: { readonly first: number; readonly second: number }): Promise<void> {
  expect(await story.rows('first')).toHaveLength(first === 'merge' ? 8 : 9 * times.first)
  expect(await story.rows('second')).toHaveLength(9 * times.second)
  const promises = [
    BRONZE,
    {
      ...(first === 'merge' ? ORDERS : COPY),
      name: 'two',
      table: 'first',
      exactlyOnce: first === 'merge' || times.first === 1,
      alsoWrites: [{ table: 'second', holds: 'every-row' as const, exactlyOnce: times.second === 1 }],
    },
  ]
  expect(await checkWorkspace(story.folder, { topic: 'orders', sent: SENT, queries: promises })).toEqual([])
}

const WRITTEN: readonly Step[] = ['version-linked', 'table-committed']

describe.each(['append', 'merge'] as const)('together, the first by %s', (first) => {
  describe.each(['none', 'one', 'both'] as const)('ids on %s', (ids) => {
    test.each(STEPS)('killed at %s', async (step) => {
      const story = begin(withBronze)
      const definition = twoTables(first, ids, true)
      const { ending } = await story.run(definition, { killAt: step })
      expect(ending).toMatchObject({ kind: 'killed', at: { step } })
      const [left, right] = written(story)
      expect(left).toBe(right)

      expect((await story.run(definition)).ending).toEqual({ kind: 'ended' })

      const times = ids === 'none' && WRITTEN.includes(step) ? 2 : 1
      await expectOutcome(story, first, { first: times, second: times })
    })
  })
})

describe.each(['none', 'one', 'both'] as const)('apart, ids on %s', (ids) => {
  const deaths = STEPS.flatMap((step) => [1, 2].map((occurrence) => ({ step, occurrence }))).filter(
    ({ step, occurrence }) => occurrence === 1 || ['mid-write', 'files-written', ...WRITTEN].includes(step),
  )
  test.each(deaths)('killed at $step, occurrence $occurrence', async (killAt) => {
    const story = begin(withBronze)
    const definition = twoTables('append', ids, false)
    await story.run(definition, { killAt })

    expect((await story.run(definition)).ending).toEqual({ kind: 'ended' })

    const isPast = WRITTEN.includes(killAt.step)
    const hadFirst = killAt.occurrence === 2 || isPast
    const hadSecond = killAt.occurrence === 2 && isPast
    await expectOutcome(story, 'append', { first: hadFirst && ids === 'none' ? 2 : 1, second: hadSecond && ids !== 'both' ? 2 : 1 })
  })
})

test('the steps of a write come once for a commit over two tables, and twice for two', async () => {
  const steps = async (isTogether: boolean) => {
    const { events } = await begin(withBronze).run(twoTables('append', 'both', isTogether))
    return events.flatMap((event) => (event.kind === 'step' ? [event.event.step] : []))
  }
  const write = ['mid-write', 'files-written', 'version-linked', 'table-committed']
  expect(await steps(true)).toEqual(['planned', 'offsets-logged', 'rows-read', ...write, 'batch-committed'])
  expect(await steps(false)).toEqual(['planned', 'offsets-logged', 'rows-read', ...write, ...write, 'batch-committed'])
})

test('what a replay leaves out is told of both tables, with who has the id', async () => {
  const story = begin(withBronze)
  const definition = twoTables('append', 'one', true)
  await story.run(definition, { killAt: 'table-committed' })
  const { events } = await story.run(definition)
  const writes = events.flatMap((event) => (event.kind === 'batch' ? event.writes : []))
  expect(writes).toMatchObject([
    { table: 'first', outcome: 'already-committed', leftOutRows: 0, reason: 'first has txn (two, 0) from attempt 1 of this batch' },
    {
      table: 'second',
      outcome: 'already-committed',
      leftOutRows: 0,
      reason: 'second was written together with first, which has txn (two, 0) from attempt 1 of this batch',
    },
  ])
})

test('a table that was dropped between two runs of a batch gets its part again, and that is said', async () => {
  const story = begin(withBronze)
  const definition = twoTables('append', 'both', true)
  await story.run(definition, { killAt: 'table-committed' })
  await story.store((store) => store.drop('second'))
  const { events } = await story.run(definition)
  expect(events.flatMap((event) => (event.kind === 'note' ? [event.text] : []))).toEqual(['batch 0 was in first already and not in second, which has it now'])
  await expectOutcome(story, 'append', { first: 1, second: 1 })
})

test('a write of commitTogether that names no table, or two, stops the query before anything is written', async () => {
  const story = begin(withBronze)
  for (const names of [{}, { append: 'first', merge: 'second' }, { append: 7 }]) {
    const wrong = query(
      'two',
      table('bronze_orders'),
      foreachBatch(async (batch) => void (await batch.commitTogether([{ append: 'first', rows: batch.columns }, { rows: batch.columns, ...names } as never]))),
    )
    await expect(story.run(wrong)).rejects.toMatchObject({ code: 'usage' })
  }
  expect(written(story)).toEqual([0, 0])
})
