import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTopicOffsets, parseTopicOffsets } from '../../src/engine/topic-offset.js'
import { lostOffsets, planTopicRange, resolveStartingOffsets, type TopicPlanOptions, topicRanges } from '../../src/engine/topic-source-plan.js'
import { topicSourceOptions } from '../../src/engine/source-options.js'
import { StreamtopError } from '../../src/errors.js'

/** Offsets of partitions 0, 1, 2, … */
const at = (...offsets: (number | bigint)[]) => new Map(offsets.map((offset, partition) => [partition, BigInt(offset)]))

describe('the offsets of a topic as text', () => {
  it('64-bit, sorted by number, and read as data', () => {
    const offsets = new Map([
      [10, 9223372036854775807n],
      [2, 9007199254740993n],
      [0, 0n],
    ])
    const text = '{"orders":{"0":0,"2":9007199254740993,"10":9223372036854775807}}'
    expect(formatTopicOffsets('orders', offsets)).toBe(text)
    expect(parseTopicOffsets(text, 'orders', '')).toEqual(offsets)
    expect(parseTopicOffsets(' { "orders" : {"1" :2 , "0": 1 } }', 'orders', '')).toEqual(at(1, 2))
    expect(parseTopicOffsets('{"a\\"1\\\\":{"0":5}}', 'a"1\\', '')).toEqual(at(5))
  })

  it.each([
    '',
    '{',
    '[]',
    '5',
    '{"orders":5}',
    '{"orders":{"0":"5"}}',
    '{"orders":{"0":1e3}}',
    '{"orders":{"x":1}}',
    '{"orders":{"0":-2}}',
    '{"orders":{"0":9223372036854775808}}',
  ])('refuses %s', (text) =>
    expect(errorOf(() => parseTopicOffsets(text, 'orders', 'offsets/1'))).toMatchObject({
      code: 'checkpoint-damaged',
      message: expect.stringContaining('offsets/1'),
    }),
  )

  it('refuses another topic, and several', () => {
    for (const text of ['{"refunds":{"0":1}}', '{"orders":{"0":1},"refunds":{"0":1}}', '{}']) {
      expect(errorOf(() => parseTopicOffsets(text, 'orders', '')).code).toBe('checkpoint-foreign')
    }
  })

  it('comes back as it was', () => {
    const offsets = fc.uniqueArray(fc.tuple(fc.nat(300), fc.bigInt(0n, 2n ** 63n - 1n)), { selector: ([partition]) => partition })
    fc.assert(
      fc.property(fc.string(), offsets, (topic, pairs) => {
        const text = formatTopicOffsets(topic, new Map(pairs))
        expect(parseTopicOffsets(text, topic, '')).toEqual(new Map(pairs))
        expect(JSON.parse(text)).toBeTypeOf('object')
      }),
    )
  })
})

