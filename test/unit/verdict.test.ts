import { beforeAll, describe, expect, it } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { append, foreachBatch, query, table } from '../../src/engine/definition.js'
import { resetQuery } from '../../src/engine/reset.js'
import { observe } from '../../src/observe/observe.js'
import type { QueryStatus } from '../../src/observe/status.js'
import { judge, type VerdictFacts } from '../../src/observe/verdict.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { newStory as makeStory, type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()

/** Three orders in the topic and in bronze. */
let three: Story
beforeAll(async () => {
  three = makeStory()
  await three.produce(1)
  await three.run(bronzeOrders)
  return () => three.remove()
})

async function look(story: Story, name: string, queries = BUILT_IN_QUERIES): Promise<QueryStatus> {
  const status = await observe(story.folder, queries, fx)
  const found = status.queries.find((one) => one.name === name)
  if (!found) throw new Error(`no query ${name}`)
  return found
}

interface Attempt {
  readonly idempotent: boolean
  readonly dies: 'before' | 'after' | 'never'
}

/** Every list of one or two attempts of which all but the last die. */
function everyLife(): Attempt[][] {
  const attempts = (dies: readonly Attempt['dies'][]) => [true, false].flatMap((idempotent) => dies.map((end) => ({ idempotent, dies: end })))
  const last = attempts(['before', 'after', 'never'])
  return [...last.map((one) => [one]), ...attempts(['before', 'after']).flatMap((first) => last.map((second) => [first, second]))]
}

describe('a batch that is appended', () => {
  it.each(everyLife().map((life) => [life.map(({ idempotent, dies }) => `${idempotent ? 'on' : 'off'} ${dies}`).join(', '), life] as const))(
    '%s',
    async (_, life) => {
      const story = newStory(three)
      let [written, remembered] = [0, false]
      for (const { idempotent, dies } of life) {
        await story.run(eventsCopy, { idempotent, ...(dies === 'never' ? {} : { killAt: dies === 'before' ? 'rows-read' : 'table-committed' }) })
        if (dies === 'before' || (idempotent && remembered)) continue
        written++
        remembered ||= idempotent
      }
      const isPending = life.at(-1)?.dies !== 'never'
      expect(await look(story, 'events_copy')).toMatchObject({
        rows: 3 * written,
        distinct: written === 0 ? 0 : 3,
        missing: 0,
        verdict: written === 0 ? 'empty' : written === 1 ? 'exactly-once' : 'duplicated',
        writtenTwice: 3 * Math.max(0, written - 1),
        inFlight: isPending,
        state: isPending ? 'killed' : 'idle',
        attempts: life.length,
        replays: life.length - 1,
      })
      await story.expectSound()
    },
  )
})

