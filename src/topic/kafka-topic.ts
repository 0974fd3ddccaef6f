/**
 * A Kafka topic, to read, behind the same interface as the embedded one. There is no consumer group and nothing is committed: a
 * range of offsets is asked for and read, exactly, again and again. A broker that is down is waited for.
 *
 * Which topic it is is asked for with every look at its offsets: one that was deleted and made again has another id, however long
 * it has become, and its records are not those that the offsets counted.
 */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { openKafkaConnection } from './kafka-connection.js'
import { KafkaAnswerError, unknownTopic, UNKNOWN_TOPIC_OR_PARTITION } from './kafka-errors.js'
import { createFetcher } from './kafka-fetcher.js'
import { createPatience, isStopped } from './kafka-patience.js'
import { type KafkaRequest, type ListedOffset, listOffsetsRequest, metadataRequest, partitionsByLeader, type TopicMetadata } from './kafka-requests.js'
import { brokersText, type KafkaSettings } from './kafka-settings.js'
import type { Isolation, PartitionOffsets, Topic } from './topic.js'

export interface KafkaTopicOptions {
  /** Ends every wait for a broker, with an AbortError where something was asked for. */
  readonly signal?: AbortSignal
  /** Told why a broker is waited for, and null when it answers again. */
  readonly onOutage?: (error: StreamtopError | null) => void
}

/** Where the partitions of a topic are, as far as is known: what a request needs. */
export interface KnownTopic {
  readonly metadata: TopicMetadata
  /** Asks the leader of a partition. */
  ask<Answer>(leader: number, request: KafkaRequest<Answer>): Promise<Answer>
}

/**
 * Opens a topic; the first question connects.
 *
 * Errors: `bad-name`; later `source-missing` for a topic that is not there or was deleted, `source-changed` for one that was made
 * again, `data-loss`, `bad-record` and `unsupported-feature` from `read`, and what the broker refuses for good.
 */
