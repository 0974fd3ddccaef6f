/**
 * Which records of a topic the next batch takes: pure over the offsets that are there. Limits are shared out among partitions
 * as Spark's Kafka source does (formats page §3.2), and lost records are told by its names (§3.3).
 */
import { StreamtopError } from '../errors.js'
import type { PartitionOffsets } from '../topic/topic.js'
import type { StartingOffsets } from './source-options.js'

export interface TopicPlanOptions {
  /** Records a batch takes, about: each partition gets its share of them. Null for no limit. */
  readonly maxOffsetsPerTrigger?: number | null
  /** With availableNow: where each partition ended when the run started; nothing beyond is taken. */
  readonly upTo?: PartitionOffsets | null
  /** False goes on where records are lost, as Spark's option of that name. */
  readonly failOnDataLoss?: boolean
}

/** One partition's part of a batch; the end is exclusive. */
export interface PartitionRange {
  readonly partition: number
  readonly start: bigint
  readonly end: bigint
}

/**
 * Where the next batch ends in each partition, or null when there is no new record.
 * @param start where the batch before ended, or where the query begins; null for the first record of each partition
 * @param earliest the first offset of each partition that can be read
 * @param latest the next offset that each partition will give out
 * @throws data-loss when records after the start are gone, or a partition is
 */
export function planTopicRange(
  start: PartitionOffsets | null,
  earliest: PartitionOffsets,
  latest: PartitionOffsets,
  options: TopicPlanOptions = {},
): PartitionOffsets | null {
  const failOnDataLoss = options.failOnDataLoss ?? true
  const from = start ?? earliest
  if (failOnDataLoss) checkNothingLost(from, earliest, latest, start !== null)
  const until = reachable(from, latest, options.upTo ?? null)
  const ends = shareOut(from, earliest, until, options.maxOffsetsPerTrigger ?? null)
  // Not only further: without failOnDataLoss a partition that was cut goes on from its new end, and a new one may have lost all it had.
  const moved = [...ends].some(([partition, end]) => end !== (from.get(partition) ?? 0n))
  return moved ? ends : null
}

/**
 * The ranges of a batch whose end is fixed, partitions without a record left out, in ascending order of partition.
 * @throws data-loss when a record of them is gone, or a partition ends before it begins, as it may after a batch without failOnDataLoss
 */
export function topicRanges(
  start: PartitionOffsets | null,
  end: PartitionOffsets,
  { earliest, latest, failOnDataLoss = true }: { readonly earliest: PartitionOffsets; readonly latest: PartitionOffsets; readonly failOnDataLoss?: boolean },
): PartitionRange[] {
  const from = start ?? earliest
  if (failOnDataLoss) checkNothingLost(from, earliest, latest, start !== null)
  const ranges: PartitionRange[] = []
  for (const [partition, until] of inOrder(end)) {
    const there = latest.get(partition)
    if (failOnDataLoss && (there === undefined || there < until)) throw cutShort(partition, until, there)
    const begun = beginning(partition, from, earliest)
    if (failOnDataLoss && until < begun) throw backwards(partition, begun, until)
    const first = largest(begun, earliest.get(partition) ?? 0n)
    const last = there === undefined ? first : smallest(there, until)
    if (last > first) ranges.push({ partition, start: first, end: last })
  }
  return ranges
}

export interface LostOffsets {
  readonly partition: number
  /** Offsets of the batch that can no longer be read; there may have been fewer records. */
  readonly count: bigint
}

/** What a batch without failOnDataLoss leaves out, in ascending order of partition; partitions that lost nothing are left out. */
export function lostOffsets(
  start: PartitionOffsets | null,
  end: PartitionOffsets,
  bounds: { readonly earliest: PartitionOffsets; readonly latest: PartitionOffsets },
): LostOffsets[] {
  const ranges = topicRanges(start, end, { ...bounds, failOnDataLoss: false })
  const from = start ?? bounds.earliest
  return [...inOrder(end)].flatMap(([partition, until]) => {
    const range = ranges.find((found) => found.partition === partition)
    // Of a new partition all is wanted, from offset 0 on.
    const count = until - (from.get(partition) ?? 0n) - (range ? range.end - range.start : 0n)
    return count > 0n ? [{ partition, count }] : []
  })
}

/**
 * The offsets that a new query begins with, as `sources/0/0` records them: resolved numbers for each partition.
 * @param topic whose offsets are taken when the option has them by topic
 * @throws usage when the option does not list exactly the topic's partitions, data-loss when an offset is not there
 */
export function resolveStartingOffsets(option: StartingOffsets, earliest: PartitionOffsets, latest: PartitionOffsets, topic: string): PartitionOffsets {
  if (option === 'earliest') return inOrder(earliest)
  if (option === 'latest') return inOrder(latest)
  const wanted = option.get(topic)
  if (option.size !== 1 || wanted === undefined || wanted.size !== latest.size || [...latest.keys()].some((partition) => !wanted.has(partition))) {
    throw new StreamtopError('usage', `startingOffsets must list exactly the partitions of topic ${topic}: ${[...inOrder(latest).keys()].join(', ')}`, {
      hint: 'give each its offset, -2 for the earliest or -1 for the latest',
      condition: 'KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED',
    })
  }
  const resolved = new Map<number, bigint>()
  for (const [partition, offset] of inOrder(wanted)) {
    const [first, next] = [earliest.get(partition) ?? 0n, latest.get(partition) ?? 0n]
    const at = offset === EARLIEST ? first : offset === LATEST ? next : offset
    if (at < first || at > next) {
      throw dataLoss(
        'START_OFFSET_RESET',
        `startingOffsets asks for offset ${at} of partition ${partition}, which has ${first} to ${next}`,
        'ask for an offset that is there',
      )
    }
    resolved.set(partition, at)
  }
  return resolved
}

