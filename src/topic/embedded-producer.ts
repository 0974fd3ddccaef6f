/**
 * The embedded topic, to write. One call of `send` is one SQLite transaction: its records are there all or not at all, in
 * order and without a hole, whoever else is sending, and they are on disk when it resolves.
 */
import { checkpointWhenGrown, synced } from '../database.js'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { partitionOfKey } from './partitioner.js'
import { recordChecksum } from './record-checksum.js'
import type { MakeRecords, OutgoingRecord, PartitionOffsets, TopicProducer } from './topic.js'
import { explained, openTopicsToWrite, partitionReader, type TopicRow, topicRow, topicsPath } from './topic-database.js'

export interface EmbeddedProducer extends TopicProducer {
  endOffsets(): PartitionOffsets
  /** What the generator remembers is kept in the same transaction. */
  sendGenerated(make: MakeRecords): Promise<PartitionOffsets>
}

export interface ProducerOptions {
  /** How many partitions the topic has: 1 for a new one unless given. */
  readonly partitions?: number
}

/**
 * Opens a topic of a workspace to send to; it is made when it is not there.
 *
 * Errors: `bad-name`; `usage` when the topic has another number of partitions than was asked for; `conflict` when another
 * process held the file for longer than five seconds.
 */
export function openEmbeddedProducer(workspace: string, name: string, options: ProducerOptions, fx: Effects): EmbeddedProducer {
  checkName('topic', name)
  checkPartitions(options.partitions)
  const path = topicsPath(workspace)
  const database = openTopicsToWrite(workspace, fx)
  let topic: TopicRow
  try {
    const find = database.transaction(() => topicRow(database, name) ?? createTopic(options.partitions ?? 1))
    topic = explained(path, () => synced(database, () => find.immediate()))
    if (options.partitions !== undefined && options.partitions !== topic.partitions) {
      throw new StreamtopError('usage', `topic ${name} has ${counted(topic.partitions)}, not ${options.partitions}`, {
        hint: 'the number of partitions is fixed when a topic is made: leave it out, or name another topic',
      })
    }
  } catch (error) {
    database.close()
    throw error
  }
  const { partitions } = topic
  const fileId = fx.files.status(path)?.fileId
  const readPartitions = partitionReader(database, topic)
  const readGenerator = database.prepare('SELECT generator FROM topics WHERE number = ?').pluck()
  const writeGenerator = database.prepare('UPDATE topics SET generator = ? WHERE number = ?')
  const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)')
  const moveEnd = database.prepare('UPDATE partitions SET end_offset = ?, largest_bytes = max(largest_bytes, ?) WHERE topic = ? AND partition = ?')

  // BEGIN IMMEDIATE: the write lock is held before anything is read, so the ends and the generator's state are the newest.
  const append = database.transaction((next: () => readonly OutgoingRecord[]) => insertAll(next()))

  function createTopic(count: number): TopicRow {
    const topicId = fx.randomUuid()
    const { lastInsertRowid } = database
      .prepare('INSERT INTO topics (name, topic_id, partitions, created_ms) VALUES (?, ?, ?, ?)')
      .run(name, topicId, count, fx.nowMs())
    const number = Number(lastInsertRowid)
    const add = database.prepare('INSERT INTO partitions VALUES (?, ?, 0, 0, 0)')
    for (let partition = 0; partition < count; partition++) add.run(number, partition)
    return { number, name, topicId, partitions: count }
  }

  function insertAll(records: readonly OutgoingRecord[]): PartitionOffsets {
    const ends = readPartitions().map((row) => row.endOffset)
    const largest = new Map<number, number>()
    const timestampMs = fx.nowMs()
    let recordCount = ends.reduce((sum, end) => sum + end, 0n)
    for (const record of records) {
      const partition = partitionOf(record, partitions, recordCount++)
      const end = ends[partition]
      if (end === undefined) {
        throw new StreamtopError('usage', `topic ${name} has no partition ${partition}: it has ${counted(partitions)}`, {
          hint: 'partitions are numbered from 0',
        })
      }
      const size = (record.key?.length ?? 0) + (record.value?.length ?? 0)
      if (size > LARGEST_RECORD_BYTES) {
        throw new StreamtopError('bad-value', `a record of ${size} bytes is too large for topic ${name}: ${LARGEST_RECORD_BYTES} at most`)
      }
      insert.run(topic.number, partition, end, timestampMs, record.key, record.value, recordChecksum(timestampMs, record.key, record.value))
      ends[partition] = end + 1n
      largest.set(partition, Math.max(largest.get(partition) ?? 0, size))
    }
    const written = new Map<number, bigint>()
    for (const [partition, largestBytes] of largest) {
      const end = ends[partition] as bigint
      moveEnd.run(end, largestBytes, topic.number, partition)
      written.set(partition, end)
    }
    return written
  }

  function send(next: () => readonly OutgoingRecord[]): PartitionOffsets {
    return explained(path, () => {
      const ends = synced(database, () => append.immediate(next))
      checkpointWhenGrown(database)
      return ends
    })
  }

  return {
    partitions,
    endOffsets: () => new Map(explained(path, readPartitions).map((row) => [row.partition, row.endOffset])),
    send: async (records) => (records.length === 0 ? new Map() : send(() => records)),
    sendGenerated: async (make) =>
      send(() => {
        const { records, state } = make(readGenerator.get(topic.number) as string | null)
        writeGenerator.run(state, topic.number)
        return records
      }),
    isMoved: () => fx.files.status(path)?.fileId !== fileId,
    close: async () => {
      database.close()
    },
  }
}

const LARGEST_RECORD_BYTES = 64 * 1024 * 1024
const MOST_PARTITIONS = 1_000

function checkPartitions(count: number | undefined): void {
  if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= MOST_PARTITIONS)) return
  throw new StreamtopError('usage', `a topic cannot have ${count} partitions`, { hint: `give a whole number from 1 to ${MOST_PARTITIONS}` })
}

/** A record without a key goes to the partition after that of the record before it. */
function partitionOf(record: OutgoingRecord, partitions: number, recordCount: bigint): number {
  if (record.partition !== undefined) return record.partition
  return record.key === null ? Number(recordCount % BigInt(partitions)) : partitionOfKey(record.key, partitions)
}

function counted(partitions: number): string {
  return partitions === 1 ? '1 partition' : `${partitions} partitions`
}