describe('where the next batch ends', () => {
  it('at the end of each partition, or nowhere', () => {
    expect(plan(at(0, 5), at(3, 5))).toEqual(at(3, 5))
    expect(plan(at(3, 5), at(3, 5))).toBeNull()
    expect(plan(null, at(3), {}, at(1))).toEqual(at(3))
    expect(plan(null, at(0), {}, at(0))).toBeNull()
  })

  it('a limit is shared out by what waits, rounded down, but up where it is less than one', () => {
    expect(plan(at(0, 0), at(90, 10), { maxOffsetsPerTrigger: 10 })).toEqual(at(9, 1))
    expect(plan(at(0, 0), at(99, 1), { maxOffsetsPerTrigger: 10 })).toEqual(at(9, 1))
    expect(plan(at(0, 0, 0), at(5, 5, 5), { maxOffsetsPerTrigger: 7 })).toEqual(at(2, 2, 2))
    expect(plan(at(0, 0, 0), at(5, 5, 5), { maxOffsetsPerTrigger: 1 })).toEqual(at(1, 1, 1))
    expect(plan(at(7, 0), at(7, 5), { maxOffsetsPerTrigger: 2 })).toEqual(at(7, 2))
    expect(plan(at(0), at(5), { maxOffsetsPerTrigger: 10 })).toEqual(at(5))
    const far = 2n ** 62n
    expect(plan(at(far), at(far + 10n), { maxOffsetsPerTrigger: 3 })).toEqual(at(far + 3n))
  })

  it('any limit reaches the end, goes only forward, and takes about that many', () => {
    const sizes = fc.array(fc.nat(50), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 20 }), (backlog, limit) => {
        const latest = at(...backlog)
        let start = at(...backlog.map(() => 0))
        for (let batch = 0; ; batch++) {
          const end = plan(start, latest, { maxOffsetsPerTrigger: limit })
          if (end === null) break
          const ranges = topicRanges(start, end, { earliest: at(...backlog.map(() => 0)), latest })
          const taken = ranges.reduce((sum, range) => sum + Number(range.end - range.start), 0)
          expect(taken).toBeGreaterThan(0)
          expect(taken).toBeLessThanOrEqual(limit + backlog.length)
          expect(batch).toBeLessThan(300)
          start = new Map(end)
        }
      }),
    )
  })

  it('nothing behind the end that availableNow fixed is taken, new partitions neither', () => {
    expect(plan(at(0), at(9), { upTo: at(4) })).toEqual(at(4))
    expect(plan(at(4), at(9), { upTo: at(4) })).toBeNull()
    expect(plan(at(5), at(9), { upTo: at(4) })).toBeNull()
    expect(plan(at(0), at(9, 3), { upTo: at(4) })).toEqual(at(4))
    expect(plan(at(4), at(9, 3), { upTo: at(4) })).toBeNull()
    expect(plan(at(0), at(9), { upTo: at(4), maxOffsetsPerTrigger: 1 })).toEqual(at(1))
  })

  it('a new partition is read from its first record', () => {
    const end = plan(at(3), at(3, 2))
    expect(end).toEqual(at(3, 2))
    expect(topicRanges(at(3), end ?? at(), { earliest: at(0, 0), latest: at(3, 2) })).toEqual([{ partition: 1, start: 0n, end: 2n }])
    expect(plan(at(3), at(3, 0))).toBeNull()
  })
})

describe('lost records', () => {
  it.each([
    { name: 'PARTITIONS_DELETED', start: at(3, 4), earliest: at(0), latest: at(5) },
    { name: 'PARTITION_OFFSET_CHANGED', start: at(9), earliest: at(0), latest: at(5) },
    { name: 'COULD_NOT_READ_OFFSET_RANGE', start: at(3), earliest: at(4), latest: at(9) },
    { name: 'ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO', start: at(3), earliest: at(0, 2), latest: at(3, 9) },
  ])('$name', ({ name, start, earliest, latest }) => {
    expect(errorOf(() => planTopicRange(start, earliest, latest))).toMatchObject({ code: 'data-loss', condition: `KAFKA_DATA_LOSS.${name}` })
    expect(planTopicRange(start, earliest, latest, { failOnDataLoss: false })).toEqual(latest)
  })

  it('without failOnDataLoss what is left is read', () => {
    const read = (start: Map<number, bigint>, end: Map<number, bigint>, earliest: Map<number, bigint>, latest: Map<number, bigint>) =>
      topicRanges(start, end, { earliest, latest, failOnDataLoss: false })
    expect(read(at(3), at(9), at(5), at(9))).toEqual([{ partition: 0, start: 5n, end: 9n }])
    expect(read(at(3), at(9), at(0), at(7))).toEqual([{ partition: 0, start: 3n, end: 7n }])
    expect(read(at(3, 1), at(9, 2), at(0), at(9))).toEqual([{ partition: 0, start: 3n, end: 9n }])
    expect(read(at(9), at(5), at(0), at(5))).toEqual([])
  })

  it('without failOnDataLoss a new partition that has lost all it had is taken note of, once', () => {
    const [earliest, latest] = [at(0, 5), at(3, 5)]
    const end = planTopicRange(at(3), earliest, latest, { failOnDataLoss: false })
    expect(end).toEqual(latest)
    expect(topicRanges(at(3), end ?? at(), { earliest, latest, failOnDataLoss: false })).toEqual([])
    expect(lostOffsets(at(3), end ?? at(), { earliest, latest })).toEqual([{ partition: 1, count: 5n }])
    expect(planTopicRange(end, earliest, latest, { failOnDataLoss: false })).toBeNull()
    // One that has lost a part of it, too.
    expect(lostOffsets(at(3), at(3, 9), { earliest, latest: at(3, 9) })).toEqual([{ partition: 1, count: 5n }])
  })

  it('a batch that runs again needs its whole range', () => {
    const again = (latest: Map<number, bigint>) => topicRanges(at(1, 1), at(5, 5), { earliest: at(0, 0), latest })
    expect(again(at(9, 5))).toHaveLength(2)
    expect(errorOf(() => again(at(4, 9))).condition).toBe('KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED')
    expect(errorOf(() => again(at(9))).condition).toBe('KAFKA_DATA_LOSS.PARTITIONS_DELETED')
  })
})

