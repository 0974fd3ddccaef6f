/** What a checkpoint says of a topic on Kafka, and what is told of records that are gone. */
import { describe, expect, it } from 'vitest'
import { topicSourceOptions } from '../../src/engine/source-options.js'
import { checkOffsetsFit, isolationOf, type RecordedTopic } from '../../src/engine/topic-source-files.js'
import { lostOffsets } from '../../src/engine/topic-source-plan.js'
import type { StreamtopError } from '../../src/errors.js'

const KAFKA: RecordedTopic = { kind: 'kafka', name: 'orders', topicId: 'k', clusterId: 'c' }

function at(...offsets: number[]): Map<number, bigint> {
  return new Map(offsets.map((offset, partition) => [partition, BigInt(offset)]))
}

function errorOf(work: () => unknown): StreamtopError {
  try {
    work()
  } catch (error) {
    return error as StreamtopError
  }
  throw new Error('nothing was thrown')
}

describe('the isolation level', () => {
  it('is an option with two values', () => {
    expect(topicSourceOptions(['KAFKA.isolation.LEVEL=read_committed']).isolation).toBe('read_committed')
    expect(errorOf(() => topicSourceOptions(['kafka.isolation.level=serializable']))).toMatchObject({ code: 'usage' })
  })

  it('is as asked for a new checkpoint, and Spark’s default when nobody asks', () => {
    expect(isolationOf('f', null, 'read_committed')).toBe('read_committed')
    expect(isolationOf('f', null, null)).toBe('read_uncommitted')
  })

  it('is as recorded from then on', () => {
    const recorded = { ...KAFKA, isolation: 'read_committed' } as const
    expect(isolationOf('f', recorded, null)).toBe('read_committed')
    expect(isolationOf('f', recorded, 'read_committed')).toBe('read_committed')
    expect(errorOf(() => isolationOf('f', recorded, 'read_uncommitted'))).toMatchObject({ code: 'usage', message: expect.stringContaining('read_committed') })
    expect(isolationOf('f', KAFKA, null)).toBe('read_uncommitted')
  })

  it('is no matter to the embedded topic', () => {
    const embedded: RecordedTopic = { kind: 'embedded', name: 'orders', topicId: 'e' }
    for (const asked of ['read_committed', 'read_uncommitted'] as const) expect(isolationOf('f', embedded, asked)).toBe(asked)
  })
})

describe('offsets that say of no topic', () => {
  const checkFits = (end: Map<number, bigint>) => checkOffsetsFit('f', end, { actual: KAFKA, earliest: at(2, 0), latest: at(9, 4) })

  it.each([[at(2, 0)], [at(9, 4)], [at(5)]])('%o may be of a topic that has them', (end) => {
    expect(() => checkFits(end)).not.toThrow()
  })

  it.each([
    [at(1, 0), /offset 1 of partition 0.*has from 2 to 9/],
    [at(9, 5), /offset 5 of partition 1.*has from 0 to 4/],
    [at(9, 4, 0), /offset 0 of partition 2.*does not have/],
  ])('%o are another topic’s', (end, message) => {
    expect(errorOf(() => checkFits(end))).toMatchObject({ code: 'checkpoint-foreign', message: expect.stringMatching(message) })
  })
})

describe('what a batch leaves out without failOnDataLoss', () => {
  it.each([
    ['nothing', at(0, 0), at(5, 5), at(0, 0), at(5, 9), []],
    ['the beginning', at(2, 0), at(9, 5), at(6, 0), at(9, 9), [{ partition: 0, count: 4n }]],
    ['the end', at(2, 0), at(9, 5), at(0, 0), at(7, 9), [{ partition: 0, count: 2n }]],
    ['everything', at(2, 0), at(9, 5), at(12, 0), at(20, 9), [{ partition: 0, count: 7n }]],
    ['a partition', at(2, 1), at(9, 5), at(0), at(9), [{ partition: 1, count: 4n }]],
  ])('%s', (_, start, end, earliest, latest, lost) => {
    expect(lostOffsets(start, end, { earliest, latest })).toEqual(lost)
  })
})
