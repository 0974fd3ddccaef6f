/** A first start: an empty folder in which everything begins by itself. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Effects, realEffects as fx } from '../../src/effects.js'
import { openCaughtUp, openLive, temporaryFolder } from './live.js'

/** Has as much time as a batch may need on a busy machine: the next part is not sent before. */
const PATIENT: Effects = { ...fx, sleep: (durationMs, signal) => fx.sleep(durationMs < 2_000 ? durationMs : 600_000, signal) }

test('an empty folder: four parts one after the other, three queries, then the generator', async () => {
  const live = await openLive(temporaryFolder(), {}, undefined, undefined, PATIENT)
  expect(live.session.state).toMatchObject({ access: 'owner', isFirstStart: true, isPaused: false, generator: { isOn: false, ratePerSecond: 1 } })
  expect(live.session.state.queries.map(({ info, idempotent }) => [info.name, info.mode, idempotent])).toEqual([
    ['bronze_orders', 'append', true],
    ['events_copy', 'foreachBatch', false],
    ['orders', 'foreachBatch', true],
  ])

  await live.until('the generator', () => live.session.state.generator.isOn)
  await live.until('a generated order in bronze', () => (live.status('bronze_orders')?.rows ?? 0) > 9)

  expect(live.said('topic')).toEqual(['part 1 arrived: 3 records', 'part 2 arrived: 2 records', 'part 3 arrived: 2 records', 'part 4 arrived: 2 records'])
  const batches = live.said('bronze_orders').filter((text) => text.startsWith('batch'))
  expect(batches.slice(0, 4)).toEqual([
    expect.stringMatching(/^batch 0 committed: \+3 rows, offsets 0 to 3, \d+\.\d ms$/),
    expect.stringMatching(/^batch 1 committed: \+2 rows, offsets 3 to 5, \d+\.\d ms$/),
    expect.stringMatching(/^batch 2 committed: \+2 rows, offsets 5 to 7, /),
    expect.stringMatching(/^batch 3 committed: \+2 rows, offsets 7 to 9, /),
  ])
  expect(live.said('orders')).toContainEqual(expect.stringMatching(/^batch 0 committed: \d events?, \d inserted, /))
})

test('in a clone, which has a README in each folder, it is a first start too', async () => {
  const folder = temporaryFolder()
  for (const name of ['tables', 'checkpoints']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'README.md'), 'what is kept here')
  }
  const live = await openLive(folder)
  expect(live.session.state).toMatchObject({ access: 'owner', isFirstStart: true })
  await live.until('the first rows', () => (live.status('bronze_orders')?.rows ?? 0) > 0)
  expect(live.said('topic')).toContain('part 1 arrived: 3 records')
})

test('a used folder goes on where it stopped, without new orders', async () => {
  const first = await openCaughtUp()
  await first.session.close()
  const second = await openLive(first.folder)
  expect(second.session.state).toMatchObject({ access: 'owner', isFirstStart: false, generator: { isOn: false } })
  await second.until('three running queries', () => second.session.state.queries.every(({ process }) => process === 'running'))
  expect(await second.do({ name: 'send' })).toBe('6 generated orders sent')
  await second.until('their rows', () => second.status('bronze_orders')?.rows === 15)
  expect(second.said('bronze_orders').at(-1)).toMatch(/^batch \d committed: \+6 rows, offsets 9 to 15, /)
})

test('a workspace that was made for the session alone goes with it', async () => {
  const live = await openCaughtUp({ isTemporary: true })
  expect(existsSync(live.folder)).toBe(true)
  await live.session.close()
  expect(existsSync(live.folder)).toBe(false)
})
