/** The topic of a play: topic orders of its workspace, or one on Kafka that is made with the first record and removed after the play. */
import type { Effects } from '../effects.js'
import { onTopic } from '../engine/open-topic.js'
import type { KafkaTopics } from '../observe/kafka-topics.js'
import type { QueryDefinition } from '../engine/definition.js'
import type { Status } from '../observe/status.js'
import { openEmbeddedProducer } from '../topic/embedded-producer.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import { temporaryKafkaTopic } from '../topic/temporary-topic.js'
import type { OutgoingRecord } from '../topic/topic.js'

export interface StageTopic {
  /** What queries of topic orders read in its place; null for orders itself. */
  readonly name: string | null
  /** The queries, each with the topic that it reads. */
  readonly queries: readonly QueryDefinition[]
  /** Null for a topic of the workspace, which a look finds there. */
  readonly elsewhere: KafkaTopics | null
  send(records: readonly OutgoingRecord[]): Promise<void>
  /** Removes what was made outside of the workspace. */
  close(): Promise<void>
}

/** What scenarios call it. */
const TOPIC = 'orders'

/** A status in which the topic has the name that scenarios have for it. */
export function asScenariosSay(status: Status, { name }: StageTopic): Status {
  return name === null ? status : { ...status, topics: status.topics.map((topic) => (topic.name === name ? { ...topic, name: TOPIC } : topic)) }
}

export function embeddedStageTopic(workspace: string, queries: readonly QueryDefinition[], fx: Effects): StageTopic {
  return {
    name: null,
    queries,
    elsewhere: null,
    async send(records) {
      const producer = openEmbeddedProducer(workspace, TOPIC, {}, fx)
      try {
        await producer.send(records)
      } finally {
        await producer.close()
      }
    },
    close: async () => {},
  }
}

/**
 * A topic with one partition and a name that nobody has (`steady-text.ts` calls it orders).
 * @throws usage, bad-config for a choice that is wrong; later source-missing when no broker answers
 */
export async function kafkaStageTopic(queries: readonly QueryDefinition[], kafka: KafkaChoice, fx: Effects): Promise<StageTopic> {
  const { readKafkaSettings } = await import('../topic/kafka-settings.js')
  const { openKafkaTopics } = await import('../observe/kafka-topics.js')
  const topic = await temporaryKafkaTopic(readKafkaSettings(kafka, process.env, fx), TOPIC, fx)
  const onTheTopic = queries.map((query) => onTopic(query, topic.name))
  const elsewhere = openKafkaTopics(kafka, onTheTopic, fx)
  return {
    name: topic.name,
    queries: onTheTopic,
    elsewhere,
    send: (records) => topic.send(records),
    async close() {
      await elsewhere.close()
      await topic.remove()
    },
  }
}
