/** Where a query of a topic begins. */
import { expect, test } from 'vitest'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()

test('startingOffsets hold for the first batch, also with a limit: nothing before them is read', async () => {
  const story = begin()
  await story.produce(1, 2, 3, 4)

  await story.run(bronzeOrders, { sourceOptions: ['startingOffsets={"orders":{"0":5}}', 'maxOffsetsPerTrigger=2'] })

  expect((await story.rows('bronze_orders')).map((row) => row['offset'])).toEqual([5n, 6n, 7n, 8n])
  expect(story.list('checkpoints', 'bronze_orders', 'offsets')).toEqual(['0', '1'])
})

test('from the latest offset on, nothing is a batch until something is sent', async () => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders, { sourceOptions: ['startingOffsets=latest'] })
  expect(story.list('checkpoints', 'bronze_orders', 'offsets')).toEqual([])

  await story.produce(2)
  await story.run(bronzeOrders)

  expect((await story.rows('bronze_orders')).map((row) => row['offset'])).toEqual([3n, 4n])
})
