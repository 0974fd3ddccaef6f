/** A session whose topic is on Kafka, with a broker that goes and comes: it says so, waits, and goes on. */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import type { SessionOptions } from '../../src/session/live-session.js'
import { openWorkspaceService } from '../../src/session/open-workspace-service.js'
import { BROKERS, FakeKafka } from './fake-kafka.js'
import { type LiveTest, openLive, temporaryFolder } from './live.js'

const KAFKA = { brokers: BROKERS, propertiesFile: null }

function openOn(kafka: FakeKafka, options: Partial<SessionOptions> = {}): Promise<LiveTest> {
  return openLive(temporaryFolder(), { kafka: KAFKA, ...options }, openWorkspaceService(fx, kafka.access), kafka.openTopic)
}

const brokers = (live: LiveTest) => live.view()?.status.kafka

test('a broker that goes down: queries wait and say why, what was known stays with its age; up again, all go on', async () => {
  const kafka = new FakeKafka()
  const live = await openOn(kafka)
  for (const part of [1, 2]) await live.do({ name: 'send', part })
  await live.until('the rows', () => live.status('orders')?.rows === 4 && live.status('bronze_orders')?.lag === 0)
  expect(brokers(live)).toMatchObject({ brokers: BROKERS, state: 'connected', topicsOfMs: null, lastError: null })

  kafka.goDown()
  await live.until('the query waits', () => live.query('bronze_orders').isWaitingForSource && live.status('bronze_orders')?.state === 'waiting')
  await live.until('the broker is down', () => brokers(live)?.state === 'down')
  expect(live.query('bronze_orders')).toMatchObject({ process: 'running', unreachable: expect.stringContaining('does not answer (connect ECONNREFUSED)') })
  expect(live.said('bronze_orders').at(-1)).toBe(`waits: Kafka at ${BROKERS} does not answer (connect ECONNREFUSED); it is tried again`)
  expect(live.said('topic').at(-1)).toBe(`Kafka at ${BROKERS} does not answer: connect ECONNREFUSED. start the broker`)
  expect(brokers(live)).toMatchObject({ topicsOfMs: expect.any(Number), lastError: { code: 'source-missing' } })
  expect(live.view()?.status.topics).toMatchObject([{ name: 'orders', kind: 'kafka', endOffsets: { 0: '5' } }])
  await expect(live.do({ name: 'send' })).rejects.toMatchObject({ code: 'source-missing' })

  kafka.comeUp()
  await live.until('the broker is up', () => brokers(live)?.state === 'connected')
  expect(live.said('topic').at(-1)).toBe(`Kafka at ${BROKERS} answers again`)
  expect(await live.do({ name: 'send' })).toBe('part 3 sent, 2 records')
  await live.until('its rows', () => live.status('events_copy')?.rows === 7)
  expect(live.said('bronze_orders')).toContain('goes on: its source answers again')
  expect(live.query('bronze_orders')).toMatchObject({ isWaitingForSource: false, unreachable: null })
  for (const name of ['bronze_orders', 'events_copy'])
    expect(live.status(name)).toMatchObject({ duplicates: 0, missing: 0, lostOffsets: name === 'bronze_orders' ? 0 : null })
})

test('an empty folder: nothing is sent to a topic of somebody’s unasked; a topic that is not there is said, and taken when it is made', async () => {
  const kafka = new FakeKafka({ hasTopic: false })
  const live = await openOn(kafka)
  await live.until('the missing topic is said', () =>
    live.said('topic').some((text) => text.startsWith(`there is no topic orders on Kafka at ${BROKERS}; make it:`)),
  )
  await live.until('the query waits', () => live.query('bronze_orders').isWaitingForSource)
  expect(live.query('bronze_orders').unreachable).toBeNull()
  await expect(live.do({ name: 'send' })).rejects.toMatchObject({ code: 'source-missing' })

  kafka.makeTopic()
  await live.until('the topic is seen', () => live.view()?.status.topics[0]?.endOffsets['0'] === '0')
  expect(live.said('topic').filter((text) => text.includes('arrived'))).toEqual([])
  expect(await live.do({ name: 'send' })).toBe('part 1 sent, 3 records')
  await live.until('its rows', () => live.status('bronze_orders')?.rows === 3)
})

test('the generator waits for a broker, says so once, and goes on', async () => {
  const kafka = new FakeKafka()
  const live = await openOn(kafka, { ratePerSecond: 20 })
  await live.until('generated orders', () => live.said('bronze_orders').some((text) => text.startsWith('batch')))
  kafka.goDown()
  const waits = () => live.said('topic').filter((text) => text.startsWith('the generator waits: Kafka at'))
  await live.until('the generator waits', () => waits().length > 0)
  kafka.comeUp()
  await live.until('the generator goes on', () => live.said('topic').includes('the generator goes on'))
  expect(waits()).toHaveLength(1)
  expect(live.session.state.generator).toEqual({ isOn: true, ratePerSecond: 20 })
})
