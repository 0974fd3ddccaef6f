/**
 * The topic of a session: what is known of it when it is not in the workspace, and who sends to it. What Kafka needs is loaded here,
 * when a session is on Kafka.
 */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import type { KafkaTopics } from '../observe/kafka-topics.js'
import { openEmbeddedProducer } from '../topic/embedded-producer.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { TopicProducer } from '../topic/topic.js'

export interface TopicAccess {
  /** Null for topics in the workspace, which a look reads itself. */
  readonly elsewhere: KafkaTopics | null
  openProducer(): TopicProducer | Promise<TopicProducer>
}

export interface TopicPlace {
  readonly workspace: string
  /** Null: in the workspace. */
  readonly kafka: KafkaChoice | null
  /** The topic to send to. */
  readonly topic: string
  /** Whose topics are looked at. */
  readonly queries: readonly QueryDefinition[]
}

/** Opens nothing of the topic yet. @throws usage, bad-config for a choice of Kafka that is wrong */
export async function topicAccess({ workspace, kafka, topic, queries }: TopicPlace, fx: Effects): Promise<TopicAccess> {
  if (kafka === null) return { elsewhere: null, openProducer: () => openEmbeddedProducer(workspace, topic, {}, fx) }
  const { followKafkaTopics } = await import('../observe/kafka-topics.js')
  return {
    elsewhere: followKafkaTopics(kafka, queries, fx),
    async openProducer() {
      const { readKafkaSettings } = await import('../topic/kafka-settings.js')
      const { openKafkaProducer } = await import('../topic/kafka-producer.js')
      return openKafkaProducer(readKafkaSettings(kafka, process.env, fx), topic, { workspace }, fx)
    },
  }
}
