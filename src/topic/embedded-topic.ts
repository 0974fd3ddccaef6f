/**
 * The embedded topic, to read: records in `topics.db`, behind the same interface as a Kafka topic. Read-only: it never creates
 * or changes anything, a topic that is not there yet is an empty one, and it may appear while somebody waits for it.
 *
 * Offsets have no holes here, so a range that is not there whole is noticed on the spot.
 */
import type { Database, Statement } from '../database.js'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import type { PartitionOffsets, RecordBatch, Topic, TopicIdentity } from './topic.js'
import { recordChecksum } from './record-checksum.js'
import { checksumColumn, explained, openTopicsToRead, type PartitionRow, partitionReader, type TopicRow, topicRow, topicsPath } from './topic-database.js'

/**
 * Opens a topic of a workspace to read. Neither the topic nor the workspace need be there.
 *
 * Errors: `bad-name`; later `source-missing` from `identity` and `read` of a topic that is not there, and `data-loss`.
 */
export function openEmbeddedTopic(workspace: string, name: string, fx: Effects): Topic {
  checkName('topic', name)
  const path = topicsPath(workspace)
  let opened: OpenTopic | null = null
  let closed = false

  function open(): OpenTopic | null {
    if (closed) throw new StreamtopError('internal', `topic ${name} was used after it was closed`)
    opened ??= openTopic(workspace, name, fx)
    return opened
  }

  function existing(): OpenTopic {
    const topic = open()
    if (topic) return topic
    throw missing()
  }

  function missing(): StreamtopError {
    return new StreamtopError('source-missing', `there is no topic ${name} in ${workspace}`, {
      hint: 'send something first: streamtop produce --all',
      condition: 'UNKNOWN_TOPIC_OR_PARTITION',
    })
  }

  function offsets(pick: (row: PartitionRow) => bigint): PartitionOffsets {
    const topic = open()
    return new Map(topic ? explained(path, topic.partitions).map((row) => [row.partition, pick(row)]) : [])
  }

  return {
    name,
    description: `EmbeddedTopic[Subscribe[${name}]]`,
    missing,
    exists: () => open() !== null,
    setIsolation() {},
    identity: async (): Promise<TopicIdentity> => ({ kind: 'embedded', name, topicId: existing().row.topicId }),
    startOffsets: async () => offsets((row) => row.firstOffset),
    endOffsets: async () => offsets((row) => row.endOffset),

    async *read(partition, start, end) {
      for (let next = start; next < end; ) {
        const topic = existing()
        const batch = explained(path, () => readPiece(topic, partition, next, end))
        yield batch
        next += BigInt(batch.rowCount)
      }
    },

    async waitForMore(past, signal) {
      let looked: number | null = null
      while (!signal.aborted) {
        const topic = open()
        const version = topic ? explained(path, () => topic.dataVersion.get() as number) : null
        if (topic && version !== looked) {
          looked = version
          if (explained(path, topic.partitions).some((row) => row.endOffset !== (past.get(row.partition) ?? row.firstOffset))) return
        }
        await fx.sleep(POLL_MS, signal)
      }
    },

    async close() {
      closed = true
      opened?.database.close()
      opened = null
    },
  }
}

const POLL_MS = 10
const PIECE_ROWS = 10_000
const PIECE_BYTES = 16 * 1024 * 1024

interface OpenTopic {
  readonly row: TopicRow
  readonly database: Database
  readonly partitions: () => PartitionRow[]
  readonly bounds: Statement
  readonly piece: Statement
  /** Changes when another connection has committed. */
  readonly dataVersion: Statement
}

function openTopic(workspace: string, name: string, fx: Effects): OpenTopic | null {
  const database = openTopicsToRead(workspace, fx)
  if (!database) return null
  const row = explained(topicsPath(workspace), () => topicRow(database, name))
  if (!row) {
    database.close()
    return null
  }
  return {
    row,
    database,
    partitions: partitionReader(database, row),
    bounds: database.prepare('SELECT first_offset, end_offset, largest_bytes FROM partitions WHERE topic = ? AND partition = ?').raw().safeIntegers(),
    piece: database.prepare(pieceSql(checksumColumn(database))).raw(),
    dataVersion: database.prepare('PRAGMA data_version').pluck(),
  }
}

/**
 * A whole piece in one row: every key in one blob, every value in another, and their lengths (-1: null), times and places as
 * lists. A row a record costs four times as much, nearly all of it in crossing from SQLite to JavaScript.
 */
const pieceSql = (checksum: string) => `
SELECT cast(group_concat(key, '') AS BLOB), cast(group_concat(value, '') AS BLOB),
       group_concat(ifnull(length(key), -1)), group_concat(ifnull(length(value), -1)),
       group_concat(timestamp_ms), group_concat("offset" - ?), group_concat(ifnull(checksum, ''))
FROM (
  SELECT "offset", timestamp_ms, key, value, ${checksum} AS checksum FROM records
  WHERE topic = ? AND partition = ? AND "offset" >= ? AND "offset" < ? ORDER BY "offset"
)`