describe('another query id', () => {
  it('with the same app id is skipped: rows are missing, and the reason says whose the number was', async () => {
    const story = newStory(three)
    await story.run(eventsCopy, { idempotent: true })
    const first = await look(story, 'events_copy')
    await story.produce(2)
    await story.run(bronzeOrders)
    await resetQuery(story.folder, 'events_copy', fx)
    await story.run(eventsCopy, { idempotent: true })
    const trapped = await look(story, 'events_copy')
    expect(trapped).toMatchObject({ rows: 3, distinct: 3, missing: 2, verdict: 'missing', alsoDuplicated: false, skips: 1, lag: 0 })
    expect(trapped.reasons.join('\n')).toContain(`batch 0 was skipped and its 5 rows left out: events_copy has txn (events_copy, 0)`)
    expect(trapped.reasons.join('\n')).toContain(first.id)

    await resetQuery(story.folder, 'events_copy', fx)
    await story.run(eventsCopy, { idempotent: true, appId: 'copy2' })
    const twice = await look(story, 'events_copy')
    expect(twice).toMatchObject({ rows: 8, distinct: 5, duplicates: 3, missing: 0, verdict: 'duplicated', writtenTwice: 3, appId: 'copy2' })
    const told = twice.reasons.join('\n')
    expect(told).toContain('3 rows of events_copy are there more often than in the source')
    expect(told).toContain(`query id ${first.id} wrote 3 rows`)
    expect(told).toContain(`query id ${twice.id} (the checkpoint that is there now) wrote 5 rows`)
  })

  it('through the native sink writes everything twice', async () => {
    const story = newStory(three)
    await resetQuery(story.folder, 'bronze_orders', fx)
    await story.run(bronzeOrders)
    expect(await look(story, 'bronze_orders')).toMatchObject({ rows: 6, distinct: 3, missing: 0, verdict: 'duplicated', writtenTwice: 3 })
  })

  it('by MERGE changes nothing', async () => {
    const story = newStory(three)
    await story.run(orders)
    await resetQuery(story.folder, 'orders', fx)
    await story.run(orders)
    expect(await look(story, 'orders')).toMatchObject({ rows: 3, distinct: 3, missing: 0, verdict: 'exactly-once', mode: 'MERGE' })
  })

  it('by a plain insert writes again what a MERGE wrote before', async () => {
    const story = newStory(three)
    await story.run(orders)
    await resetQuery(story.folder, 'orders', fx)
    await story.run(orders, { killAt: 'table-committed' })
    await story.run(orders, { idempotent: false })
    expect(await look(story, 'orders')).toMatchObject({ rows: 6, distinct: 3, missing: 0, verdict: 'duplicated', writtenTwice: 3 })
  })

  it('that has not run yet judges nothing that the one before wrote', async () => {
    const story = newStory(three)
    await story.run(eventsCopy)
    await resetQuery(story.folder, 'events_copy', fx)
    expect(await look(story, 'events_copy')).toMatchObject({ id: null, batchId: null, rows: 3, missing: 0, verdict: 'exactly-once', state: 'idle', lag: 3 })
  })
})

describe('what the verdict is not', () => {
  it('duplicates of the source are not the duplicates of who copied them', async () => {
    const story = newStory(three)
    await resetQuery(story.folder, 'bronze_orders', fx)
    await story.run(bronzeOrders)
    await story.run(eventsCopy)
    expect(await look(story, 'events_copy')).toMatchObject({ rows: 6, distinct: 3, duplicates: 3, missing: 0, verdict: 'exactly-once', writtenTwice: 0 })
  })

  it('several rows of a key are what plain inserts of several batches make; a batch written twice is told by the ledger', async () => {
    const story = newStory(three)
    await story.run(orders, { idempotent: false })
    await story.produce(2)
    await story.run(bronzeOrders)
    await story.run(orders, { idempotent: false, killAt: 'table-committed' })
    // Order 1001 is in both batches.
    expect(await look(story, 'orders')).toMatchObject({ rows: 5, missing: 0, verdict: 'exactly-once', writtenTwice: 0 })
    await story.run(orders, { idempotent: false })
    const twice = await look(story, 'orders')
    expect(twice).toMatchObject({ rows: 7, missing: 0, verdict: 'duplicated', writtenTwice: 2 })
    expect(twice.reasons.join('\n')).toContain('batch 1 was written twice, attempt 1 without a txn and attempt 2 without a txn: its 2 rows are there twice')
    await story.expectSound()
  })

  it('a MERGE after a plain insert of the same batch adds nothing', async () => {
    const story = newStory(three)
    await story.run(orders, { idempotent: false, killAt: 'table-committed' })
    await story.run(orders, { idempotent: true })
    expect(await look(story, 'orders')).toMatchObject({ rows: 3, missing: 0, verdict: 'exactly-once' })
    await story.expectSound()
  })
})

describe('missing', () => {
  it('rows of a table that was dropped are missing, and what comes later is there', async () => {
    const story = newStory(three)
    await story.run(eventsCopy)
    await story.store((store) => store.drop('events_copy'))
    const gone = await look(story, 'events_copy')
    expect(gone).toMatchObject({ rows: 0, missing: 3, verdict: 'missing' })
    expect(gone.reasons.join('\n')).toContain('events_copy wrote 3 rows to a table events_copy that was dropped or replaced since')
    await story.produce(2)
    await story.run(bronzeOrders)
    await story.run(eventsCopy)
    expect(await look(story, 'events_copy')).toMatchObject({ rows: 2, missing: 3, verdict: 'missing' })
  })

  it('records of a topic that the table lacks are missing', async () => {
    const story = newStory(three)
    await story.store((store) => store.drop('bronze_orders'))
    await story.produce(2)
    await story.run(bronzeOrders)
    expect(await look(story, 'bronze_orders')).toMatchObject({ rows: 2, missing: 3, verdict: 'missing' })
  })

  it('keys that a table of the newest rows lacks are missing', async () => {
    const story = newStory(three)
    await story.run(orders)
    await story.store((store) => store.drop('orders'))
    await story.produce(2)
    await story.run(bronzeOrders)
    await story.run(orders)
    // 1001 and 1004 came with the second batch.
    expect(await look(story, 'orders')).toMatchObject({ rows: 2, missing: 2, verdict: 'missing' })
  })
})

