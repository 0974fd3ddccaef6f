/** The fetcher without a broker: what it asks, and what it makes of the answers. */
import { describe, expect, it } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { ByteReader } from '../../src/topic/kafka-bytes.js'
import { KafkaAnswerError } from '../../src/topic/kafka-errors.js'
import { createFetcher, type Fetcher } from '../../src/topic/kafka-fetcher.js'
import { createPatience } from '../../src/topic/kafka-patience.js'
import type { FetchAnswer, FetchedPartition, FetchPosition, KafkaRequest, TopicMetadata } from '../../src/topic/kafka-requests.js'
import { batchBytes } from './record-batch-bytes.js'

const METADATA: TopicMetadata = {
  nodes: [{ id: 1, host: 'a', port: 1 }],
  clusterId: 'c',
  errorCode: 0,
  topicId: 't',
  partitions: [{ partition: 0, leader: 1, errorCode: 0 }],
}
const SETTINGS = { brokers: [{ host: 'a', port: 1 }], tls: null, sasl: null }

/** Time passes only while somebody sleeps. */
function patientEffects() {
  let nowMs = 0
  return {
    ...realEffects,
    monotonicMs: () => nowMs,
    sleep: async (durationMs: number) => {
      nowMs += durationMs
    },
  }
}

interface Script {
  readonly fetcher: Fetcher
  asked: number
  /** What each fetch asked for. */
  readonly positions: FetchPosition[][]
  /** What the next question about the topic brings. */
  metadata: TopicMetadata
}

/** A fetcher whose broker gives these answers in turn, and the last one from then on. */
function fetcherOf(...answers: readonly (Partial<FetchedPartition> | Error)[]): Script {
  const fx = patientEffects()
  const script = { asked: 0, positions: [], metadata: METADATA } as unknown as Omit<Script, 'fetcher'> & { fetcher: Fetcher }
  let metadata = METADATA
  const ask = async (_leader: number, { body }: KafkaRequest<unknown>): Promise<FetchAnswer> => {
    script.positions.push(positionsOf(body))
    const answer = answers[Math.min(script.asked++, answers.length - 1)] as Partial<FetchedPartition> | Error
    if (answer instanceof Error) throw answer
    await fx.sleep(100)
    return {
      errorCode: 0,
      partitions: [{ partition: 0, errorCode: 0, highWatermark: 100n, lastStableOffset: 100n, aborted: [], records: Buffer.alloc(0), ...answer }],
    }
  }
  const patience = createPatience({ settings: SETTINGS, signal: new AbortController().signal, onOutage: () => {} }, fx)
  const known = async () => ({ metadata, ask: ask as never })
  const refresh = async () => {
    metadata = script.metadata
    return metadata
  }
  script.fetcher = createFetcher({ name: 'orders', known, refresh, forget: () => {}, patience, isolation: () => 'read_uncommitted' }, fx)
  return script
}

/** Out of a Fetch request for one topic. */
function positionsOf(body: Uint8Array): FetchPosition[] {
  const reader = new ByteReader(body)
  reader.skip(6 * 4 + 1)
  const [positions = []] = reader.array(() => {
    reader.string()
    return reader.array(() => {
      const partition = reader.int32()
      reader.skip(4)
      const offset = reader.int64()
      reader.skip(8 + 4)
      return { partition, offset }
    })
  })
  return positions
}

async function read({ fetcher }: Script, start: bigint, end: bigint): Promise<bigint[]> {
  const offsets: bigint[] = []
  for await (const batch of fetcher.read(0, start, end)) offsets.push(...batch.offsets)
  return offsets
}

const batch = (baseOffset: bigint, count = 1, attributes = 0) =>
  batchBytes({ baseOffset, attributes, records: Array.from({ length: count }, (_, offsetDelta) => ({ offsetDelta, value: 'v' })) })

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1)
  return copy
}

