/** The timer between an escape and a sequence, on a clock that the test moves. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { ESCAPE_WAIT_MS } from '../../src/tui/decode-keys.js'
import { KeyReader } from '../../src/tui/key-reader.js'
import { ManualClock } from './manual-clock.js'

test('an escape alone is a key after a silence, and not before', async () => {
  const { reader, keys, clock } = begin()
  reader.take('\u001b')
  await clock.advance(ESCAPE_WAIT_MS - 1)
  expect(keys).toEqual([])
  await clock.advance(1)
  expect({ keys, timers: clock.timerCount }).toEqual({ keys: ['escape'], timers: 0 })
})

test('a sequence that comes in pieces is one key', async () => {
  const { reader, keys, clock } = begin()
  reader.take('\u001b')
  await clock.advance(ESCAPE_WAIT_MS - 1)
  reader.take('[')
  await clock.advance(10)
  reader.take('Ax')
  await clock.advance(1_000)
  expect(keys).toEqual(['up', 'x'])
})

test('no timer runs after a whole key, and none after a stop', async () => {
  const { reader, keys, clock } = begin()
  reader.take('jk')
  expect(clock.timerCount).toBe(0)
  reader.take('\u001b')
  reader.stop()
  await clock.advance(1_000)
  expect({ keys, timers: clock.timerCount }).toEqual({ keys: ['j', 'k'], timers: 0 })
})

function begin() {
  const clock = new ManualClock()
  const keys: string[] = []
  return { clock, keys, reader: new KeyReader(({ name }) => void keys.push(name), clock.effects(realEffects)) }
}
