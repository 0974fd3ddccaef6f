/**
 * The tables of `_log.db`, meant to be read by a person too: `sqlite3 tables/_log.db 'select * from log'`.
 *
 * `versions` has every version's text; `files` and `txns` are what snapshots are queried from: a file is live at version v
 * when it was added at or before v and not removed at or before v. Rows of these have a checksum, and a version says how many files
 * are live at it, so that another value is noticed. `ledger` has each attempt and what it wrote. `prepared` has
 * what a joint commit is about to link, and `joint_versions` which versions belong together.
 */
import { type Database, openDatabase, synced } from '../database.js'
import { openDatabaseToRead } from '../database-to-read.js'
import type { Effects } from '../effects.js'
import { isMachineError, StreamtopError } from '../errors.js'
import { cutPageOf } from '../whole-pages.js'

const FORMAT = 3

/** What format 2 has beside format 1: joint commits. */
const JOINT_SCHEMA = `
CREATE TABLE prepared (
  joint_id   TEXT NOT NULL,
  position   INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  table_key  INTEGER,
  version    INTEGER NOT NULL,
  text       TEXT NOT NULL,
  writer     TEXT NOT NULL,
  PRIMARY KEY (joint_id, position)
) WITHOUT ROWID;

CREATE TABLE joint_versions (
  joint_id    TEXT NOT NULL,
  table_key   INTEGER NOT NULL,
  version     INTEGER NOT NULL,
  table_count INTEGER NOT NULL,
  PRIMARY KEY (joint_id, table_key)
) WITHOUT ROWID;
`

/** What format 3 has beside format 2: what tells that a row is what was recorded. */
const CHECKED_ROWS = `
ALTER TABLE versions ADD COLUMN live_files INTEGER;
ALTER TABLE shapes ADD COLUMN crc32 INTEGER;
ALTER TABLE files ADD COLUMN crc32 INTEGER;
ALTER TABLE txns ADD COLUMN crc32 INTEGER;
`

/** The same for a reader of an older log, where a temporary view hides the table of its name. */
const UNCHECKED_ROWS = `
CREATE TEMP VIEW versions AS SELECT *, NULL AS live_files FROM main.versions;
CREATE TEMP VIEW shapes AS SELECT *, NULL AS crc32 FROM main.shapes;
CREATE TEMP VIEW files AS SELECT *, NULL AS crc32 FROM main.files;
CREATE TEMP VIEW txns AS SELECT *, NULL AS crc32 FROM main.txns;
`

const SCHEMA = `
CREATE TABLE tables (
  table_key INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  table_id  TEXT NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('live', 'dropping', 'dropped'))
);
CREATE UNIQUE INDEX tables_by_name ON tables (name) WHERE state = 'live';

CREATE TABLE versions (
  table_key    INTEGER NOT NULL REFERENCES tables,
  version      INTEGER NOT NULL,
  timestamp_ms INTEGER,
  operation    TEXT,
  text         TEXT NOT NULL,
  PRIMARY KEY (table_key, version)
);

CREATE TABLE shapes (
  table_key  INTEGER NOT NULL,
  at_version INTEGER NOT NULL,
  metadata   TEXT,
  protocol   TEXT,
  PRIMARY KEY (table_key, at_version)
) WITHOUT ROWID;

CREATE TABLE files (
  table_key        INTEGER NOT NULL,
  path             TEXT NOT NULL,
  vector_id        TEXT NOT NULL,
  added_version    INTEGER NOT NULL,
  position         INTEGER NOT NULL,
  removed_version  INTEGER,
  size             INTEGER NOT NULL,
  modified_ms      INTEGER NOT NULL,
  data_change      INTEGER NOT NULL,
  partition_values TEXT NOT NULL,
  statistics       TEXT,
  deletion_vector  TEXT,
  PRIMARY KEY (table_key, path, vector_id, added_version)
);
CREATE INDEX live_files ON files (table_key, path, vector_id) WHERE removed_version IS NULL;
CREATE INDEX files_by_version ON files (table_key, added_version, position);

CREATE TABLE txns (
  table_key       INTEGER NOT NULL,
  app_id          TEXT NOT NULL,
  at_version      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  last_updated_ms INTEGER,
  PRIMARY KEY (table_key, app_id, at_version)
) WITHOUT ROWID;

CREATE TABLE ledger (
  query_id       TEXT NOT NULL,
  batch_id       INTEGER NOT NULL,
  attempt        INTEGER NOT NULL,
  write_number   INTEGER NOT NULL,
  query          TEXT NOT NULL,
  range_start    TEXT,
  range_end      TEXT NOT NULL,
  idempotent     INTEGER NOT NULL,
  table_name     TEXT,
  table_id       TEXT,
  rows           INTEGER,
  app_id         TEXT,
  txn_version    INTEGER,
  outcome        TEXT NOT NULL CHECK (outcome IN ('started', 'committed', 'already-committed', 'unchanged')),
  version        INTEGER,
  left_out_rows  INTEGER,
  reason         TEXT,
  started_ms     INTEGER,
  finished_ms    INTEGER,
  PRIMARY KEY (query_id, batch_id, attempt, write_number)
) WITHOUT ROWID;
CREATE INDEX ledger_by_query ON ledger (query, batch_id);

CREATE TABLE runs (
  query         TEXT PRIMARY KEY,
  query_id      TEXT,
  run_id        TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  process_start TEXT,
  idempotent    INTEGER NOT NULL,
  app_id        TEXT NOT NULL,
  state         TEXT NOT NULL,
  error         TEXT,
  progress      TEXT,
  started_ms    INTEGER NOT NULL,
  updated_ms    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE VIEW log AS
  SELECT name AS "table", version, datetime(timestamp_ms / 1000.0, 'unixepoch') AS time, operation,
         (SELECT group_concat(app_id || ' ' || txns.version, ', ') FROM txns WHERE txns.table_key = versions.table_key AND at_version = versions.version) AS txn,
         (SELECT count(*) FROM files WHERE files.table_key = versions.table_key AND added_version = versions.version) AS files_added,
         (SELECT count(*) FROM files WHERE files.table_key = versions.table_key AND removed_version = versions.version) AS files_removed
  FROM versions JOIN tables USING (table_key) WHERE state = 'live' ORDER BY name, version;

CREATE VIEW live AS
  SELECT name AS "table", path, size, json_extract(statistics, '$.numRecords') AS rows, added_version
  FROM files JOIN tables USING (table_key) WHERE state = 'live' AND removed_version IS NULL ORDER BY name, added_version, position;
`

