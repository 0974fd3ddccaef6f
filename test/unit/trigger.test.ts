/** When availableNow has come to its end. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { StreamtopError } from '../../src/errors.js'
import type { Source } from '../../src/engine/source.js'
import { availableNow } from '../../src/engine/trigger.js'

const onPlan = () => {}

/** A source that counts: what is there now, and how far this run goes. */
function counting() {
  let there = 0
  let end = 0
  const source: Source = {
    description: 'a count',
    isThere: () => true,
    missing: () => new StreamtopError('source-missing', 'missing'),
    begin: async () => {},
    initialOffset: async () => null,
    fixEnd: async () => {
      end = there
    },
    plan: async (start) => (Number(start ?? 0) < end ? String(end) : null),
    read: () => Promise.reject(new Error('nobody reads')),
    latestOffset: () => String(there),
    waitForMore: (_start, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    close: async () => {},
  }
  return { source, grow: () => void there++ }
}

test('what a writer adds in its last moments is read, however the end was fixed before', async () => {
  const upstream = new AbortController()
  const { source, grow } = counting()
  const control = { idempotent: null, armed: null, dwellMs: 0, upstreamEnded: upstream.signal }
  const trigger = availableNow(source, control, new AbortController().signal, () => {}, realEffects)
  grow()
  expect(await trigger.next(null, onPlan)).toBe('1')

  // While that batch runs the writer adds one more version and ends.
  grow()
  upstream.abort()

  expect(await trigger.next('1', onPlan)).toBe('2')
  expect(await trigger.next('2', onPlan)).toBeNull()
})

test('without a writer, what arrives after the start is another run’s', async () => {
  const { source, grow } = counting()
  const control = { idempotent: null, armed: null, dwellMs: 0, upstreamEnded: AbortSignal.abort() }
  const trigger = availableNow(source, control, new AbortController().signal, () => {}, realEffects)
  grow()
  expect(await trigger.next(null, onPlan)).toBe('1')
  grow()
  expect(await trigger.next('1', onPlan)).toBeNull()
})