export function openKafkaTopic(settings: KafkaSettings, name: string, options: KafkaTopicOptions, fx: Effects): Topic {
  checkName('topic', name)
  const connection = openKafkaConnection(settings, {}, fx)
  const closing = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal
  const patience = createPatience({ settings, signal, onOutage: options.onOutage ?? (() => {}) }, fx)
  const fetcher = createFetcher({ name, known, refresh, forget, patience, isolation: () => isolation }, fx)
  let isolation: Isolation = 'read_uncommitted'
  let metadata: TopicMetadata | null = null
  let nodes: TopicMetadata['nodes'] = []
  /** The topic that was there first. */
  let topicId: string | null = null
  let unknownSinceMs: number | null = null
  let missingAtMs = Number.NEGATIVE_INFINITY
  let bounds: Promise<Bounds> | null = null

  /** Those of the settings, else any that we have heard of. */
  async function askAnyone<Answer>(request: KafkaRequest<Answer>): Promise<Answer> {
    let failure: unknown
    for (const node of [null, ...nodes]) {
      try {
        return await connection.send(node, request)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }

  /**
   * Asks where the topic is and whether it is still the same. Every leader is asked, after whatever it was asked before: one that has
   * answered for the new topic knows its id, and another may not have heard of it yet.
   */
  async function refresh(): Promise<TopicMetadata> {
    const request = metadataRequest(name)
    if (metadata === null) return learn(await askAnyone(request))
    const { ask, metadata: before } = await known()
    const found = await Promise.all(partitionsByLeader(before).map(([leader]) => ask(leader, request)))
    return found.map(learn).at(-1) ?? learn(await askAnyone(request))
  }

  function learn(found: TopicMetadata): TopicMetadata {
    // A broker that has just started may know of nobody yet, itself included.
    if (found.nodes.length === 0) throw new KafkaAnswerError(8, 'Metadata')
    if (found.errorCode === UNKNOWN_TOPIC_OR_PARTITION) {
      if (topicId === null) throw missing()
      unknownSinceMs ??= fx.monotonicMs()
      if (fx.monotonicMs() - unknownSinceMs >= UNKNOWN_FOR_GOOD_MS) throw deleted()
    }
    if (found.errorCode !== 0) throw new KafkaAnswerError(found.errorCode, 'Metadata')
    unknownSinceMs = null
    topicId ??= found.topicId
    if (found.topicId !== topicId) throw madeAgain(topicId, found.topicId)
    metadata = found
    nodes = found.nodes
    return found
  }

  async function known(): Promise<KnownTopic> {
    const current = metadata ?? (await refresh())
    const node = (leader: number) => {
      const found = current.nodes.find(({ id }) => id === leader)
      if (!found) throw new KafkaAnswerError(5, 'the leader of a partition')
      return found
    }
    return { metadata: current, ask: async (leader, request) => connection.send(node(leader), request) }
  }

  function forget(): void {
    metadata = null
  }

  /** The first and next offsets of all partitions, and then which topic it was that they belong to. */
  async function lookAtBounds(): Promise<Bounds> {
    for (;;) {
      const { metadata: before, ask } = await known()
      const list = (which: 'earliest' | 'latest') =>
        Promise.all(partitionsByLeader(before).map(async ([leader, partitions]) => ask(leader, listOffsetsRequest(name, partitions, which, isolation))))
      const [starts, ends, after] = await Promise.all([list('earliest'), list('latest'), refresh()])
      if (after.partitions.length === before.partitions.length) return { starts: offsetsOf(starts), ends: offsetsOf(ends) }
    }
  }

  function currentBounds(): Promise<Bounds> {
    bounds ??= patience.until(lookAtBounds, undefined, forget).finally(() => {
      bounds = null
    })
    return bounds
  }

  const missing = () => unknownTopic(name, settings)

  function deleted(): StreamtopError {
    return new StreamtopError('source-missing', `topic ${name} was deleted from Kafka at ${brokersText(settings)} while it was read`, {
      hint: 'what is committed is safe; a topic of this name that is made now is another one: "streamtop reset" for a new checkpoint',
      condition: 'UNKNOWN_TOPIC_OR_PARTITION',
    })
  }

  function madeAgain(before: string, now: string): StreamtopError {
    return new StreamtopError(
      'source-changed',
      `topic ${name} was deleted and made again while it was read: its id was ${before} and is ${now}, so the offsets count other records`,
      { hint: 'what is committed is safe; "streamtop reset" makes a new checkpoint, which reads the new topic from its beginning' },
    )
  }

  return {
    name,
    description: `KafkaV2[Subscribe[${name}]]`,
    missing,
    setIsolation(wanted) {
      isolation = wanted
    },
    async exists() {
      if (topicId !== null) return true
      // Somebody who waits for the topic asks again and again.
      await fx.sleep(Math.max(0, missingAtMs + MISSING_PAUSE_MS - fx.monotonicMs()), signal)
      try {
        await patience.until(refresh, undefined, forget)
        return true
      } catch (error) {
        if (isStopped(error)) return false
        if (!(error instanceof StreamtopError) || error.code !== 'source-missing') throw error
        missingAtMs = fx.monotonicMs()
        return false
      }
    },
    async identity() {
      const found = await patience.until(refresh, undefined, forget)
      return { kind: 'kafka', name, topicId: found.topicId, clusterId: found.clusterId ?? '' }
    },
    startOffsets: async () => (await currentBounds()).starts,
    endOffsets: async () => (await currentBounds()).ends,
    read: (partition, start, end) => fetcher.read(partition, start, end),
    waitForMore: (past, waitSignal) => fetcher.waitForMore(past, waitSignal),
    async close() {
      closing.abort()
      fetcher.close()
      await connection.close()
    },
  }
}

interface Bounds {
  readonly starts: PartitionOffsets
  readonly ends: PartitionOffsets
}

/** A broker that has just started may not know a topic yet. */
const UNKNOWN_FOR_GOOD_MS = 3_000
const MISSING_PAUSE_MS = 500

function offsetsOf(answers: readonly (readonly ListedOffset[])[]): PartitionOffsets {
  const offsets = answers.flat().sort((a, b) => a.partition - b.partition)
  for (const { errorCode, partition } of offsets) if (errorCode !== 0) throw new KafkaAnswerError(errorCode, `ListOffsets of partition ${partition}`)
  return new Map(offsets.map(({ partition, offset }) => [partition, offset]))
}
