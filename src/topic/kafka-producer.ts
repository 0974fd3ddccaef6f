/**
 * A Kafka topic, to write, through kafkajs's producer: idempotent, all replicas, one request of a partition at a time. What is sent
 * when the answer was lost may be there or not, and its producer is not used again: kafkajs would give the numbers of the lost
 * records to the next ones, and the broker would take those for repeats.
 */
import type { Admin, Kafka, Message, Producer, RecordMetadata } from 'kafkajs'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { kafkaClient, type KafkaConnection, openKafkaConnection } from './kafka-connection.js'
import { KafkaAnswerError, unreachable, UNKNOWN_TOPIC_OR_PARTITION } from './kafka-errors.js'
import { claimRecords } from './kafka-generator-state.js'
import { type ListedOffset, listOffsetsRequest, metadataRequest, partitionsByLeader, type TopicMetadata } from './kafka-requests.js'
import { brokersText, type KafkaSettings } from './kafka-settings.js'
import { partitionOfKey } from './partitioner.js'
import type { OutgoingRecord, PartitionOffsets, TopicProducer } from './topic.js'

export interface KafkaProducerOptions {
  /** Where the generator's state is kept. */
  readonly workspace: string
  /** Makes the topic with so many partitions when it is not there. */
  readonly partitions?: number
  /** Called before a broker is asked to make it. */
  readonly onAsked?: () => void
}

/**
 * Opens a topic to send to.
 *
 * Errors: `bad-name`; `source-missing` when the topic is not there and was not to be made, or no broker answers; `usage` when it has
 * another number of partitions than was asked for; `bad-config` when the broker refuses.
 */
export async function openKafkaProducer(settings: KafkaSettings, name: string, options: KafkaProducerOptions, fx: Effects): Promise<TopicProducer> {
  checkName('topic', name)
  const kafka = kafkaClient(settings)
  const connection = openKafkaConnection(settings, {}, fx)
  try {
    const topic = await topicToWrite(settings, connection, kafka, name, options, fx)
    // kafkajs is told of brokers that live: the first of several that are named may hang, and kafkajs would wait for it.
    const leaders = topic.nodes.filter(({ id }) => topic.partitions.some(({ leader }) => leader === id))
    const live = kafkaClient(leaders.length === 0 ? settings : { ...settings, brokers: leaders })
    return producerOf({ settings, connection, kafka: live, name, topic, workspace: options.workspace }, fx)
  } catch (error) {
    await connection.close()
    throw unreachable(error, settings)
  }
}

/**
 * Deletes a topic with all its records.
 * @throws a StreamtopError, also when there is none of that name
 */
export async function deleteKafkaTopic(settings: KafkaSettings, name: string): Promise<void> {
  await asAdmin(settings, kafkaClient(settings), (admin) => admin.deleteTopics({ topics: [name] }))
}

/** With the cluster's own number of replicas. */
async function createTopic(settings: KafkaSettings, kafka: Kafka, name: string, partitions: number): Promise<void> {
  // kafkajs would wait for the leaders, and fails when a broker has not heard of the topic yet.
  await asAdmin(settings, kafka, (admin) => admin.createTopics({ waitForLeaders: false, topics: [{ topic: name, numPartitions: partitions }] }))
}

async function asAdmin<Result>(settings: KafkaSettings, kafka: Kafka, work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } catch (error) {
    throw unreachable(error, settings)
  } finally {
    await admin.disconnect()
  }
}

async function topicToWrite(
  settings: KafkaSettings,
  connection: KafkaConnection,
  kafka: Kafka,
  name: string,
  { partitions, onAsked }: KafkaProducerOptions,
  fx: Effects,
): Promise<TopicMetadata> {
  const found = await connection.send(null, metadataRequest(name))
  if (found.errorCode === 0) {
    if (partitions === undefined || found.partitions.length === partitions) return found
    throw new StreamtopError('usage', `topic ${name} has ${counted(found.partitions.length)}, not ${partitions}`, {
      hint: 'streamtop makes topics and does not change them: leave --partitions out, or name another topic',
    })
  }
  if (found.errorCode !== UNKNOWN_TOPIC_OR_PARTITION) throw new KafkaAnswerError(found.errorCode, 'Metadata')
  if (partitions === undefined) {
    throw new StreamtopError('source-missing', `there is no topic ${name} on Kafka at ${brokersText(settings)}`, {
      hint: `it is made with --partitions N: streamtop produce --all --kafka ${brokersText(settings)} --topic ${name} --partitions 1`,
      condition: 'UNKNOWN_TOPIC_OR_PARTITION',
    })
  }
  onAsked?.()
  await createTopic(settings, kafka, name, partitions)
  return whenServed(connection, name, fx)
}

/** A topic that was just made, once the broker that is asked knows it and each partition has a leader. */
async function whenServed(connection: KafkaConnection, name: string, fx: Effects): Promise<TopicMetadata> {
  const deadlineMs = fx.monotonicMs() + LEADERS_WITHIN_MS
  for (;;) {
    const made = await connection.send(null, metadataRequest(name))
    if (made.errorCode === 0 && made.partitions.length > 0 && made.partitions.every(({ leader }) => leader >= 0)) return made
    if (fx.monotonicMs() > deadlineMs) throw new KafkaAnswerError(made.errorCode || 5, 'Metadata')
    await fx.sleep(50)
  }
}

