/**
 * A topic as a query sees it: partitions of records with 64-bit, end-exclusive offsets. The embedded topic (SQLite) and a real
 * Kafka topic stand behind the same interface, so everything is asynchronous and nothing assumes that offsets have no holes.
 */

import type { StreamtopError } from '../errors.js'

/** Offsets by partition number. As the end of a range: the next offset to read. */
export type PartitionOffsets = ReadonlyMap<number, bigint>

/** Which topic it is: a checkpoint made on one is refused on another. Written to `sources/0/streamtop.json`. */
export interface TopicIdentity {
  readonly kind: 'embedded' | 'kafka'
  readonly name: string
  /** The topic's own id: another topic of the same name has another. */
  readonly topicId: string
  /** Of Kafka: the cluster's id. */
  readonly clusterId?: string
}

/**
 * Which records of transactions are read: those of committed ones alone, or all as soon as they are there (Kafka's `isolation.level`).
 * An embedded topic has no transaction that is open or aborted, so there both are the same.
 */
export type Isolation = 'read_committed' | 'read_uncommitted'

/** Records of one partition in ascending order of offset, in columns. */
export interface RecordBatch {
  readonly partition: number
  readonly rowCount: number
  readonly offsets: BigInt64Array
  /** Milliseconds since the epoch. */
  readonly timestampsMs: Float64Array
  readonly keys: ReadonlyArray<Uint8Array | null>
  readonly values: ReadonlyArray<Uint8Array | null>
}

export interface Topic {
  readonly name: string
  /** As Spark's progress would describe the source. */
  readonly description: string
  /** Whether somebody has made the topic. */
  exists(): boolean | Promise<boolean>
  /** The error for a topic that is not there. */
  missing(): StreamtopError
  /** Told once, before offsets or records are asked for; `read_uncommitted` unless it is told. */
  setIsolation(isolation: Isolation): void
  identity(): Promise<TopicIdentity>
  /** The first offset of each partition that can still be read. */
  startOffsets(): Promise<PartitionOffsets>
  /** The next offset that each partition will give out. */
  endOffsets(): Promise<PartitionOffsets>
  /**
   * Every record of a partition with start <= offset < end, in order, in pieces of a bounded size. Throws `data-loss` when
   * the range is no longer there whole.
   */
  read(partition: number, start: bigint, end: bigint): AsyncIterable<RecordBatch>
  /** Resolves when the topic may have records past these offsets, or when the signal fires. */
  waitForMore(past: PartitionOffsets, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A record to send. Without a partition the key decides, as Kafka's default partitioner does. */
export interface OutgoingRecord {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly partition?: number
}

export interface TopicProducer {
  readonly partitions: number
  /** The next offset of every partition. */
  endOffsets(): PartitionOffsets | Promise<PartitionOffsets>
  /** Sends the records in order and resolves when they are durable; gives the end offsets of the partitions written. */
  send(records: readonly OutgoingRecord[]): Promise<PartitionOffsets>
  /**
   * Sends what a generator makes next. What it must remember is kept so that it goes on where it was after any death, and two that
   * run at once in one workspace never make the same record.
   *
   * @param make gets the text it gave the last time, null at first
   */
  sendGenerated(make: MakeRecords): Promise<PartitionOffsets>
  /** Whether what was opened is no longer what lies there: what is sent would be seen by nobody. */
  isMoved?(): boolean
  close(): Promise<void>
}

export type MakeRecords = (state: string | null) => { readonly records: readonly OutgoingRecord[]; readonly state: string }
