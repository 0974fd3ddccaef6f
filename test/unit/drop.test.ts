/** `streamtop drop`: a query's two tables go together, and nothing else does. */
import { expect, it } from 'vitest'
import { drop } from '../../src/commands/drop.js'
import { realEffects as fx } from '../../src/effects.js'
import { acquireLock } from '../../src/engine/lock.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { KeptOutput } from '../command-here.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()

async function dropIn(story: Story, table: string): Promise<unknown> {
  const output = new KeptOutput()
  const context = {
    workspace: story.folder,
    isWorkspaceGiven: true,
    adopt: false,
    configFile: null,
    kafka: null,
    json: true,
    options: {},
    arguments: [table],
    output,
    fx,
  }
  expect(await drop.run({ ...context, signal: new AbortController().signal })).toBe(0)
  return JSON.parse(output.said.stdout)
}

const tables = (story: Story) => story.list('tables').filter((name) => !name.startsWith('_') && !name.startsWith('.'))

async function withRejected(): Promise<Story> {
  const story = newStory()
  await story.produce(1)
  const producer = openEmbeddedProducer(story.folder, 'orders', {}, fx)
  await producer.send([{ key: null, value: Buffer.from('no order') }])
  await producer.close()
  await story.run(bronzeOrders)
  await story.run(eventsCopy)
  return story
}

it('takes the table of rejected records along, so that a new checkpoint begins with neither', async () => {
  const story = await withRejected()
  expect(await dropIn(story, 'bronze_orders')).toEqual({ table: 'bronze_orders', dropped: true, alsoDropped: ['bronze_orders_rejected'] })
  expect(tables(story)).toEqual(['events_copy'])
})

it('of the rejected records, or of a query that rejects none, is of that table alone', async () => {
  const story = await withRejected()
  expect(await dropIn(story, 'events_copy')).toEqual({ table: 'events_copy', dropped: true, alsoDropped: [] })
  expect(await dropIn(story, 'bronze_orders_rejected')).toEqual({ table: 'bronze_orders_rejected', dropped: true, alsoDropped: [] })
  expect(tables(story)).toEqual(['bronze_orders'])
})

it('of a table that is not there is an error', async () => {
  await expect(dropIn(newStory(), 'bronze_orders')).rejects.toMatchObject({ code: 'unknown-table' })
})

it('leaves both where the query runs', async () => {
  const story = await withRejected()
  const lock = await acquireLock(story.folder, 'bronze_orders', fx)
  await expect(dropIn(story, 'bronze_orders')).rejects.toMatchObject({ code: 'concurrent-query' })
  lock.release()
  expect(tables(story)).toEqual(['bronze_orders', 'bronze_orders_rejected', 'events_copy'])
})
