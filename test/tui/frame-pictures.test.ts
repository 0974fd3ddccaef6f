/** What the main screen looks like, to the letter: `pictures/` has one file for each state and size. `npx vitest -u` draws them anew. */
import { expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { kafkaUp, killedAt, MODELS, ASCII_LOOK, LOOK, pictureOf } from './models.js'

const SIZES = [
  [80, 24],
  [120, 40],
] as const

for (const [name, model] of Object.entries(MODELS)) {
  for (const [columns, rows] of SIZES) {
    test(`${name} at ${columns}×${rows}`, async () => {
      await expect(`${pictureOf(model, columns, rows)}\n`).toMatchFileSnapshot(`pictures/${name}-${columns}x${rows}.txt`)
    })
  }
}

for (const [columns, rows] of [
  [200, 60],
  [100, 30],
  [60, 15],
  [50, 12],
  [40, 8],
  [39, 7],
] as const) {
  test(`killed at ${columns}×${rows}`, async () => {
    await expect(`${pictureOf(killedAt('table-committed'), columns, rows)}\n`).toMatchFileSnapshot(`pictures/killed-${columns}x${rows}.txt`)
  })
}

test('duplicated and skipped on the smallest screen with all panes', async () => {
  const pictures = ['duplicated', 'skipped'].map((name) => pictureOf(MODELS[name] ?? killedAt('planned'), 60, 15))
  await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('pictures/small-60x15.txt')
})

test('killed at each of the eight steps', async () => {
  const pictures = STEPS.map((step) => pictureOf(killedAt(step), 80, 24).split('\n').slice(1, 19).join('\n'))
  await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('pictures/killed-at-each-step-80.txt')
})

test('in ASCII alone', async () => {
  const pictures = ['killed', 'paused', 'hostile'].map((name) => pictureOf(MODELS[name] ?? killedAt('planned'), 80, 24, ASCII_LOOK))
  const text = `${pictures.join('\n\n')}\n`
  expect(text).toMatch(/^[\x20-\x7e\n]*$/)
  await expect(text).toMatchFileSnapshot('pictures/ascii-80x24.txt')
})

test('a zoom into the logs, and one into the events', async () => {
  const model = killedAt('table-committed')
  const pictures = (['logs', 'events'] as const).map((pane) => pictureOf({ ...model, screen: { kind: 'zoom', pane, scroll: 2 } }, 100, 20, LOOK))
  await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('pictures/zoomed-100x20.txt')
})

test('a zoom into the logs of a query on Kafka has its partitions; where not all fit, those that are furthest behind', async () => {
  const up = kafkaUp()
  const ends = Object.fromEntries(Array.from({ length: 60 }, (_, partition) => [partition, String(partition * 7)]))
  const topics = [{ name: 'orders', kind: 'kafka' as const, partitions: 60, endOffsets: ends }]
  const many = { ...up, view: up.view && { ...up.view, status: { ...up.view.status, topics } } }
  const pictures = [up, many].map((model) => pictureOf({ ...model, screen: { kind: 'zoom', pane: 'logs', scroll: 0 } }, 100, 24, LOOK))
  await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('pictures/kafka-zoomed-100x24.txt')
})
