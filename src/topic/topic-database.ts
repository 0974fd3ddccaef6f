/**
 * The file behind the embedded topics: `<workspace>/topics.db`.
 *
 * `partitions` holds where each partition starts and ends, so that an end offset is one row and not a scan; a record's place
 * is (topic, partition, offset), and a range of records is one walk along the primary key.
 */
import { join } from 'node:path'
import { type Database, openDatabase, synced } from '../database.js'
import type { Effects } from '../effects.js'
import { isDamagedSchema, isMachineError, StreamtopError } from '../errors.js'
import { cutPageOf } from '../whole-pages.js'

/** A topic as its row has it. */
export interface TopicRow {
  /** The number that stands for the topic in the other tables. */
  readonly number: number
  readonly name: string
  readonly topicId: string
  readonly partitions: number
}

/** Where a partition starts and ends, end-exclusive. */
export interface PartitionRow {
  readonly partition: number
  readonly firstOffset: bigint
  readonly endOffset: bigint
}

const TOPICS = 'topics.db'

/** The path of a workspace's topics. */
export function topicsPath(workspace: string): string {
  return join(workspace, TOPICS)
}

/** Opens the topics of a workspace to read; null when there are none yet. Never creates anything. */
export function openTopicsToRead(workspace: string, fx: Effects): Database | null {
  const path = topicsPath(workspace)
  if (!fx.files.exists(path)) return null
  checkWholeTopics(path, fx)
  return explained(path, () => {
    const database = openDatabase(path, { readonly: true })
    try {
      if (formatOf(database, path) > 0) return database
    } catch (error) {
      database.close()
      throw error
    }
    database.close()
    return null
  })
}

/** Opens the topics of a workspace to write; the folder, the file and its tables are made when they are not there. */
export function openTopicsToWrite(workspace: string, fx: Effects): Database {
  const path = topicsPath(workspace)
  fx.files.makeFolder(workspace)
  checkWholeTopics(path, fx)
  return explained(path, () => {
    const database = openDatabase(path)
    try {
      if (formatOf(database, path) !== FORMAT) {
        const makeTables = database.transaction(() => {
          const format = formatOf(database, path)
          if (format === FORMAT) return
          database.exec(format === 0 ? TABLES : CHECKSUM_COLUMN)
          database.pragma(`user_version = ${FORMAT}`)
        })
        synced(database, () => makeTables.immediate())
      }
      // SQLite syncs the folder of a log that it makes itself; one that is there may be of a process that died before it had.
      fx.files.syncFolder(workspace)
    } catch (error) {
      database.close()
      throw error
    }
    return database
  })
}

/** How a record's checksum is selected: of format 1 there is none. */
export function checksumColumn(database: Database): string {
  return database.pragma('user_version', { simple: true }) === 1 ? 'NULL' : 'crc32'
}

/** The topic of that name, or null. */
export function topicRow(database: Database, name: string): TopicRow | null {
  return topicRows(database).find((topic) => topic.name === name) ?? null
}

/**
 * Every topic, by name.
 * @throws data-loss when one has another number of partitions than it says
 */
export function topicRows(database: Database): TopicRow[] {
  const rows = database.prepare(TOPIC_ROWS).all() as (TopicRow & { readonly found: number })[]
  return rows.map(({ found, ...topic }) => {
    if (found !== topic.partitions) throw damagedTopics(TOPICS, `topic ${topic.name} has ${found} partitions and says ${topic.partitions}`)
    return topic
  })
}

const TOPIC_ROWS = `
SELECT number, name, topic_id AS topicId, partitions, (SELECT count(*) FROM partitions WHERE topic = number) AS found
FROM topics ORDER BY name`

/**
 * A function that gives a topic's partitions in order; its statement is prepared once.
 * It throws data-loss when the last record of one is not where the partition says it ends.
 */
export function partitionReader(database: Database, topic: Pick<TopicRow, 'number' | 'name'>): () => PartitionRow[] {
  const statement = database.prepare(PARTITION_ROWS).raw().safeIntegers()
  return () =>
    (statement.all(topic.number) as [bigint, bigint, bigint, bigint | null][]).map(([partition, firstOffset, endOffset, lastOffset]) => {
      if (lastOffset !== null && lastOffset + 1n !== endOffset) {
        const where = `partition ${partition} of topic ${topic.name}`
        throw damagedTopics(TOPICS, `${where} says that it ends at ${endOffset}, and its last record is ${lastOffset}`)
      }
      return { partition: Number(partition), firstOffset, endOffset }
    })
}

const PARTITION_ROWS = `
SELECT partition, first_offset, end_offset,
       (SELECT max("offset") FROM records WHERE records.topic = partitions.topic AND records.partition = partitions.partition)
FROM partitions WHERE topic = ? ORDER BY partition`

/** Runs work on the database and turns SQLite's errors into sentences. */
export function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const code = (cause as { readonly code?: unknown }).code
    if (typeof code !== 'string' || !code.startsWith('SQLITE_')) throw cause
    const message = (cause as Error).message
    if (code.startsWith('SQLITE_BUSY')) {
      throw new StreamtopError('conflict', `${path} is held by another process`, { hint: 'try again when it has finished writing', cause })
    }
    if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT') || isDamagedSchema(code, message)) {
      throw damagedTopics(path, message, cause)
    }
    if (isMachineError(cause)) throw cause
    throw new StreamtopError('internal', `${path}: ${message} (${code})`, { cause })
  }
}

/** @throws data-loss for a file that was cut in the middle of a page */
export function checkWholeTopics(path: string, fx: Effects): void {
  const cut = cutPageOf(path, fx)
  if (cut !== null) throw damagedTopics(path, cut)
}

function damagedTopics(path: string, why: string, cause?: unknown): StreamtopError {
  return new StreamtopError('data-loss', `${path} is damaged: ${why}`, {
    hint: 'bring the file back from a copy, or move it away and send the records again',
    cause,
  })
}

/** Kept in SQLite's `user_version`; 0 is a file whose maker has not got to its tables. */
const FORMAT = 2

/** What format 2 has beside format 1, whose records have no checksum. */
const CHECKSUM_COLUMN = 'ALTER TABLE records ADD COLUMN crc32 INTEGER'

const TABLES = `
CREATE TABLE topics (
  number     INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  topic_id   TEXT NOT NULL,
  partitions INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  generator  TEXT
) STRICT;

CREATE TABLE partitions (
  topic         INTEGER NOT NULL REFERENCES topics,
  partition     INTEGER NOT NULL,
  first_offset  INTEGER NOT NULL,
  end_offset    INTEGER NOT NULL,
  largest_bytes INTEGER NOT NULL,
  PRIMARY KEY (topic, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
  topic        INTEGER NOT NULL,
  partition    INTEGER NOT NULL,
  "offset"     INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  key          BLOB,
  value        BLOB,
  crc32        INTEGER,
  PRIMARY KEY (topic, partition, "offset")
) STRICT, WITHOUT ROWID;
`

function formatOf(database: Database, path: string): number {
  const format = database.pragma('user_version', { simple: true }) as number
  if (format <= FORMAT) return format
  throw new StreamtopError('unsupported-feature', `${path} has format ${format}, made by a newer streamtop; this one knows ${FORMAT}`, {
    hint: 'update streamtop',
  })
}