type PieceRow = [
  keys: Buffer | null,
  values: Buffer | null,
  keyLengths: string | null,
  valueLengths: string | null,
  timestamps: string | null,
  places: string | null,
  checksums: string | null,
]

/** The records from `start` on, at least one and not past `end`: as many as fit the size of a piece. */
function readPiece(topic: OpenTopic, partition: number, start: bigint, end: bigint): RecordBatch {
  const bounds = topic.bounds.get(topic.row.number, partition) as [bigint, bigint, bigint] | undefined
  if (!bounds) throw lost(topic, partition, `there is no partition ${partition}`, 'PARTITIONS_DELETED')
  const [firstOffset, endOffset, largestBytes] = bounds
  if (start < firstOffset) {
    const gone = (firstOffset < end ? firstOffset : end) - start
    throw lost(topic, partition, `${counted(gone)} from offset ${start} on are gone: it starts at ${firstOffset} now`, 'START_OFFSET_RESET')
  }
  if (end > endOffset) {
    const gone = end - (endOffset > start ? endOffset : start)
    throw lost(topic, partition, `${counted(gone)} up to offset ${end} are gone: it ends at ${endOffset} now`, 'COULD_NOT_READ_OFFSET_RANGE')
  }
  const fitting = Math.max(1, Math.min(PIECE_ROWS, Math.floor(PIECE_BYTES / Math.max(1, Number(largestBytes)))))
  const pieceEnd = end - start > BigInt(fitting) ? start + BigInt(fitting) : end
  const row = topic.piece.get(start, topic.row.number, partition, start, pieceEnd) as PieceRow
  return toBatch(topic, partition, start, Number(pieceEnd - start), row)
}

function toBatch(topic: OpenTopic, partition: number, start: bigint, rowCount: number, row: PieceRow): RecordBatch {
  const [keyBytes, valueBytes] = row
  const [keyLengths, valueLengths, timestamps, places, checksums] = [list(row[2]), list(row[3]), list(row[4]), list(row[5]), list(row[6])]
  const offsets = new BigInt64Array(rowCount)
  const timestampsMs = new Float64Array(rowCount)
  const keys = new Array<Uint8Array | null>(rowCount)
  const values = new Array<Uint8Array | null>(rowCount)
  let keyEnd = 0
  let valueEnd = 0
  for (let index = 0; index < rowCount; index++) {
    if (Number(places[index]) !== index) {
      throw lost(topic, partition, `the record at offset ${start + BigInt(index)} is gone`, 'COULD_NOT_READ_OFFSET_RANGE')
    }
    offsets[index] = start + BigInt(index)
    timestampsMs[index] = Number(timestamps[index])
    const keyLength = Number(keyLengths[index])
    const valueLength = Number(valueLengths[index])
    const key = keyLength < 0 ? null : slice(keyBytes, keyEnd, keyLength)
    const value = valueLength < 0 ? null : slice(valueBytes, valueEnd, valueLength)
    keys[index] = key
    values[index] = value
    if (keyLength > 0) keyEnd += keyLength
    if (valueLength > 0) valueEnd += valueLength
    const checksum = checksums[index]
    if (checksum !== '' && Number(checksum) !== recordChecksum(timestampsMs[index] as number, key, value)) {
      throw damaged(topic, partition, start + BigInt(index))
    }
  }
  return { partition, rowCount, offsets, timestampsMs, keys, values }
}

function list(text: string | null): string[] {
  return text === null ? [] : text.split(',')
}

function slice(bytes: Buffer | null, start: number, length: number): Uint8Array {
  return bytes === null ? new Uint8Array(0) : bytes.subarray(start, start + length)
}

function counted(records: bigint): string {
  return records === 1n ? '1 record' : `${records} records`
}

function damaged(topic: OpenTopic, partition: number, offset: bigint): StreamtopError {
  const where = `topic ${topic.row.name}, partition ${partition}`
  return new StreamtopError('bad-record', `${where}: the record at offset ${offset} is damaged: its checksum does not fit`, {
    hint: 'nothing of this batch was written; bring topics.db back from a copy',
    condition: 'CORRUPT_MESSAGE',
  })
}

function lost(topic: OpenTopic, partition: number, what: string, condition: string): StreamtopError {
  return new StreamtopError('data-loss', `topic ${topic.row.name}, partition ${partition}: ${what}`, {
    hint: 'what was not read before cannot be read any more; "reset" the query to start again from what is there',
    condition: `KAFKA_DATA_LOSS.${condition}`,
  })
}
