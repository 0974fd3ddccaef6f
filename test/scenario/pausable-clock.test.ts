/** A clock that stands still while a play is paused. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { pausableClock } from '../../src/scenario/pausable-clock.js'
import { ManualClock } from '../tui/manual-clock.js'

test('what is slept takes as much longer as it stood still, however often', async () => {
  const { real, clock, passed } = begun()
  const waking = clock.fx.sleep(1_000).then(() => passed.push(real.nowMs))
  await real.advance(400)
  clock.pause()
  await real.advance(60_000)
  clock.goOn()
  await real.advance(300)
  clock.pause()
  clock.pause()
  await real.advance(5_000)
  clock.goOn()
  clock.goOn()
  await real.advance(299)
  expect([passed, Math.round(clock.fx.monotonicMs())]).toEqual([[], 999])
  await real.advance(1)
  await waking
  expect(passed).toEqual([66_000])
})

test('a sleep that is called off in a pause is over at once, and one that begins in it waits', async () => {
  const { real, clock, passed } = begun()
  clock.pause()
  const off = new AbortController()
  const called = clock.fx.sleep(1_000, off.signal).then(() => passed.push(real.nowMs))
  const later = clock.fx.sleep(0).then(() => passed.push(real.nowMs))
  await real.advance(10)
  off.abort()
  await called
  expect(passed).toEqual([10])
  await real.advance(500)
  clock.goOn()
  await later
  expect([passed, real.timerCount]).toEqual([[10, 510], 0])
})

function begun() {
  const real = new ManualClock()
  return { real, clock: pausableClock(real.effects(realEffects)), passed: [] as number[] }
}
