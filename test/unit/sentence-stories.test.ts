/** The stories that the dashboard is shown with, in a real workspace: what is said before the start, what after it, and the numbers. */
import { beforeAll, describe, expect, it } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { foreachBatch, query, type QueryDefinition, table } from '../../src/engine/definition.js'
import { resetQuery } from '../../src/engine/reset.js'
import { STEPS } from '../../src/engine/steps.js'
import { observe } from '../../src/observe/observe.js'
import { sentenceOf } from '../../src/observe/sentence.js'
import type { QueryStatus } from '../../src/observe/status.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { newStory as makeStory, type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()

/** Three orders copied as batch 0, two more in bronze that are to be batch 1. */
let ready: { readonly on: Story; readonly off: Story }
beforeAll(async () => {
  const bronze = makeStory()
  await bronze.produce(1)
  await bronze.run(bronzeOrders)
  const stories = { on: makeStory(bronze), off: makeStory(bronze) }
  for (const idempotent of [true, false]) {
    const story = idempotent ? stories.on : stories.off
    await story.run(eventsCopy, { idempotent })
    await story.run(orders)
    await story.produce(2)
    await story.run(bronzeOrders)
  }
  ready = stories
  return () => {
    for (const story of [bronze, stories.on, stories.off]) story.remove()
  }
})

async function look(story: Story, definition: QueryDefinition = eventsCopy): Promise<QueryStatus> {
  const queries = [...BUILT_IN_QUERIES.filter(({ name }) => name !== definition.name), definition]
  const found = (await observe(story.folder, queries, fx)).queries.find(({ name }) => name === definition.name)
  if (!found) throw new Error(`no query ${definition.name}`)
  return found
}

const ON = { idempotentNext: true }
const OFF = { idempotentNext: false }

describe('events_copy', () => {
  it('killed between write and commit, idempotence off: duplicates are told before they are there, and why after', async () => {
    const story = newStory(ready.off)
    await story.run(eventsCopy, { idempotent: false, killAt: 'table-committed' })
    expect(sentenceOf(await look(story), OFF)).toBe(
      'events_copy was killed after it wrote batch 1 and before it committed it: events_copy has the 2 rows, the checkpoint does not know. It will run batch 1 again with the same rows. Idempotence was off, so nothing in events_copy says that batch 1 is there: expect 2 duplicates.',
    )
    await story.run(eventsCopy, { idempotent: false })
    const after = await look(story)
    expect(after).toMatchObject({ rows: 7, duplicates: 2, verdict: 'duplicated' })
    expect(sentenceOf(after)).toBe('batch 1 ran again and its 2 rows are in the table twice; nothing failed and nothing warned.')

    // The next batch goes straight through, and what happened is told all the same.
    await story.produce(3)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { idempotent: false })
    expect(sentenceOf(await look(story))).toBe('batch 1 ran again and its 2 rows are in the table twice; nothing failed and nothing warned.')
  })

  it('with idempotence on from the start: skipped, and no row is written', async () => {
    const story = newStory(ready.on)
    await story.run(eventsCopy, { idempotent: true, killAt: 'table-committed' })
    expect(sentenceOf(await look(story), ON)).toContain('The table remembers txn (events_copy, 1): the next attempt is skipped, and no row is written twice.')
    await story.run(eventsCopy, { idempotent: true })
    const after = await look(story)
    expect(after).toMatchObject({ rows: 5, duplicates: 0, verdict: 'exactly-once', skips: 1 })
    expect(sentenceOf(after)).toBe('batch 1 ran again, and was skipped: the table remembers txn (events_copy, 1). 0 of 2 rows were written.')
  })

  it('with idempotence turned on between death and start: it says that this will not help, and then why it did not', async () => {
    const story = newStory(ready.off)
    await story.run(eventsCopy, { idempotent: false, killAt: 'table-committed' })
    expect(sentenceOf(await look(story), ON)).toContain('It is on now and will not help, for batch 1 was written without a txn: expect 2 duplicates.')
    await story.run(eventsCopy, { idempotent: true })
    const after = await look(story)
    expect(after).toMatchObject({ rows: 7, duplicates: 2, verdict: 'duplicated' })
    expect(sentenceOf(after)).toBe(
      'batch 1 ran again with idempotence on and its 2 rows are in the table twice all the same: attempt 1 wrote it without a txn, so the table could not know it. Now it does.',
    )
  })

  it('with a new checkpoint and idempotence on: skipped for the old one, and it says what is lacking and what helps', async () => {
    const story = newStory(ready.on)
    await resetQuery(story.folder, 'events_copy', fx)
    const before = await look(story)
    expect(sentenceOf(before, ON)).toBe(
      'events_copy has no checkpoint: it begins with batch 0 and reads table bronze_orders from its beginning, and events_copy has 3 rows already. With idempotence on it takes these batches for its old ones: events_copy remembers txn (events_copy, 0), so every batch up to 0 is skipped, whatever rows it has. Another app id lets them in.',
    )
    await story.run(eventsCopy, { idempotent: true, killAt: 'offsets-logged' })
    expect(sentenceOf(await look(story), ON)).toContain(
      'But events_copy has txn (events_copy, 0) of an earlier checkpoint: the next attempt is skipped, and the rows of batch 0 are left out.',
    )
    await story.run(eventsCopy, { idempotent: true })
    const after = await look(story)
    expect(after).toMatchObject({ rows: 3, missing: 2, verdict: 'missing', skips: 1, lag: 0 })
    const said = 'batch 0 was skipped although this checkpoint never wrote it'
    expect(sentenceOf(after)).toBe(
      `${said}: the table remembers txn (events_copy, 0) of an earlier one. 0 of 5 rows were written, and events_copy lacks 2 rows of bronze_orders. Another app id lets them in.`,
    )
    // Batches above the number are written again; what is missing stays missing, and is told.
    await story.produce(3)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { idempotent: true })
    const later = await look(story)
    expect(later).toMatchObject({ rows: 5, missing: 2, verdict: 'missing' })
    expect(sentenceOf(later)).toContain(said)

    // The cure that it names.
    await resetQuery(story.folder, 'events_copy', fx)
    await story.run(eventsCopy, { idempotent: true, appId: 'another' })
    const cured = await look(story)
    expect(cured).toMatchObject({ missing: 0, verdict: 'duplicated' })
    expect(sentenceOf(cured)).toContain(
      'events_copy has a new checkpoint and read bronze_orders from its beginning: 5 rows that events_copy had from 2 earlier checkpoints',
    )
  })

  it('whose source has duplicates copies them, and is not blamed', async () => {
    const story = newStory(ready.off)
    await resetQuery(story.folder, 'bronze_orders', fx)
    await story.run(bronzeOrders)
    await story.run(eventsCopy)
    const after = await look(story)
    expect(after).toMatchObject({ rows: 10, duplicates: 5, verdict: 'exactly-once' })
    expect(sentenceOf(after)).toBe('events_copy has 5 duplicates that are in bronze_orders already: events_copy wrote each row of it once.')
    expect(sentenceOf(await look(story, bronzeOrders))).toBe(
      'bronze_orders has a new checkpoint and read orders from its beginning: 5 rows that bronze_orders had from an earlier checkpoint were written once more; with another app id the table could not know them.',
    )
  })

  it('whose table was dropped under a batch that waits does not count the rows that went with it', async () => {
    const story = newStory(ready.off)
    await story.run(eventsCopy, { idempotent: false, killAt: 'table-committed' })
    await story.store((store) => store.drop('events_copy'))
    const gone = await look(story)
    expect(gone).toMatchObject({ rows: 0, step: 'offsets-logged' })
    expect(sentenceOf(gone, OFF)).toContain('before events_copy had its rows')
    await story.run(eventsCopy, { idempotent: false })
    expect(await look(story)).toMatchObject({ rows: 2, writtenTwice: 0, missing: 3 })
  })
})

