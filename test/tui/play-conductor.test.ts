/** Who takes the next line of a play: when it is asked for, never two at a time, and none after the end. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { pausableClock } from '../../src/scenario/pausable-clock.js'
import type { PlayEnd, PlayEvent } from '../../src/scenario/play-event.js'
import { PlayConductor } from '../../src/tui/play-conductor.js'
import { ManualClock, settled } from './manual-clock.js'

test('the first is told at once, the others when they are asked for, sooner if somebody is impatient', async () => {
  const { clock, conductor, told } = begun()
  await settled()
  conductor.next(1_000)
  await clock.advance(999)
  expect(told).toEqual([1])
  await clock.advance(1)
  expect(told).toEqual([1, 2])
  conductor.next(1_000)
  await clock.advance(10)
  conductor.next(0)
  await clock.advance(0)
  expect([told, clock.timerCount]).toEqual([[1, 2, 3], 0])
})

test('a line that is under way is not asked for again', async () => {
  const { clock, conductor, told, lines } = begun({ takesMs: 500 })
  await clock.advance(500)
  conductor.next(0)
  await clock.advance(100)
  conductor.next(0)
  conductor.next(0)
  await clock.advance(5_000)
  expect([told, lines.begun]).toEqual([[1, 2], 2])
})

test('paused it waits, also with the line that comes after what is under way', async () => {
  const { clock, conductor, told } = begun()
  await settled()
  conductor.next(100)
  await clock.advance(50)
  conductor.pause()
  await clock.advance(60_000)
  expect(told).toEqual([1])
  conductor.goOn()
  await clock.advance(50)
  expect(told).toEqual([1, 2])
})

test('stopped it ends what is under way and tells nothing more', async () => {
  const { clock, conductor, told, lines } = begun({ takesMs: 500 })
  await clock.advance(100)
  conductor.stop()
  conductor.next(0)
  await clock.advance(5_000)
  expect([told, lines]).toEqual([[], { begun: 1, isEnded: true }])
})

test('what the play cannot go on from is told whoever begun it', async () => {
  const { conductor, begin } = begun({ fails: true })
  await expect(begin).rejects.toThrow('cannot go on')
  conductor.stop()
})

function begun({ takesMs = 0, fails = false } = {}) {
  const clock = new ManualClock()
  const pausable = pausableClock(clock.effects(realEffects))
  const lines = { begun: 0, isEnded: false }
  async function* play(): AsyncGenerator<PlayEvent, PlayEnd> {
    for (;;) {
      lines.begun += 1
      if (fails) throw new Error('cannot go on')
      if (takesMs > 0) await pausable.fx.sleep(takesMs)
      yield { kind: 'caption', line: lines.begun, text: '' }
    }
  }
  const told: number[] = []
  const conductor = new PlayConductor(play(), pausable, () => {
    lines.isEnded = true
  })
  const begin = conductor.begin((event) => told.push('line' in event ? event.line : 0))
  begin.catch(() => {})
  return { clock, conductor, told, lines, begin }
}
