/** A checkpoint whose `metadata` has come to another id: the native sink knows its batches by it, and would write a pending one again. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()
const OTHER = '{"id":"00000000-0000-4000-8000-000000000000"}'

test.each(STEPS.slice(2, -1))('with a batch that was killed at %s it is refused by name, and with its own id goes on', async (killAt) => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.produce(2)
  await story.run(bronzeOrders, { killAt })
  const path = story.path('checkpoints', 'bronze_orders', 'metadata')
  const own = readFileSync(path, 'utf8')
  writeFileSync(path, OTHER)
  await expect(story.run(bronzeOrders)).rejects.toMatchObject({ code: 'checkpoint-damaged', hint: expect.stringContaining(own) })
  writeFileSync(path, own)
  await story.run(bronzeOrders)
  await story.expectSound()
})

test('a new checkpoint in the place of one that was removed has another id, and is one', async () => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders)
  const { resetQuery } = await import('../../src/engine/reset.js')
  const { realEffects } = await import('../../src/effects.js')
  await resetQuery(story.folder, 'bronze_orders', realEffects)
  await story.run(bronzeOrders, { killAt: 'offsets-logged' })
  await story.run(bronzeOrders)
  expect(await story.rows('bronze_orders')).toHaveLength(6)
})