describe('orders', () => {
  it.each(STEPS)('killed at %s: no duplicate, before and after', async (step) => {
    const story = newStory(ready.on)
    await story.run(orders, { killAt: step })
    const before = await look(story, orders)
    expect(before).toMatchObject({ duplicates: 0, writtenTwice: 0 })
    expect(sentenceOf(before, ON) ?? '').not.toMatch(/expect \d+/)
    await story.run(orders)
    expect(await look(story, orders)).toMatchObject({ rows: 4, duplicates: 0, missing: 0, verdict: 'exactly-once' })
  })
})

describe('bronze_orders', () => {
  it('killed mid-write: an orphan, which changes no answer', async () => {
    const story = newStory(ready.on)
    await story.produce(3)
    await story.run(bronzeOrders, { killAt: 'mid-write' })
    const before = await look(story, bronzeOrders)
    expect(before).toMatchObject({ rows: 5, duplicates: 0, orphans: 1, step: 'offsets-logged' })
    expect(sentenceOf(before, ON)).toBe(
      'bronze_orders was killed after it logged batch 2 and before bronze_orders had its rows. It will run batch 2 again with the same rows. Nothing is lost, and nothing is there twice. 1 data file of bronze_orders is an orphan: no version names it, and no answer changes.',
    )
    await story.run(bronzeOrders)
    expect(await look(story, bronzeOrders)).toMatchObject({ rows: 7, duplicates: 0, missing: 0, verdict: 'exactly-once', orphans: 1 })
  })
})

describe('a function of a user', () => {
  const failing = (isBroken: () => boolean) =>
    query(
      'mine',
      table('bronze_orders'),
      foreachBatch(async (batch) => {
        await batch.append('audit', batch.columns)
        await batch.append('mine', batch.columns)
        if (isBroken()) throw new Error('no route to host')
      }),
      { alsoWrites: ['audit'], holds: 'every-row' },
    )

  it('that failed after it wrote: what happened, what the next start does, and what to do', async () => {
    let isBroken = true
    const mine = failing(() => isBroken)
    const story = newStory(ready.off)
    await expect(story.run(mine)).rejects.toMatchObject({ code: 'foreach-batch-failed' })
    const before = await look(story, mine)
    expect(sentenceOf(before, OFF)).toBe(
      'mine failed: the foreachBatch function of mine failed in batch 0: no route to host. Batch 0 runs again at the next start, with the same rows. mine has the 5 rows from attempt 1. Idempotence was off, so nothing in mine says that batch 0 is there: expect 5 duplicates. To do: mend the function and start the query again: the batch runs again whole, with the same rows.',
    )
    isBroken = false
    await story.run(mine)
    expect(await look(story, mine)).toMatchObject({ rows: 10, writtenTwice: 5, verdict: 'duplicated' })
  })

  it('that was killed between two tables: its own table has nothing yet, the other has', async () => {
    const mine = failing(() => false)
    const story = newStory(ready.off)
    await story.run(mine, { killAt: 'batch-committed' })
    await story.produce(3)
    await story.run(bronzeOrders)
    await story.run(mine, { killAt: { step: 'table-committed', occurrence: 1 } })
    const before = await look(story, mine)
    expect(before).toMatchObject({ rows: 5, step: 'offsets-logged' })
    expect(sentenceOf(before, OFF)).toContain('before mine had its rows')
    expect(sentenceOf(before, OFF)).toContain('But audit has rows of it')
    await story.run(mine)
    expect(await look(story, mine)).toMatchObject({ rows: 7, writtenTwice: 0 })
  })
})
