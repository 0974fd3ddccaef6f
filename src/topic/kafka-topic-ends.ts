/** The offsets of Kafka topics, for a reader who wants to know what is there now and does not wait for a broker. Creates nothing. */
import type { Effects } from '../effects.js'
import { openKafkaConnection } from './kafka-connection.js'
import { KafkaAnswerError, unknownTopic, unreachable, UNKNOWN_TOPIC_OR_PARTITION } from './kafka-errors.js'
import { listOffsetsRequest, metadataRequest, partitionsByLeader, type TopicMetadata } from './kafka-requests.js'
import type { KafkaSettings } from './kafka-settings.js'
import type { PartitionOffsets } from './topic.js'

export interface KafkaTopicEnds {
  /**
   * The next offset of each partition, by topic; topics that are not there are left out.
   * @throws a StreamtopError when the brokers do not answer or refuse
   */
  look(): Promise<ReadonlyMap<string, PartitionOffsets>>
  close(): Promise<void>
}

export interface KafkaTopicLooks extends KafkaTopicEnds {
  /**
   * Which topic one is, and the first and the next offset of each partition.
   * @throws source-missing when it is not there, and as `look` does
   */
  bounds(name: string): Promise<KafkaTopicBounds>
}

export interface KafkaTopicBounds {
  readonly topicId: string
  readonly clusterId: string
  readonly earliest: PartitionOffsets
  readonly latest: PartitionOffsets
}

/** Of the first of several brokers that hangs: the second is still asked before whoever looks gives up. */
const SILENCE_MS = 1_000

/** Keeps its connections between looks. @param names those that `look` looks at */
export function openKafkaTopicEnds(settings: KafkaSettings, names: readonly string[], fx: Effects): KafkaTopicLooks {
  const connection = openKafkaConnection(settings, settings.brokers.length > 1 ? { silenceMs: SILENCE_MS } : {}, fx)

  async function metadataOf(name: string): Promise<TopicMetadata | null> {
    const metadata = await connection.send(null, metadataRequest(name))
    if (metadata.errorCode === UNKNOWN_TOPIC_OR_PARTITION) return null
    if (metadata.errorCode !== 0) throw new KafkaAnswerError(metadata.errorCode, `Metadata of topic ${name}`)
    return metadata
  }

  async function offsetsOf(name: string, metadata: TopicMetadata, which: 'earliest' | 'latest'): Promise<PartitionOffsets> {
    const asked = partitionsByLeader(metadata).map(([leader, partitions]) => {
      const node = metadata.nodes.find(({ id }) => id === leader)
      if (!node) throw new KafkaAnswerError(5, `a partition of topic ${name}`)
      return connection.send(node, listOffsetsRequest(name, partitions, which, 'read_uncommitted'))
    })
    const listed = (await Promise.all(asked)).flat().sort((a, b) => a.partition - b.partition)
    const failed = listed.find(({ errorCode }) => errorCode !== 0)
    if (failed) throw new KafkaAnswerError(failed.errorCode, `ListOffsets of topic ${name}, partition ${failed.partition}`)
    return new Map(listed.map(({ partition, offset }) => [partition, offset]))
  }

  const orUnreachable = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw unreachable(error, settings)
    }
  }

  return {
    look: () =>
      orUnreachable(async () => {
        const ends = new Map<string, PartitionOffsets>()
        for (const name of names) {
          const metadata = await metadataOf(name)
          if (metadata) ends.set(name, await offsetsOf(name, metadata, 'latest'))
        }
        return ends
      }),
    bounds: (name) =>
      orUnreachable(async () => {
        const metadata = await metadataOf(name)
        if (metadata === null) throw unknownTopic(name, settings)
        const [earliest, latest] = await Promise.all([offsetsOf(name, metadata, 'earliest'), offsetsOf(name, metadata, 'latest')])
        return { topicId: metadata.topicId, clusterId: metadata.clusterId ?? '', earliest, latest }
      }),
    close: () => connection.close(),
  }
}
