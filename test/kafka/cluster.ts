/** A broker for the tests of a file, topics in it, and the clients that look at them from outside. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Admin, CompressionTypes, Kafka, logLevel, type Message } from 'kafkajs'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import { type Broker, startBroker } from '../../scripts/kafka-broker.mjs'
import { realEffects } from '../../src/effects.js'
import { type KafkaTopicOptions, openKafkaTopic } from '../../src/topic/kafka-topic.js'
import type { KafkaSettings } from '../../src/topic/kafka-settings.js'
import type { RecordBatch, Topic } from '../../src/topic/topic.js'

/** Whether a broker can be had; a suite is skipped without, and with CI set there always is one. */
export const hasKafka = inject('kafkaJars') !== ''

export interface Cluster {
  readonly broker: Broker
  readonly settings: KafkaSettings
  readonly client: Kafka
  readonly admin: Admin
  /** Makes a topic under a name that no other test has; gives the name. */
  topic(options?: { readonly partitions?: number; readonly config?: Readonly<Record<string, string>> }): Promise<string>
  /** Sends texts, one record batch, to a partition; a record is a value, or a key and a value. */
  send(
    topic: string,
    records: readonly (string | readonly [key: string, value: string | null])[],
    partition?: number,
    compression?: CompressionTypes,
  ): Promise<void>
  /** Opens a topic as a query does; closed when the test ends. */
  open(topic: string, options?: KafkaTopicOptions): Topic
}

/** Starts a broker before the tests of this file, and removes it after them. */
export function useCluster(brokerSettings: Readonly<Record<string, string>> = {}): Cluster {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-kafka-'))
  let started: { broker: Broker; client: Kafka; admin: Admin; settings: KafkaSettings } | null = null
  let topics = 0
  const running = () => {
    if (started) return started
    throw new Error('the broker is not started')
  }

  beforeAll(async () => {
    if (!hasKafka) return
    const broker = await startBroker({ jars: inject('kafkaJars'), folder, settings: brokerSettings })
    const client = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING, retry: { retries: 20, initialRetryTime: 50 } })
    const admin = client.admin()
    await admin.connect()
    started = { broker, client, admin, settings: { brokers: [{ host: '127.0.0.1', port: broker.port }], tls: null, sasl: null } }
  })

  afterAll(async () => {
    await started?.admin.disconnect()
    await started?.broker.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    get broker() {
      return running().broker
    },
    get settings() {
      return running().settings
    },
    get client() {
      return running().client
    },
    get admin() {
      return running().admin
    },
    async topic({ partitions = 1, config = {} } = {}) {
      const topic = `orders-${++topics}`
      await makeTopic(running().admin, topic, partitions, config)
      return topic
    },
    async send(topic, records, partition = 0, compression = CompressionTypes.None) {
      const producer = running().client.producer()
      await producer.connect()
      await producer.send({ topic, compression, messages: records.map((record) => messageOf(record, partition)) })
      await producer.disconnect()
    },
    open(name, options = {}) {
      const topic = openKafkaTopic(running().settings, name, options, realEffects)
      onTestFinished(() => topic.close())
      return topic
    },
  }
}

/** Makes a topic, and waits until the broker serves it. */
export async function makeTopic(admin: Admin, topic: string, partitions = 1, config: Readonly<Record<string, string>> = {}): Promise<void> {
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  // kafkajs's own waiting fails when the broker has not heard of the topic yet, as after one of that name was deleted.
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: partitions, configEntries }] })
  await untilServed(admin, topic, partitions)
}

/** Waits until the broker serves a topic. One that has come back may answer before it leads a partition, and `produce` does not wait for that. */
export async function untilServed(admin: Admin, topic: string, partitions = 1): Promise<void> {
  await until('the topic is served', () =>
    admin.fetchTopicOffsets(topic).then(
      (ends) => ends.length === partitions,
      () => false,
    ),
  )
}

/** Deletes a topic, and waits until nobody knows it. */
export async function deleteTopic(admin: Admin, topic: string): Promise<void> {
  await admin.deleteTopics({ topics: [topic] })
  await until('the topic is gone', async () => !(await admin.listTopics()).includes(topic))
}

/** Deletes the records before an offset: what retention does, at once. */
export async function deleteRecords(admin: Admin, topic: string, before: number, partition = 0): Promise<void> {
  // kafkajs must have heard of the topic.
  await admin.fetchTopicOffsets(topic)
  await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] })
}

export function messageOf(record: string | readonly [key: string, value: string | null], partition: number): Message {
  return typeof record === 'string' ? { value: record, partition } : { key: record[0], value: record[1], partition }
}

/** Waits until something is so. */
export async function until(what: string, look: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; ) {
    if (await look()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${what}: not within ${withinMs / 1000} s`)
}

/** The records of a range as `offset:value`. */
export async function readTexts(topic: Topic, partition: number, start: bigint, end: bigint): Promise<string[]> {
  const texts: string[] = []
  for await (const batch of topic.read(partition, start, end)) texts.push(...textsOf(batch))
  return texts
}

function textsOf({ offsets, values }: RecordBatch): string[] {
  return values.map((value, row) => `${offsets[row]}:${value === null ? 'null' : Buffer.from(value).toString('utf8')}`)
}

/** Texts `from` to `to`, without the last. */
export function numbered(from: number, to: number, prefix = 'v'): string[] {
  return Array.from({ length: to - from }, (_, index) => `${prefix}${from + index}`)
}