const LEADERS_WITHIN_MS = 10_000

interface Open {
  readonly settings: KafkaSettings
  readonly connection: KafkaConnection
  readonly kafka: Kafka
  readonly name: string
  readonly topic: TopicMetadata
  readonly workspace: string
}

function producerOf({ settings, connection, kafka, name, topic, workspace }: Open, fx: Effects): TopicProducer {
  const partitions = topic.partitions.length
  let producer: Promise<Producer> | null = null
  /** Records without a key go to one partition after the other. */
  let keyless = 0

  async function connected(): Promise<Producer> {
    const made = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
    try {
      await made.connect()
    } catch (error) {
      // Connected it may be, and only refused: nobody else knows of its sockets.
      await made.disconnect().catch(() => {})
      throw error
    }
    return made
  }

  async function give(up: Promise<Producer> | null): Promise<void> {
    await (await up)?.disconnect()
  }

  function partitionOf({ key, partition }: OutgoingRecord): number {
    const wanted = partition ?? (key === null ? keyless++ % partitions : partitionOfKey(key, partitions))
    if (wanted < partitions) return wanted
    throw new StreamtopError('usage', `topic ${name} has no partition ${wanted}: it has ${counted(partitions)}`, { hint: 'partitions are numbered from 0' })
  }

  async function sendOnce(messages: Message[]): Promise<PartitionOffsets> {
    producer ??= connected()
    try {
      return endsOf(await (await producer).send({ topic: name, acks: -1, messages }), messages)
    } catch (error) {
      const failed = producer
      producer = null
      await give(failed).catch(() => {})
      throw unreachable(error, settings)
    }
  }

  async function send(records: readonly OutgoingRecord[]): Promise<PartitionOffsets> {
    const ends = new Map<number, bigint>()
    for (const messages of requests(records, partitionOf)) for (const [partition, end] of await sendOnce(messages)) ends.set(partition, end)
    return ends
  }

  return {
    partitions,
    async endOffsets() {
      try {
        const asked = partitionsByLeader(topic).map(([leader, numbers]) => {
          const node = topic.nodes.find(({ id }) => id === leader) ?? null
          return connection.send(node, listOffsetsRequest(name, numbers, 'latest', 'read_uncommitted'))
        })
        return offsetsOf((await Promise.all(asked)).flat())
      } catch (error) {
        throw unreachable(error, settings)
      }
    },
    send,
    sendGenerated: async (make) => send(claimRecords(workspace, topic.topicId, make, fx)),
    async close() {
      await connection.close()
      // What is under way to a broker that hangs is not waited for.
      const closed = new AbortController()
      await Promise.race([give(producer).catch(() => {}), fx.sleep(LONGEST_CLOSE_MS, closed.signal)])
      closed.abort()
    },
  }
}

const LONGEST_CLOSE_MS = 500

function offsetsOf(listed: readonly ListedOffset[]): PartitionOffsets {
  for (const { partition, errorCode } of listed) if (errorCode !== 0) throw new KafkaAnswerError(errorCode, `ListOffsets of partition ${partition}`)
  return new Map([...listed].sort((a, b) => a.partition - b.partition).map(({ partition, offset }) => [partition, offset]))
}

/** A request becomes one record batch a partition, and the broker refuses one of more than about 1 MiB (`max.message.bytes`). */
const REQUEST_BYTES = 900_000
/** kafkajs takes a time for the records of a request that grows with the square of their number. */
const REQUEST_RECORDS = 1_000
/** What a record costs beside its key and value, about. */
const RECORD_BYTES = 24

function* requests(records: readonly OutgoingRecord[], partitionOf: (record: OutgoingRecord) => number): Generator<Message[]> {
  let messages: Message[] = []
  let bytes = 0
  for (const record of records) {
    const size = RECORD_BYTES + (record.key?.length ?? 0) + (record.value?.length ?? 0)
    if (messages.length === REQUEST_RECORDS || (messages.length > 0 && bytes + size > REQUEST_BYTES)) {
      yield messages
      messages = []
      bytes = 0
    }
    messages.push({ key: asBuffer(record.key), value: asBuffer(record.value), partition: partitionOf(record) })
    bytes += size
  }
  if (messages.length > 0) yield messages
}

function asBuffer(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The broker says where the first record of each partition came to lie. */
function endsOf(answers: readonly RecordMetadata[], messages: readonly Message[]): PartitionOffsets {
  const counts = new Map<number, number>()
  for (const { partition = 0 } of messages) counts.set(partition, (counts.get(partition) ?? 0) + 1)
  return new Map(answers.map(({ partition, baseOffset }) => [partition, BigInt(baseOffset ?? -1) + BigInt(counts.get(partition) ?? 0)]))
}

function counted(partitions: number): string {
  return partitions === 1 ? '1 partition' : `${partitions} partitions`
}
