/** When frames are drawn, on a clock that the test moves. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { DrawSchedule } from '../../src/tui/draw-schedule.js'
import { ManualClock } from './manual-clock.js'

test('what is asked for after a quiet time is drawn at once', () => {
  const { schedule, drawnAt } = begin()
  schedule.ask('event')
  expect(drawnAt).toEqual([0])
})

test('many events are one frame, seven a second at most', async () => {
  const { schedule, drawnAt, clock } = begin()
  for (let ms = 0; ms < 1_000; ms += 10) {
    schedule.ask('event')
    await clock.advance(10)
  }
  expect(drawnAt).toEqual([0, 143, 286, 429, 572, 715, 858])
})

test('a key is drawn at once among events, thirty frames a second at most', async () => {
  const { schedule, drawnAt, clock } = begin()
  schedule.ask('event')
  await clock.advance(50)
  schedule.ask('event')
  schedule.ask('key')
  expect(drawnAt).toEqual([0, 50])
  schedule.ask('key')
  await clock.advance(200)
  expect(drawnAt).toEqual([0, 50, 83])
})

test('no timer runs when nobody asks, and none after a stop', async () => {
  const { schedule, drawnAt, clock } = begin()
  schedule.ask('event')
  expect(clock.timerCount).toBe(0)
  schedule.ask('event')
  expect(clock.timerCount).toBe(1)
  schedule.stop()
  await clock.advance(1_000)
  expect({ drawnAt, timers: clock.timerCount }).toEqual({ drawnAt: [0], timers: 0 })
})

function begin() {
  const clock = new ManualClock()
  const drawnAt: number[] = []
  const schedule = new DrawSchedule(() => drawnAt.push(clock.nowMs), clock.effects(realEffects))
  return { schedule, drawnAt, clock }
}
