/** What a topic lost before a query could read it: counted over runs, told by the status. */
import { expect, test } from 'vitest'
import { statusText } from '../../src/commands/status-text.js'
import { realEffects as fx } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { observe } from '../../src/observe/observe.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const begin = temporaryStories()

/** Runs bronze_orders on a topic whose records before an offset have aged out. */
async function runWithout(story: Story, before: bigint): Promise<void> {
  const openTopic: typeof openEmbeddedTopic = (...from) => ({ ...openEmbeddedTopic(...from), startOffsets: async () => new Map([[0, before]]) })
  const ending = await inlineRunner(openTopic, fx).start({
    ...{ workspace: story.folder, definition: bronzeOrders, idempotent: null, armed: null, dwellMs: 0, hasUpstream: false, listen: () => {} },
    options: { sourceOptions: ['failOnDataLoss=false'], appId: null, intervalMs: null, acceptGap: false },
  }).ending
  expect(ending).toEqual({ kind: 'ended' })
}

const look = (story: Story) => observe(story.folder, [bronzeOrders, eventsCopy], fx)
const lost = async (story: Story) => (await look(story)).queries.map(({ lostOffsets }) => lostOffsets)

test('over several runs, with and without a loss; a query of a table has none to lose', async () => {
  const story = begin()
  expect(await lost(story)).toEqual([0, null])
  await story.produce(1)
  await story.run(bronzeOrders)
  expect(await lost(story)).toEqual([0, null])

  await story.produce(2)
  await runWithout(story, 4n)
  expect(await lost(story)).toEqual([1, null])
  await story.produce(3)
  await story.run(bronzeOrders)
  expect(await lost(story)).toEqual([1, null])
  await story.produce(4)
  await runWithout(story, 9n)
  expect(await lost(story)).toEqual([3, null])
  const text = statusText(await look(story), () => null).replace(/\s+/g, ' ')
  expect(text).toContain('bronze_orders: 3 offsets of its topic were gone before it could read them, and are left out')
})

test('what nobody has recorded is not known', async () => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders)
  fx.files.removeFolder(`${story.folder}/tables`)
  expect(await lost(story)).toEqual([null, null])
})
