/** The ends of Kafka topics, for a reader who wants to know what is there now and does not wait for a broker. Creates nothing. */
import { openKafkaConnection } from './kafka-connection.js'
import { KafkaAnswerError, unreachable, UNKNOWN_TOPIC_OR_PARTITION } from './kafka-errors.js'
import { listOffsetsRequest, metadataRequest, partitionsByLeader } from './kafka-requests.js'
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

/** Keeps its connections between looks. */
export function openKafkaTopicEnds(settings: KafkaSettings, names: readonly string[]): KafkaTopicEnds {
  const connection = openKafkaConnection(settings)

  async function endsOf(name: string): Promise<PartitionOffsets | null> {
    const metadata = await connection.send(null, metadataRequest(name))
    if (metadata.errorCode === UNKNOWN_TOPIC_OR_PARTITION) return null
    if (metadata.errorCode !== 0) throw new KafkaAnswerError(metadata.errorCode, `Metadata of topic ${name}`)
    const asked = partitionsByLeader(metadata).map(([leader, partitions]) => {
      const node = metadata.nodes.find(({ id }) => id === leader)
      if (!node) throw new KafkaAnswerError(5, `a partition of topic ${name}`)
      return connection.send(node, listOffsetsRequest(name, partitions, 'latest', 'read_uncommitted'))
    })
    const listed = (await Promise.all(asked)).flat().sort((a, b) => a.partition - b.partition)
    const failed = listed.find(({ errorCode }) => errorCode !== 0)
    if (failed) throw new KafkaAnswerError(failed.errorCode, `ListOffsets of topic ${name}, partition ${failed.partition}`)
    return new Map(listed.map(({ partition, offset }) => [partition, offset]))
  }

  return {
    async look() {
      try {
        const ends = new Map<string, PartitionOffsets>()
        for (const name of names) {
          const found = await endsOf(name)
          if (found) ends.set(name, found)
        }
        return ends
      } catch (error) {
        throw unreachable(error, settings)
      }
    },
    close: () => connection.close(),
  }
}
