/**
 * The three requests that reading takes, encoded and decoded here: kafkajs knows no topic ids, and its Fetch throws away what all
 * partitions have when one has an error. The versions are the newest without flexible encoding that do, but for Metadata, of
 * which 12 has the ids; every broker since 2.8 knows them, and those of 4.x still do.
 */
import { ByteReader, ByteWriter } from './kafka-bytes.js'
import type { AbortedTransaction } from './record-batch-decoder.js'
import type { Isolation } from './topic.js'

/** One request as a connection sends it. */
export interface KafkaRequest<Answer> {
  readonly name: string
  readonly key: number
  readonly version: number
  /** What follows the client id in the message. */
  readonly body: Buffer
  /** How long the broker may take on purpose, in milliseconds. */
  readonly waitMs: number
  /** From what follows the correlation id. Throws a RangeError when it is cut short. */
  decode(bytes: Uint8Array): Answer
}

export interface KafkaNode {
  readonly id: number
  readonly host: string
  readonly port: number
}

export interface PartitionPlace {
  readonly partition: number
  /** The node to ask; -1 while there is none. */
  readonly leader: number
  readonly errorCode: number
}

export interface TopicMetadata {
  readonly nodes: readonly KafkaNode[]
  readonly clusterId: string | null
  /** Of the topic. */
  readonly errorCode: number
  /** As Kafka's tools print it. */
  readonly topicId: string
  readonly partitions: readonly PartitionPlace[]
}

/** Which partitions each node leads. */
export function partitionsByLeader({ partitions }: TopicMetadata): [leader: number, partitions: number[]][] {
  const leaders = new Map<number, number[]>()
  for (const { partition, leader } of partitions) leaders.set(leader, [...(leaders.get(leader) ?? []), partition])
  return [...leaders]
}

/** Where the topic is, and which one it is. A topic is never made by it. */
export function metadataRequest(topic: string): KafkaRequest<TopicMetadata> {
  const body = new ByteWriter()
    .unsignedVarint(0) // tagged fields of the header
    .unsignedVarint(2) // one topic
    .raw(NO_ID)
    .compactString(topic)
    .unsignedVarint(0)
    .int8(0) // allow_auto_topic_creation
    .int8(0) // include_topic_authorized_operations
    .unsignedVarint(0)
    .finish()
  return { name: 'Metadata', key: 3, version: 12, body, waitMs: 0, decode: decodeMetadata }
}

const NO_ID = new Uint8Array(16)

function decodeMetadata(bytes: Uint8Array): TopicMetadata {
  const reader = new ByteReader(bytes)
  reader.taggedFields()
  reader.int32() // throttle time
  const nodes = reader.compactArray(() => {
    const node = { id: reader.int32(), host: reader.compactString() ?? '', port: reader.int32() }
    reader.compactString() // rack
    reader.taggedFields()
    return node
  })
  const clusterId = reader.compactString()
  reader.int32() // controller
  const [topic] = reader.compactArray(() => {
    const errorCode = reader.int16()
    reader.compactString() // name
    const topicId = uuidText(reader.take(16))
    reader.int8() // is internal
    const partitions = reader.compactArray(() => decodePartitionPlace(reader))
    reader.int32() // authorized operations
    reader.taggedFields()
    return { errorCode, topicId, partitions }
  })
  if (!topic) throw new RangeError('the answer names no topic')
  return { nodes, clusterId, ...topic }
}

function decodePartitionPlace(reader: ByteReader): PartitionPlace {
  const errorCode = reader.int16()
  const place = { partition: reader.int32(), leader: reader.int32(), errorCode }
  reader.int32() // leader epoch
  for (let list = 0; list < 3; list++) reader.compactArray(() => reader.int32()) // replicas, in sync, offline
  reader.taggedFields()
  return place
}

/** As Kafka prints a topic's id: base64url without padding. */
function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

export interface ListedOffset {
  readonly partition: number
  readonly errorCode: number
  readonly offset: bigint
}

