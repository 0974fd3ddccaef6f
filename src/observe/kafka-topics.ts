/** The topics of a workspace's queries on Kafka, as the status has them. */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { asStreamtopError } from '../errors.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import { brokersText, readKafkaSettings } from '../topic/kafka-settings.js'
import { type KafkaTopicEnds, openKafkaTopicEnds } from '../topic/kafka-topic-ends.js'
import type { PartitionOffsets } from '../topic/topic.js'
import { followTopics } from './followed-topics.js'
import { lookInTime } from './look-in-time.js'
import type { KafkaStatus, StatusError, TopicStatus } from './status.js'
import { statusErrorOf } from './status-error.js'

/** What one look at topics that are not in the workspace found. */
export interface TopicsElsewhere {
  readonly topics: readonly TopicStatus[]
  readonly errors: readonly StatusError[]
  /** Of brokers that are followed: how they are. */
  readonly kafka?: KafkaStatus
}

export interface KafkaTopics {
  /** Never throws: what cannot be reached is an error in the answer. */
  look(): Promise<TopicsElsewhere>
  close(): Promise<void>
}

/**
 * For one look after the other, each of which waits for its answer, and not long for brokers that hang.
 * @throws usage, bad-config for a choice that is wrong
 */
export function openKafkaTopics(kafka: KafkaChoice, queries: readonly QueryDefinition[], fx: Effects): KafkaTopics {
  const { open, brokers } = opener(kafka, queries, fx)
  const ends = open()
  return {
    async look() {
      try {
        return { topics: kafkaTopicStatus(await lookInTime(ends, brokers, null, fx)), errors: [] }
      } catch (error) {
        return { topics: [], errors: [statusErrorOf(asStreamtopError(error))] }
      }
    },
    close: () => ends.close(),
  }
}

/**
 * For looks that must not wait for a broker.
 * @throws usage, bad-config for a choice that is wrong
 */
export function followKafkaTopics(kafka: KafkaChoice, queries: readonly QueryDefinition[], fx: Effects): KafkaTopics {
  const { open, brokers } = opener(kafka, queries, fx)
  return followTopics(open, brokers, fx)
}

function opener(kafka: KafkaChoice, queries: readonly QueryDefinition[], fx: Effects): { open(): KafkaTopicEnds; readonly brokers: string } {
  const names = new Set(queries.flatMap(({ source }) => (source.kind === 'topic' ? [source.name] : [])))
  const settings = readKafkaSettings(kafka, process.env, fx)
  return { open: () => openKafkaTopicEnds(settings, [...names], fx), brokers: brokersText(settings) }
}

/** Topics with the next offset of each partition, as the status has them. */
export function kafkaTopicStatus(found: ReadonlyMap<string, PartitionOffsets>): TopicStatus[] {
  return [...found].map(([name, offsets]) => ({
    name,
    kind: 'kafka',
    partitions: offsets.size,
    endOffsets: Object.fromEntries([...offsets].map(([partition, end]) => [partition, String(end)])),
  }))
}
