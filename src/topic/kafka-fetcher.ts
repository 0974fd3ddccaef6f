/**
 * Fetches of a Kafka topic: exact ranges, and one fetch that is left open while nothing is wanted.
 *
 * The open fetch stands at the end of the last batch; the broker answers it when a record comes. What it brought is the head of the
 * next range and is not asked for again. Memory: one answer of a range at a time, and what the open fetch may bring.
 */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { codecName, loadCodec } from './kafka-codecs.js'
import { KafkaAnswerError, OFFSET_OUT_OF_RANGE } from './kafka-errors.js'
import { isStopped, type Patience } from './kafka-patience.js'
import { type FetchAnswer, type FetchedPartition, type FetchPosition, fetchRequest, partitionsByLeader, type TopicMetadata } from './kafka-requests.js'
import type { KnownTopic } from './kafka-topic.js'
import { codecsOf, type Decompress, decodeRecordBatches, type DecodedRecords, RecordBatchError } from './record-batch-decoder.js'
import type { Isolation, PartitionOffsets, RecordBatch } from './topic.js'

export interface Fetcher {
  read(partition: number, start: bigint, end: bigint): AsyncIterable<RecordBatch>
  waitForMore(past: PartitionOffsets, signal: AbortSignal): Promise<void>
  close(): void
}

export interface FetcherOptions {
  readonly name: string
  known(): Promise<KnownTopic>
  /** Asks anew where the topic is; throws when it is another one. */
  refresh(): Promise<TopicMetadata>
  /** Takes what is known for out of date. */
  forget(): void
  readonly patience: Patience
  isolation(): Isolation
}

/** Of one fetch of a range. Larger answers are no faster, and all of one is in memory at once. */
const RANGE_BYTES = 4 * 1024 * 1024
const OPEN_FETCH_BYTES = 1024 * 1024
/** How long the open fetch stands; also how often somebody who waits looks for new partitions. */
const OPEN_FETCH_WAIT_MS = 1_000
/** A fetch of a range waits for records only when a broker has just come back and does not show them yet. */
const RANGE_WAIT_MS = 100
const STUCK_MS = 3_000
/** A batch that was damaged on the way comes whole the next time. */
const DAMAGED_TRIES = 3

/** Fetches at the ends of the partitions that one broker leads. */
interface OpenFetch {
  readonly positions: readonly FetchPosition[]
  isAnswered: boolean
  /** Never rejects. */
  readonly answer: Promise<FetchAnswer | Error>
}

