/**
 * A whole run of a query that writes two tables in one commit, killed before, in and after each change of a file: started again, each
 * record is there once, good or bad, and the checker finds nothing.
 */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { checkWorkspace } from '../checker.mjs'
import { BRONZE, COPY, SENT, SENT_BY_PART } from '../nine-events.js'
import { type Death, deathsOf } from './deaths.js'
import { everyAndNewest } from './every-and-newest.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()
const SLOW_MS = 180_000

/** Every death of a run until it is caught up. */
function deathsOfRun(story: Story, definition: QueryDefinition): Promise<Death[]> {
  const run = async ({ fx, point }: { readonly fx: typeof realEffects; point(what: string): void }) => {
    const { ending } = inlineRunner(openEmbeddedTopic, fx).start({
      workspace: story.folder,
      definition,
      options: { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false },
      idempotent: null,
      armed: null,
      dwellMs: 0,
      hasUpstream: false,
      listen: (event) => event.kind === 'step' && point(event.event.step),
    })
    expect(await ending).toEqual({ kind: 'ended' })
  }
  return deathsOf(story, run, () => {}, begin)
}

test('orders and rejected records', { timeout: SLOW_MS }, async () => {
  const story = begin()
  const producer = openEmbeddedProducer(story.folder, 'orders', {}, realEffects)
  const bad = (text: string) => ({ key: null, value: Buffer.from(text) })
  await producer.send([bad('first'), ...partRecords(1), bad('last')])
  await producer.close()

  const deaths = await deathsOfRun(story, bronzeOrders)

  for (const { at, story: left } of deaths) {
    await left.run(bronzeOrders)
    const offsets = async (name: string) => (await left.rows(name)).map((row) => row['offset'])
    expect({ at, good: await offsets('bronze_orders'), bad: await offsets('bronze_orders_rejected') }).toEqual({ at, good: [1n, 2n, 3n], bad: [0n, 4n] })
    const told = { topic: 'orders', sent: SENT_BY_PART[0] ?? [], bad: [bad('first'), bad('last')], queries: [BRONZE] }
    expect({ at, wrong: await checkWorkspace(left.folder, told) }).toEqual({ at, wrong: [] })
  }
  expect(deaths.length).toBeGreaterThan(20)
})

test('a MERGE and an append, with an id on the append alone', { timeout: SLOW_MS }, async () => {
  const story = begin()
  await story.produce(1, 2, 3, 4)
  await story.run(bronzeOrders)
  const deaths = await deathsOfRun(story, everyAndNewest)

  const queries = [BRONZE, { ...COPY, name: 'both', table: 'every', alsoWrites: [{ table: 'newest', holds: 'newest-of-each-order' as const }] }]
  for (const { at, story: left } of deaths) {
    await left.run(everyAndNewest)
    expect({ at, wrong: await checkWorkspace(left.folder, { topic: 'orders', sent: SENT, queries }) }).toEqual({ at, wrong: [] })
  }
  expect(deaths.length).toBeGreaterThan(20)
})
