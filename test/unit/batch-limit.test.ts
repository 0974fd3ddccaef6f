/** How much a batch takes where nobody has said: by the size of the records before. */
import { expect, test } from 'vitest'
import { BatchLimit } from '../../src/engine/batch-limit.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { nextOrders } from '../../src/queries/order-generator.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { realEffects as fx } from '../../src/effects.js'
import { temporaryStories } from '../stories/workspace.js'

const begin = temporaryStories()

function records(rowCount: number, bytes: number) {
  const values = Array.from({ length: rowCount }, () => new Uint8Array(bytes))
  return { partition: 0, rowCount, offsets: new BigInt64Array(rowCount), timestampsMs: new Float64Array(rowCount), keys: values.map(() => null), values }
}

test('many small records, few large ones, and at least one', () => {
  const limit = new BatchLimit()
  expect(limit.offsets).toBe(10_000)
  limit.saw([records(2, 200), records(0, 0)])
  expect(limit.offsets).toBe(25_000)
  limit.saw([])
  expect(limit.offsets).toBe(25_000)
  limit.saw([records(1, 1_000_000), records(1, 500_000)])
  expect(limit.offsets).toBe(9)
  limit.saw([records(1, 20_000_000)])
  expect(limit.offsets).toBe(1)
})

test.each([
  { sourceOptions: [], batches: ['0', '1'] },
  { sourceOptions: ['maxOffsetsPerTrigger=20000'], batches: ['0'] },
])('a backlog of 10,001 records, $sourceOptions: batches $batches', async ({ sourceOptions, batches }) => {
  const story = begin()
  const producer = openEmbeddedProducer(story.folder, 'orders', {}, fx)
  await producer.send(nextOrders(null, 1, 10_001).records)
  await producer.close()
  await story.run(bronzeOrders, { sourceOptions })
  expect(story.list('checkpoints', 'bronze_orders', 'commits')).toEqual(batches)
})