describe('a batch that ends before it begins', () => {
  const ranges = (start: Map<number, bigint> | null, end: Map<number, bigint>, earliest: Map<number, bigint>, failOnDataLoss?: boolean) =>
    topicRanges(start, end, { earliest, latest: at(9, 9), ...(failOnDataLoss === undefined ? {} : { failOnDataLoss }) })

  it.each([
    { what: 'one partition of two', start: at(2, 7), end: at(5, 6), earliest: at(0, 0), sentence: /offset 6 of partition 1, before it begins, at 7/ },
    { what: 'no start, and the records are gone', start: null, end: at(5, 9), earliest: at(6, 0), sentence: /offset 5 of partition 0, before it begins, at 6/ },
  ])('is refused by name: $what', ({ start, end, earliest, sentence }) => {
    const error = errorOf(() => ranges(start, end, earliest))
    expect(error).toMatchObject({ code: 'data-loss', condition: 'KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED', message: expect.stringMatching(sentence) })
  })

  it('has no records there without failOnDataLoss, and none where it ends as it begins', () => {
    expect(ranges(at(2, 7), at(5, 6), at(0, 0), false)).toEqual([{ partition: 0, start: 2n, end: 5n }])
    expect(ranges(at(2, 7), at(5, 7), at(0, 0))).toEqual([{ partition: 0, start: 2n, end: 5n }])
  })
})

describe('where a new query begins', () => {
  const resolve = (option: string, earliest = at(2, 0), latest = at(9, 4)) =>
    resolveStartingOffsets(topicSourceOptions([`startingOffsets=${option}`]).startingOffsets ?? 'latest', earliest, latest, 'orders')

  it('earliest, latest, and numbers', () => {
    expect(resolve('earliest')).toEqual(at(2, 0))
    expect(resolve('LATEST')).toEqual(at(9, 4))
    expect(resolve('{"orders":{"1":3,"0":-2}}')).toEqual(at(2, 3))
    expect(resolve('{"orders":{"0":9,"1":-1}}')).toEqual(at(9, 4))
  })

  it.each(['{"orders":{"0":5}}', '{"orders":{"0":5,"1":0,"2":0}}', '{"refunds":{"0":5,"1":0}}', '{"orders":{"0":5,"1":0},"refunds":{"0":1}}'])(
    'every partition must be listed: %s',
    (option) => expect(errorOf(() => resolve(option))).toMatchObject({ code: 'usage', condition: 'KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED' }),
  )

  it('an offset that is not there', () => {
    for (const option of ['{"orders":{"0":1,"1":0}}', '{"orders":{"0":10,"1":0}}']) {
      expect(errorOf(() => resolve(option)).condition).toBe('KAFKA_DATA_LOSS.START_OFFSET_RESET')
    }
  })
})

function plan(start: Map<number, bigint> | null, latest: Map<number, bigint>, options: TopicPlanOptions = {}, earliest?: Map<number, bigint>) {
  return planTopicRange(start, earliest ?? new Map([...latest.keys()].map((partition) => [partition, 0n])), latest, options)
}

function errorOf(run: () => unknown): StreamtopError {
  try {
    run()
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
  throw new Error('it did not throw')
}