/**
 * Opens `_log.db`, with its tables made when it is new.
 * @throws table-damaged when the file is not a log of streamtop's, or one of a newer format
 */
export function openLogDatabase(path: string): Database {
  return checked(path, openDatabase(path), (database) => {
    if (readFormat(database) >= FORMAT) return
    database
      .transaction(() => {
        const format = readFormat(database)
        if (format >= FORMAT) return
        if (format === 0) database.exec(SCHEMA)
        if (format < 2) database.exec(JOINT_SCHEMA)
        database.exec(CHECKED_ROWS)
        database.pragma(`user_version = ${FORMAT}`)
      })
      .immediate()
  })
}

/**
 * Opens `_log.db` for a reader, who leaves no trace where it lies; null when it is not there, or its maker has not got to its tables.
 * @throws table-damaged as `openLogDatabase`
 */
export function openLogToRead(path: string, fx: Effects): Database | null {
  checkWholeLog(path, fx)
  const found = openDatabaseToRead(path, fx)
  const database = found && checked(path, found, () => undefined)
  if (database === null) return null
  const format = readFormat(database)
  // A reader may not write into an older log, but beside it.
  if (format === 1) database.exec(JOINT_SCHEMA.replaceAll('CREATE TABLE', 'CREATE TEMP TABLE'))
  if (format === 1 || format === 2) database.exec(UNCHECKED_ROWS)
  if (format !== 0) return database
  database.close()
  return null
}

function checked(path: string, database: Database, prepare: (database: Database) => void): Database {
  try {
    synced(database, () => prepare(database))
    const format = readFormat(database)
    if (format > FORMAT) {
      throw new StreamtopError('table-damaged', `${path} was written by a newer streamtop (format ${format})`, { hint: 'update streamtop' })
    }
    return database
  } catch (cause) {
    database.close()
    if (cause instanceof StreamtopError || isMachineError(cause)) throw cause
    throw damagedLog(path, (cause as Error).message, cause)
  }
}

function damagedLog(path: string, why: string, cause?: unknown): StreamtopError {
  return new StreamtopError('table-damaged', `${path} is not a transaction log that can be read: ${why}`, {
    hint: 'delete _log.db (with its -wal and -shm): it is built again from the _delta_log of each table; only attempts, replays and skips are lost',
    cause,
  })
}

/** @throws table-damaged for a log that was cut in the middle of a page */
export function checkWholeLog(path: string, fx: Effects): void {
  const cut = cutPageOf(path, fx)
  if (cut !== null) throw damagedLog(path, cut)
}

function readFormat(database: Database): number {
  return database.pragma('user_version', { simple: true }) as number
}
