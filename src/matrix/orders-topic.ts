/** The nine events for the matrix: in a topic of each workspace's own, or in one topic on Kafka that is made for it and removed again. */
import type { Effects } from '../effects.js'
import { onTopic } from '../engine/open-topic.js'
import type { TopicsElsewhere } from '../observe/kafka-topics.js'
import { bronzeOrders } from '../queries/bronze-orders.js'
import { ORDER_PARTS, partRecords } from '../queries/order-parts.js'
import { openEmbeddedProducer } from '../topic/embedded-producer.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import { temporaryKafkaTopic } from '../topic/temporary-topic.js'
import type { OutgoingRecord } from '../topic/topic.js'

export interface OrdersTopic {
  /** Its name and where it is; null for topic orders of the workspace. */
  readonly onKafka: { readonly name: string; readonly choice: KafkaChoice } | null
  /** What a look at a workspace finds of topics that are not in it; null when they are. */
  readonly elsewhere: TopicsElsewhere | null
  /** Sends the nine events, unless they are there. */
  fill(workspace: string): Promise<void>
  /** Removes what was made outside of the workspaces. */
  remove(): Promise<void>
}

export function embeddedOrders(fx: Effects): OrdersTopic {
  return {
    onKafka: null,
    elsewhere: null,
    async fill(workspace) {
      const producer = openEmbeddedProducer(workspace, 'orders', {}, fx)
      try {
        await sendAll(producer)
      } finally {
        await producer.close()
      }
    },
    remove: async () => {},
  }
}

/**
 * Makes a topic on Kafka, with one partition and a name that nobody has, and sends the nine events to it.
 * @throws usage, bad-config for a choice that is wrong or a broker that refuses; source-missing when none answers
 */
export async function kafkaOrders(choice: KafkaChoice, fx: Effects): Promise<OrdersTopic> {
  const { readKafkaSettings } = await import('../topic/kafka-settings.js')
  const { openKafkaTopics } = await import('../observe/kafka-topics.js')
  const topic = await temporaryKafkaTopic(readKafkaSettings(choice, process.env, fx), 'streamtop-matrix', fx)
  try {
    await sendAll(topic)
    const topics = openKafkaTopics(choice, [onTopic(bronzeOrders, topic.name)], fx)
    const elsewhere = await topics.look()
    await topics.close()
    return { onKafka: { name: topic.name, choice }, elsewhere, fill: async () => {}, remove: () => topic.remove() }
  } catch (error) {
    await topic.remove().catch(() => {})
    throw error
  }
}

async function sendAll(topic: { send(records: readonly OutgoingRecord[]): Promise<unknown> }): Promise<void> {
  for (const part of ORDER_PARTS.keys()) await topic.send(partRecords(part + 1))
}