export function createFetcher(options: FetcherOptions, fx: Effects): Fetcher {
  const { name, known, refresh, forget, patience, isolation } = options
  /** By leader. */
  const open = new Map<number, OpenFetch>()
  /** What open fetches brought, by partition. */
  const held = new Map<number, { readonly offset: bigint; readonly fetched: FetchedPartition }>()
  const codecs = new Map<number, Decompress | null>()

  async function* read(partition: number, start: bigint, end: bigint): AsyncGenerator<RecordBatch> {
    let position = start
    let stuckSinceMs: number | null = null
    let damagedCount = 0
    while (position < end) {
      const fetched = await take(partition, position, end)
      let decoded: DecodedRecords
      try {
        decoded = await decode(fetched, position, end)
      } catch (error) {
        if (!(error instanceof RecordBatchError)) throw error
        if (++damagedCount >= DAMAGED_TRIES) throw damaged(name, partition, error)
        continue
      }
      if (decoded.rowCount > 0) yield decoded
      if (decoded.position > position) {
        position = decoded.position
        stuckSinceMs = null
        continue
      }
      // A broker that has just come back may not show the end of the log yet.
      stuckSinceMs ??= fx.monotonicMs()
      if (fx.monotonicMs() - stuckSinceMs > STUCK_MS) throw cutShort(name, partition, position, end, fetched)
    }
  }

  /** Record batches of a partition from an offset on: what was brought already, or a fetch of its own. */
  async function take(partition: number, offset: bigint, end: bigint): Promise<FetchedPartition> {
    for (const fetch of open.values()) {
      // The broker answers one fetch after the other. This one is answered now, for there are records.
      if (!fetch.isAnswered && fetch.positions.some((position) => position.partition === partition)) await patience.unlessStopped(fetch.answer)
    }
    const kept = held.get(partition)
    held.delete(partition)
    if (kept?.offset === offset) return kept.fetched
    return patience.until(
      async () => {
        const { metadata, ask } = await known()
        const place = metadata.partitions.find((found) => found.partition === partition)
        if (!place) throw partitionGone(name, partition)
        const limits = { waitMs: RANGE_WAIT_MS, bytes: RANGE_BYTES, bytesOfPartition: RANGE_BYTES }
        const { errorCode, partitions } = await ask(place.leader, fetchRequest(name, [{ partition, offset }], isolation(), limits))
        const fetched = partitions.find((answer) => answer.partition === partition)
        const code = errorCode || (fetched?.errorCode ?? -1)
        if (code === OFFSET_OUT_OF_RANGE) {
          // It may be another topic's offset: that would be the better thing to say.
          await refresh()
          throw outOfRange(name, partition, offset, end)
        }
        if (code !== 0 || !fetched) throw new KafkaAnswerError(code, `Fetch of partition ${partition}`)
        return fetched
      },
      undefined,
      forget,
    )
  }

  async function decode({ partition, records, aborted }: FetchedPartition, start: bigint, end: bigint): Promise<DecodedRecords> {
    for (const number of codecsOf(records)) if (!codecs.has(number)) codecs.set(number, await loadCodec(number))
    const codec = (number: number, offset: bigint): Decompress => {
      const loaded = codecs.get(number)
      if (loaded) return loaded
      throw unknownCodec(name, partition, offset, number)
    }
    return decodeRecordBatches(records, { partition, start, end, aborted: isolation() === 'read_committed' ? aborted : [], codec })
  }

  async function waitForMore(past: PartitionOffsets, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const aborted = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { signal: ended.signal })
    })
    try {
      while (!signal.aborted && !(await patience.until(() => waitOnce(past, aborted), signal, forget))) {
        // Nothing came while the open fetch stood; it is opened again.
      }
    } catch (error) {
      if (!isStopped(error)) throw error
    } finally {
      ended.abort()
    }
  }

  /** Waits while the open fetches stand. @returns whether something may have come, or it was aborted */
  async function waitOnce(past: PartitionOffsets, aborted: Promise<null>): Promise<boolean> {
    const { metadata, ask } = await known()
    const answers = partitionsByLeader(metadata).map(([leader, partitions]) => {
      // A new partition is read from its first record; as long as it has none, there is nothing to come back for.
      const positions = partitions.map((partition) => ({ partition, offset: past.get(partition) ?? 0n }))
      return openAt(leader, positions, ask).answer
    })
    // Meanwhile: is it the same topic still, and has it new partitions? Those are waited for with the others the next time.
    const { partitions } = await refresh()
    if (partitions.length > metadata.partitions.length) return false
    const answer = await Promise.race([...answers, aborted])
    if (answer === null) return true
    if (answer instanceof Error) throw answer
    return isNews(answer, past)
  }

  /** The fetch that stands at these positions, opened unless it stands there already. */
  function openAt(leader: number, positions: readonly FetchPosition[], ask: KnownTopic['ask']): OpenFetch {
    const standing = open.get(leader)
    if (standing && !standing.isAnswered && samePositions(standing.positions, positions)) return standing
    const limits = { waitMs: OPEN_FETCH_WAIT_MS, bytes: OPEN_FETCH_BYTES, bytesOfPartition: OPEN_FETCH_BYTES }
    const fetch: OpenFetch = {
      positions,
      isAnswered: false,
      answer: ask(leader, fetchRequest(name, positions, isolation(), limits)).then(
        (answer) => {
          fetch.isAnswered = true
          if (open.get(leader) === fetch) hold(positions, answer)
          return answer
        },
        (error: unknown) => {
          fetch.isAnswered = true
          return error instanceof Error ? error : new Error(String(error))
        },
      ),
    }
    open.set(leader, fetch)
    return fetch
  }

  function hold(positions: readonly FetchPosition[], answer: FetchAnswer): void {
    for (const fetched of answer.partitions) {
      const position = positions.find(({ partition }) => partition === fetched.partition)
      if (position && fetched.errorCode === 0 && fetched.records.length > 0) held.set(fetched.partition, { offset: position.offset, fetched })
    }
  }

  /** Whether an answer says that there is something past these offsets, or that they are no longer right. */
  function isNews({ errorCode, partitions }: FetchAnswer, past: PartitionOffsets): boolean {
    if (errorCode !== 0) throw new KafkaAnswerError(errorCode, 'Fetch')
    for (const fetched of partitions) {
      if (fetched.errorCode === OFFSET_OUT_OF_RANGE) return true
      if (fetched.errorCode !== 0) throw new KafkaAnswerError(fetched.errorCode, `Fetch of partition ${fetched.partition}`)
      const end = isolation() === 'read_committed' ? fetched.lastStableOffset : fetched.highWatermark
      if (end > (past.get(fetched.partition) ?? 0n)) return true
    }
    return false
  }

  return {
    read,
    waitForMore,
    close() {
      open.clear()
      held.clear()
    },
  }
}