describe('a range', () => {
  it('is asked for until it is whole', async () => {
    const script = fetcherOf({ records: batch(0n, 3) }, { records: batch(3n, 2) }, { records: batch(5n, 9) })
    expect(await read(script, 1n, 7n)).toEqual([1n, 2n, 3n, 4n, 5n, 6n])
    expect(script.asked).toBe(3)
  })

  it('goes on after what passes: a leader that moves, a socket that breaks', async () => {
    const script = fetcherOf({ errorCode: 6 }, new Error('closed'), { records: batch(0n, 2) })
    expect(await read(script, 0n, 2n)).toEqual([0n, 1n])
  })

  it('of a codec that nobody knows is refused with its place', async () => {
    await expect(read(fetcherOf({ records: batch(41n, 1, 5) }), 41n, 42n)).rejects.toMatchObject({
      code: 'unsupported-feature',
      message: 'topic orders, partition 0, offset 41: the records are compressed with codec 5',
    })
  })

  it('that was damaged on the way is asked for again, and refused when it stays so', async () => {
    const good = batch(0n, 2)
    expect(await read(fetcherOf({ records: damaged(good) }, { records: damaged(good) }, { records: good }), 0n, 2n)).toEqual([0n, 1n])
    const script = fetcherOf({ records: damaged(good) })
    await expect(read(script, 0n, 2n)).rejects.toMatchObject({
      code: 'bad-record',
      condition: 'CORRUPT_MESSAGE',
      message: 'topic orders, partition 0: the record batch at offset 0 is damaged: its checksum does not fit',
    })
    expect(script.asked).toBe(3)
  })

  it('that is out of reach, or of which nothing comes any more, is data loss', async () => {
    await expect(read(fetcherOf({ errorCode: 1 }), 5n, 9n)).rejects.toMatchObject({
      code: 'data-loss',
      message: 'topic orders, partition 0: the records at offset 5 and on, up to 9, are gone',
    })
    await expect(read(fetcherOf({ highWatermark: 7n }), 5n, 9n)).rejects.toMatchObject({
      code: 'data-loss',
      message: expect.stringMatching(/nothing comes from offset 5 on, and the batch ends at 9; the broker has it up to 7/),
    })
  })

  it('that the broker refuses for good is not asked for again', async () => {
    const script = fetcherOf(new KafkaAnswerError(29, 'Fetch of partition 0'))
    await expect(read(script, 0n, 1n)).rejects.toMatchObject({ code: 'bad-config', condition: 'TOPIC_AUTHORIZATION_FAILED' })
    expect(script.asked).toBe(1)
  })
})

describe('waiting', () => {
  it('ends with a record, which is not asked for again', async () => {
    const script = fetcherOf({ highWatermark: 4n }, { highWatermark: 5n, records: batch(4n) })
    await script.fetcher.waitForMore(new Map([[0, 4n]]), new AbortController().signal)
    expect(script.asked).toBe(2)
    expect(await read(script, 4n, 5n)).toEqual([4n])
    expect(script.asked).toBe(2)
  })

  it('ends with a partition that nobody has read, and with offsets that are gone', async () => {
    await fetcherOf({}).fetcher.waitForMore(new Map(), new AbortController().signal)
    await fetcherOf({ errorCode: 1 }).fetcher.waitForMore(new Map([[0, 4n]]), new AbortController().signal)
  })

  it('does not end with a new partition as long as that has no record', async () => {
    const script = fetcherOf({ highWatermark: 0n }, { highWatermark: 0n }, { highWatermark: 1n, records: batch(0n) })
    await script.fetcher.waitForMore(new Map(), new AbortController().signal)
    expect(script.asked).toBe(3)
    expect(await read(script, 0n, 1n)).toEqual([0n])
    expect(script.asked).toBe(3)
  })

  it('takes a partition that is made meanwhile along', async () => {
    const two = { ...METADATA, partitions: [...METADATA.partitions, { partition: 1, leader: 1, errorCode: 0 }] }
    const script = fetcherOf({ highWatermark: 4n }, { partition: 1, highWatermark: 0n }, { partition: 1, highWatermark: 2n, records: batch(0n, 2) })
    script.metadata = two
    await script.fetcher.waitForMore(new Map([[0, 4n]]), new AbortController().signal)
    expect(script.positions.at(-1)).toEqual([
      { partition: 0, offset: 4n },
      { partition: 1, offset: 0n },
    ])
  })

  it('what it brought is of no use to another range', async () => {
    const script = fetcherOf({ highWatermark: 5n, records: batch(4n) }, { records: batch(2n, 3) })
    await script.fetcher.waitForMore(new Map([[0, 4n]]), new AbortController().signal)
    expect(await read(script, 2n, 5n)).toEqual([2n, 3n, 4n])
    expect(script.asked).toBe(2)
  })
})
