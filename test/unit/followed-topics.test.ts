/** Topics that are followed in the background: a look never waits for a broker that hangs. Time is told by hand. */
import { expect, test } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import { followTopics } from '../../src/observe/followed-topics.js'
import type { KafkaTopicEnds } from '../../src/topic/kafka-topic-ends.js'
import type { PartitionOffsets } from '../../src/topic/topic.js'

type Answer = ReadonlyMap<string, PartitionOffsets>

/** Sleeps end when they are told to. */
function handClock() {
  const sleeping: { readonly durationMs: number; end(): void }[] = []
  const fx: Effects = {
    ...realEffects,
    nowMs: () => 1_000,
    sleep: (durationMs, signal) =>
      new Promise((resolve) => {
        sleeping.push({ durationMs, end: resolve })
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
  }
  return {
    fx,
    pass(durationMs: number) {
      for (const sleep of sleeping.splice(0)) sleep.durationMs <= durationMs ? sleep.end() : sleeping.push(sleep)
    },
  }
}

/** Brokers that answer when they are told to; counts connections. */
function brokers() {
  const asked: { answer(found: Answer): void; fail(error: Error): void }[] = []
  const counts = { opened: 0, closed: 0 }
  const open = (): KafkaTopicEnds => {
    counts.opened += 1
    return {
      look: () => new Promise((answer, fail) => void asked.push({ answer, fail })),
      close: async () => {
        counts.closed += 1
      },
    }
  }
  return { open, counts, asked }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const ends = (end: bigint): Answer => new Map([['orders', new Map([[0, end]])]])

test('the first look and one at brokers that hang get what is known; after two seconds they are down and asked anew', async () => {
  const { fx, pass } = handClock()
  const { open, asked, counts } = brokers()
  const followed = followTopics(open, 'b:9092', fx)
  expect(await followed.look()).toMatchObject({ topics: [], kafka: { state: 'connecting', topicsOfMs: null } })
  asked[0]?.answer(ends(5n))
  await settled()

  const second = followed.look()
  asked[1]?.answer(ends(7n))
  expect(await second).toMatchObject({ topics: [{ kind: 'kafka', endOffsets: { 0: '7' } }], kafka: { state: 'connected', lastError: null } })

  const hanging = followed.look()
  pass(25)
  expect(await hanging).toMatchObject({ topics: [{ endOffsets: { 0: '7' } }], kafka: { state: 'connected' } })
  expect({ questions: asked.length, ...counts }).toEqual({ questions: 3, opened: 1, closed: 0 })
  pass(2_000)
  await settled()
  const down = await followed.look()
  expect(down).toMatchObject({ topics: [{ endOffsets: { 0: '7' } }], errors: [] })
  expect(down.kafka).toMatchObject({ state: 'down', topicsOfMs: 1_000, lastError: { message: 'Kafka at b:9092 has not answered for 2 s' } })
  expect({ questions: asked.length, ...counts }).toEqual({ questions: 4, opened: 2, closed: 1 })

  asked[3]?.answer(ends(9n))
  await settled()
  const up = followed.look()
  pass(25)
  expect(await up).toMatchObject({ topics: [{ endOffsets: { 0: '9' } }], kafka: { state: 'connected', topicsOfMs: null, lastError: null } })
  await followed.close()
})

test('while they are down the status stays the same object for object, so that an idle dashboard has nothing to count anew', async () => {
  const { fx } = handClock()
  const { open, asked } = brokers()
  const followed = followTopics(open, 'b:9092', fx)
  await followed.look()
  for (const question of [0, 1]) {
    asked[question]?.fail(new Error('connect ECONNREFUSED'))
    await settled()
    expect(JSON.stringify((await followed.look()).kafka)).toBe(
      '{"brokers":"b:9092","state":"down","sinceMs":1000,"topicsOfMs":null,"lastError":{"code":"internal","message":"connect ECONNREFUSED","hint":null,"condition":null}}',
    )
  }
  await followed.close()
})