describe('a query whose table is not a copy', () => {
  it('is judged by the ledger: missing is not known', async () => {
    const half = query(
      'half',
      table('bronze_orders'),
      foreachBatch(async (batch) => {
        await batch.append(
          'half',
          batch.filter((row) => row['order_id'] !== 1001),
        )
      }),
      { idempotent: false },
    )
    const story = newStory(three)
    await story.run(half, { killAt: 'table-committed' })
    expect(await look(story, 'half', [half])).toMatchObject({ rows: 2, missing: null, verdict: 'exactly-once', inFlight: true })
    await story.run(half)
    expect(await look(story, 'half', [half])).toMatchObject({ rows: 4, distinct: 2, missing: null, verdict: 'duplicated', writtenTwice: 2 })
    await story.expectSound({ half: { holds: 'every-row', where: 'order_id <> 1001' } })
  })

  it('with a filter on its source: what it left out is not missing, what it wrote twice is', async () => {
    const some = query(
      'some',
      table('bronze_orders').where((row) => row['order_id'] !== 1001),
      append('some'),
      { holds: 'every-row' },
    )
    const story = newStory(three)
    await story.run(some)
    expect(await look(story, 'some', [some])).toMatchObject({ rows: 2, missing: null, verdict: 'exactly-once' })
  })
})

describe('judge', () => {
  const nothing = { repeated: [], writers: [], otherQueries: [], lossySkips: [], rowsInDroppedTables: 0 }
  const facts = (more: Partial<VerdictFacts>): VerdictFacts => ({
    query: 'q',
    table: 't',
    holds: 'every-row',
    rows: 5,
    queryId: 'a',
    comparison: { missing: 0, writtenTwice: 0, uncommitted: 0, because: null },
    ledger: nothing,
    ...more,
  })
  const counts = (missing: number | null, writtenTwice: number | null) => ({ missing, writtenTwice, uncommitted: null, because: 'it is so' })

  it.each([
    ['all there', {}, 'exactly-once', false],
    ['nothing there and nothing expected', { rows: 0 }, 'empty', false],
    ['nothing there although there should be', { rows: 0, comparison: counts(2, 0) }, 'missing', false],
    ['some missing', { comparison: counts(2, 0) }, 'missing', false],
    ['some twice', { comparison: counts(0, 2) }, 'duplicated', false],
    ['both: missing comes first', { comparison: counts(1, 2) }, 'missing', true],
    ['a table that cannot be read', { rows: null, comparison: counts(null, null) }, null, false],
    ['nothing known, nothing in the ledger', { comparison: counts(null, null) }, null, false],
  ] as const)('%s', (_, more, verdict, alsoDuplicated) => {
    expect(judge(facts(more))).toMatchObject({ verdict, alsoDuplicated })
  })

  it('says of rows that nobody recorded that nobody recorded them', () => {
    expect(judge(facts({ comparison: counts(0, 2) })).reasons).toEqual([
      '2 rows of t are there more often than in the source; the ledger has no record of who wrote them',
    ])
    expect(judge(facts({ comparison: counts(1, 0) })).reasons).toEqual([
      '1 row that the checkpoint has as committed cannot be found in t, and the ledger has no record why',
    ])
  })

  it('names other queries that wrote to the table', () => {
    expect(judge(facts({ comparison: counts(0, 1), ledger: { ...nothing, otherQueries: ['other'] } })).reasons).toEqual([
      '1 row of t is there more often than in the source',
      'other wrote to t too',
    ])
  })
})
