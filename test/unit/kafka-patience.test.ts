/** Waiting for a broker: what passes is tried again, and a stop ends it at once, also while a broker hangs. */
import { expect, test } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import { KafkaAnswerError, KafkaSilenceError } from '../../src/topic/kafka-errors.js'
import { createPatience } from '../../src/topic/kafka-patience.js'

const fx: Effects = { ...realEffects, sleep: async () => {} }
const settings = { brokers: [{ host: 'b', port: 9092 }], tls: null, sasl: null }

test('what fails is tried again; from the third time on it is said, once a reason, and that it goes on', async () => {
  const said: (string | null)[] = []
  const patience = createPatience({ settings, signal: new AbortController().signal, onOutage: (error) => said.push(error?.message ?? null) }, fx)
  let tries = 0
  const work = async () => {
    tries += 1
    if (tries < 6) throw new Error(tries < 5 ? 'refused' : 'reset')
    return 'answer'
  }
  expect(await patience.until(work)).toBe('answer')
  expect(said).toEqual(['Kafka at b:9092 does not answer (refused); it is tried again', 'Kafka at b:9092 does not answer (reset); it is tried again', null])
})

test('a broker that hangs has cost seconds already: that is said at once', async () => {
  const said: (string | null)[] = []
  const patience = createPatience({ settings, signal: new AbortController().signal, onOutage: (error) => said.push(error?.message ?? null) }, fx)
  let tries = 0
  const work = async () => {
    if (tries++ === 0) throw new KafkaSilenceError(3_000)
  }
  await patience.until(work)
  expect(said).toEqual(['Kafka at b:9092 does not answer (nothing came for 3 s); it is tried again', null])
})

test('an error that a broker answers is not said as of one that does not answer', async () => {
  const said: (string | null)[] = []
  const patience = createPatience({ settings, signal: new AbortController().signal, onOutage: (error) => said.push(error?.message ?? null) }, fx)
  let tries = 0
  const work = async () => {
    if (tries++ < 3) throw new KafkaAnswerError(5, 'Metadata')
  }
  await patience.until(work)
  expect(said).toEqual(['Kafka at b:9092 cannot do it now (Metadata: LEADER_NOT_AVAILABLE); it is tried again', null])
})

test.each(['the query', 'one that waits'])('a broker that never answers: the stop of %s ends the wait', async (who) => {
  const [all, one] = [new AbortController(), new AbortController()]
  const patience = createPatience({ settings, signal: all.signal, onOutage: () => {} }, fx)
  const waiting = patience.until(() => new Promise(() => {}), one.signal)
  ;(who === 'the query' ? all : one).abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
})