const LATEST = -1n
const EARLIEST = -2n

/** Partitions that were there before must be there still, and their records from the start on. A new one must be read from its very first record. */
function checkNothingLost(from: PartitionOffsets, earliest: PartitionOffsets, latest: PartitionOffsets, hasStart: boolean): void {
  const gone = [...from.keys()].filter((partition) => !latest.has(partition))
  if (gone.length > 0) throw dataLoss('PARTITIONS_DELETED', `partition ${gone.join(', ')} of the topic is gone`)
  for (const [partition, end] of inOrder(latest)) {
    const first = earliest.get(partition) ?? 0n
    const start = from.get(partition)
    if (start === undefined) {
      if (hasStart && first !== 0n) {
        throw dataLoss(
          'ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO',
          `partition ${partition} is new and begins at offset ${first}: what stood before is gone`,
        )
      }
    } else if (end < start) {
      throw dataLoss(
        'PARTITION_OFFSET_CHANGED',
        `partition ${partition} was read up to offset ${start} and now ends at ${end}: ${counted(start - end)} before that are gone, the topic was made again or cut`,
      )
    } else if (start < first) {
      throw dataLoss(
        'COULD_NOT_READ_OFFSET_RANGE',
        `partition ${partition} was read up to offset ${start} and now begins at ${first}: ${counted(first - start)} between are gone`,
      )
    }
  }
}

/** The furthest a batch may go: the end, or where the run's end was fixed. A partition that is newer than that waits. */
function reachable(from: PartitionOffsets, latest: PartitionOffsets, upTo: PartitionOffsets | null): PartitionOffsets {
  if (upTo === null) return inOrder(latest)
  const until = new Map<number, bigint>()
  for (const [partition, end] of inOrder(latest)) {
    const fixed = upTo.get(partition)
    const start = from.get(partition)
    if (fixed === undefined) {
      if (start !== undefined) until.set(partition, start)
    } else {
      // A run that found more committed than its end was fixed at stays where it is.
      const bound = start !== undefined && start > fixed ? start : fixed
      until.set(partition, smallest(bound, end))
    }
  }
  return until
}

/**
 * Each partition gets the limit times its part of what is waiting, in floating point as Spark computes it: rounded down, but up
 * where it is less than one record, so that a small partition is never starved.
 */
function shareOut(from: PartitionOffsets, earliest: PartitionOffsets, until: PartitionOffsets, limit: number | null): PartitionOffsets {
  if (limit === null) return until
  let waiting = 0
  for (const [partition, end] of until) waiting += Math.max(0, Number(end - beginning(partition, from, earliest)))
  if (waiting < 1) return until
  const ends = new Map<number, bigint>()
  for (const [partition, end] of until) {
    const start = beginning(partition, from, earliest)
    const size = Number(end - start)
    if (size <= 0) {
      ends.set(partition, end)
      continue
    }
    const share = limit * (size / waiting)
    const shared = start + BigInt(share < 1 ? Math.ceil(share) : Math.floor(share))
    ends.set(partition, smallest(shared, end))
  }
  return ends
}

/** A partition without a start is new: it begins at its first record. */
function beginning(partition: number, from: PartitionOffsets, earliest: PartitionOffsets): bigint {
  return from.get(partition) ?? earliest.get(partition) ?? 0n
}

function inOrder(offsets: PartitionOffsets): Map<number, bigint> {
  return new Map([...offsets].sort(([a], [b]) => a - b))
}

/** Math.max and Math.min know no bigints. */
function largest(a: bigint, b: bigint): bigint {
  return a < b ? b : a
}

function smallest(a: bigint, b: bigint): bigint {
  return b < a ? b : a
}

function cutShort(partition: number, until: bigint, there: bigint | undefined): StreamtopError {
  if (there === undefined) return dataLoss('PARTITIONS_DELETED', `partition ${partition} of the topic is gone`)
  return dataLoss(
    'PARTITION_OFFSET_CHANGED',
    `the batch ends at offset ${until} of partition ${partition}, which now ends at ${there}: the topic was made again or cut`,
  )
}

function backwards(partition: number, begun: bigint, until: bigint): StreamtopError {
  return dataLoss(
    'PARTITION_OFFSET_CHANGED',
    `the batch ends at offset ${until} of partition ${partition}, before it begins, at ${begun}: the topic was made again or cut, or the offsets file was changed`,
  )
}

function counted(offsets: bigint): string {
  return offsets === 1n ? '1 offset' : `${offsets} offsets`
}

function dataLoss(name: string, sentence: string, hint?: string): StreamtopError {
  return new StreamtopError('data-loss', sentence, {
    hint:
      hint ?? '--option failOnDataLoss=false goes on without the lost records; "streamtop reset" makes a new checkpoint, which reads everything that is left',
    condition: `KAFKA_DATA_LOSS.${name}`,
  })
}