function samePositions(some: readonly FetchPosition[], others: readonly FetchPosition[]): boolean {
  return (
    some.length === others.length && some.every(({ partition, offset }) => others.some((other) => other.partition === partition && other.offset === offset))
  )
}

function dataLoss(name: string, what: string, condition: string): StreamtopError {
  return new StreamtopError('data-loss', `topic ${name}, ${what}`, {
    hint: '--option failOnDataLoss=false goes on without the lost records; "streamtop reset" makes a new checkpoint, which reads everything that is left',
    condition: `KAFKA_DATA_LOSS.${condition}`,
  })
}

function outOfRange(name: string, partition: number, offset: bigint, end: bigint): StreamtopError {
  return dataLoss(name, `partition ${partition}: the records at offset ${offset} and on, up to ${end}, are gone`, 'COULD_NOT_READ_OFFSET_RANGE')
}

function cutShort(name: string, partition: number, position: bigint, end: bigint, { highWatermark, lastStableOffset }: FetchedPartition): StreamtopError {
  const what = `partition ${partition}: nothing comes from offset ${position} on, and the batch ends at ${end}; the broker has it up to ${highWatermark} (stable up to ${lastStableOffset})`
  return dataLoss(name, what, 'COULD_NOT_READ_OFFSET_RANGE')
}

function partitionGone(name: string, partition: number): StreamtopError {
  return dataLoss(name, `partition ${partition} is gone`, 'PARTITIONS_DELETED')
}

function damaged(name: string, partition: number, error: RecordBatchError): StreamtopError {
  return new StreamtopError('bad-record', `topic ${name}, partition ${partition}: the record batch at offset ${error.offset} ${error.what}`, {
    hint: 'nothing of this batch was written; kafka-dump-log shows what the broker has there',
    condition: 'CORRUPT_MESSAGE',
  })
}

function unknownCodec(name: string, partition: number, offset: bigint, number: number): StreamtopError {
  const codec = codecName(number) ?? `codec ${number}`
  return new StreamtopError('unsupported-feature', `topic ${name}, partition ${partition}, offset ${offset}: the records are compressed with ${codec}`, {
    hint: 'nothing of this batch was written; streamtop reads gzip, snappy, lz4 and zstd',
  })
}