/** Of each partition the first offset that is there, or the next one that a reader with this isolation will get. */
export function listOffsetsRequest(
  topic: string,
  partitions: readonly number[],
  which: 'earliest' | 'latest',
  isolation: Isolation,
): KafkaRequest<readonly ListedOffset[]> {
  const writer = new ByteWriter().int32(-1).int8(isolationLevel(isolation))
  writer.array([topic], () => {
    writer.string(topic).array(partitions, (partition) => writer.int32(partition).int64(which === 'earliest' ? -2n : -1n))
  })
  return { name: 'ListOffsets', key: 2, version: 3, body: writer.finish(), waitMs: 0, decode: decodeListOffsets }
}

function decodeListOffsets(bytes: Uint8Array): readonly ListedOffset[] {
  const reader = new ByteReader(bytes)
  reader.int32() // throttle time
  return reader
    .array(() => {
      reader.string()
      return reader.array(() => {
        const [partition, errorCode] = [reader.int32(), reader.int16()]
        reader.int64() // timestamp
        return { partition, errorCode, offset: reader.int64() }
      })
    })
    .flat()
}

export interface FetchPosition {
  readonly partition: number
  readonly offset: bigint
}

export interface FetchLimits {
  /** How long the broker may wait for the first byte. */
  readonly waitMs: number
  /** Soft: the first batch of the first partition that has one always comes whole. */
  readonly bytes: number
  readonly bytesOfPartition: number
}

export interface FetchedPartition {
  readonly partition: number
  readonly errorCode: number
  /** The next offset of the partition; of a committed reader `lastStableOffset` is the limit. */
  readonly highWatermark: bigint
  readonly lastStableOffset: bigint
  readonly aborted: readonly AbortedTransaction[]
  /** Record batches, the last of them perhaps cut. Memory of the whole answer. */
  readonly records: Uint8Array
}

export interface FetchAnswer {
  readonly errorCode: number
  readonly partitions: readonly FetchedPartition[]
}

/** Record batches from these offsets on. No fetch session, no replica: a reader of its own. */
export function fetchRequest(topic: string, positions: readonly FetchPosition[], isolation: Isolation, limits: FetchLimits): KafkaRequest<FetchAnswer> {
  const writer = new ByteWriter()
    .int32(-1) // replica
    .int32(limits.waitMs)
    .int32(1) // least bytes
    .int32(limits.bytes)
    .int8(isolationLevel(isolation))
    .int32(0) // session
    .int32(-1) // session epoch
  writer.array([topic], () => {
    writer.string(topic).array(positions, ({ partition, offset }) =>
      writer
        .int32(partition)
        .int32(-1) // current leader epoch
        .int64(offset)
        .int64(-1n) // log start offset
        .int32(limits.bytesOfPartition),
    )
  })
  writer.array([], () => {}).string('')
  return { name: 'Fetch', key: 1, version: 11, body: writer.finish(), waitMs: limits.waitMs, decode: decodeFetch }
}

function decodeFetch(bytes: Uint8Array): FetchAnswer {
  const reader = new ByteReader(bytes)
  reader.int32() // throttle time
  const errorCode = reader.int16()
  reader.int32() // session
  const topics = reader.array(() => {
    reader.string()
    return reader.array(() => decodeFetchedPartition(reader))
  })
  return { errorCode, partitions: topics.flat() }
}

function decodeFetchedPartition(reader: ByteReader): FetchedPartition {
  const [partition, errorCode] = [reader.int32(), reader.int16()]
  const [highWatermark, lastStableOffset] = [reader.int64(), reader.int64()]
  reader.int64() // log start
  const aborted = reader.array(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }))
  reader.int32() // preferred read replica
  const size = reader.int32()
  const records = size < 0 ? new Uint8Array(0) : reader.take(size)
  return { partition, errorCode, highWatermark, lastStableOffset, aborted, records }
}

function isolationLevel(isolation: Isolation): number {
  return isolation === 'read_committed' ? 1 : 0
}
