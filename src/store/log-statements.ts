/**
 * Every statement that sqlite-log.ts runs. What is live at a version is decided here: added at or before it, not removed at or before it.
 * Of a file or an app id that a version names twice, which no version should, the last counts, as for Spark.
 */
import type { Database, Statement } from '../database.js'

const TABLE_COLUMNS = 'table_key AS tableKey, name, table_id AS tableId'

const FILE_COLUMNS = `path, added_version AS addedVersion, position, size, modified_ms AS modifiedMs, data_change AS dataChange,
  partition_values AS partitionValues, statistics, deletion_vector AS deletionVector, crc32`

const SQL = {
  liveTables: `SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'live' ORDER BY name`,
  liveTable: `SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'live' AND name = ?`,
  droppingTables: `SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'dropping'`,
  droppedId: "SELECT 1 FROM tables WHERE state <> 'live' AND table_id = ?",
  addTable: 'INSERT INTO tables (name, table_id, state) VALUES (?, ?, ?)',
  setState: 'UPDATE tables SET state = ? WHERE table_key = ?',
  setTableId: 'UPDATE tables SET table_id = ? WHERE table_key = ?',
  oldestShape: 'SELECT min(at_version) FROM shapes WHERE table_key = ?',
  newestVersion: 'SELECT max(version) FROM versions WHERE table_key = ?',
  oldestVersion: 'SELECT min(version) FROM versions WHERE table_key = ?',
  versionText: 'SELECT text FROM versions WHERE table_key = ? AND version = ?',
  versions: 'SELECT version, timestamp_ms AS timestampMs, operation, text FROM versions WHERE table_key = ? ORDER BY version DESC LIMIT ?',
  addVersion: 'INSERT INTO versions (table_key, version, timestamp_ms, operation, text, live_files) VALUES (?, ?, ?, ?, ?, ?)',
  liveFiles: 'SELECT live_files FROM versions WHERE table_key = ? AND version = ?',
  countLiveFiles: 'SELECT count(*) FROM files WHERE table_key = ? AND removed_version IS NULL',
  metadata:
    'SELECT at_version AS at, metadata AS text, metadata, protocol, crc32 FROM shapes WHERE table_key = ? AND at_version <= ? AND metadata IS NOT NULL ORDER BY at_version DESC LIMIT 1',
  protocol:
    'SELECT at_version AS at, protocol AS text, metadata, protocol, crc32 FROM shapes WHERE table_key = ? AND at_version <= ? AND protocol IS NOT NULL ORDER BY at_version DESC LIMIT 1',
  addShape: 'INSERT INTO shapes (table_key, at_version, metadata, protocol, crc32) VALUES (?, ?, ?, ?, ?)',
  filesAt: `SELECT ${FILE_COLUMNS} FROM files WHERE table_key = @tableKey AND added_version <= @version AND (removed_version IS NULL OR removed_version > @version)
     ORDER BY added_version, position`,
  everyPath: 'SELECT DISTINCT path FROM files WHERE table_key = ?',
  removedFiles: `SELECT ${FILE_COLUMNS}, removed_version AS removedVersion
     FROM files WHERE table_key = ? AND removed_version <= ? AND removed_version > added_version ORDER BY removed_version`,
  metadataTexts: 'SELECT metadata FROM shapes WHERE table_key = ? AND metadata IS NOT NULL',
  addFile: `INSERT OR REPLACE INTO files (table_key, path, vector_id, added_version, position, size, modified_ms, data_change, partition_values, statistics, deletion_vector,
       crc32)
     VALUES (@tableKey, @path, @vectorId, @addedVersion, @position, @size, @modifiedMs, @dataChange, @partitionValues, @statistics, @deletionVector,
       @crc32)`,
  removeFile: 'UPDATE files SET removed_version = ? WHERE table_key = ? AND path = ? AND vector_id = ? AND removed_version IS NULL',
  addTxn: 'INSERT OR REPLACE INTO txns (table_key, app_id, at_version, version, last_updated_ms, crc32) VALUES (?, ?, ?, ?, ?, ?)',
  newestTxn: `SELECT app_id AS appId, version, last_updated_ms AS lastUpdatedMs, at_version AS atVersion, crc32
     FROM txns WHERE table_key = ? AND app_id = ? ORDER BY at_version DESC LIMIT 1`,
  versionOfTxn: `SELECT at_version FROM txns JOIN versions USING (table_key) WHERE table_key = ? AND app_id = ? AND txns.version = ? AND versions.version = at_version
     ORDER BY at_version DESC LIMIT 1`,
  txnsAt: `SELECT app_id AS appId, version, last_updated_ms AS lastUpdatedMs, max(at_version) AS atVersion, crc32
     FROM txns WHERE table_key = @tableKey AND at_version <= @version GROUP BY app_id`,
  forgetVersions: 'DELETE FROM versions WHERE table_key = ?',
  forgetShapes: 'DELETE FROM shapes WHERE table_key = ?',
  forgetFiles: 'DELETE FROM files WHERE table_key = ?',
  forgetTxns: 'DELETE FROM txns WHERE table_key = ?',
  forgetPrepared: 'DELETE FROM prepared WHERE table_key = ?',
  forgetJointVersions: 'DELETE FROM joint_versions WHERE table_key = ?',
} as const

/** Those that give one value a row. */
const PLUCKED: ReadonlySet<string> = new Set<keyof typeof SQL>([
  'oldestShape',
  'newestVersion',
  'oldestVersion',
  'versionText',
  'everyPath',
  'metadataTexts',
  'versionOfTxn',
  'liveFiles',
  'countLiveFiles',
])

export type LogStatements = Readonly<Record<keyof typeof SQL, Statement>>

/** Each is prepared when it is first run: whoever opens the log for a look needs few of them. */
export function logStatements(database: Database): LogStatements {
  const statements = {}
  for (const [name, sql] of Object.entries(SQL)) {
    Object.defineProperty(statements, name, {
      configurable: true,
      enumerable: true,
      get() {
        const statement = database.prepare(sql)
        const value = PLUCKED.has(name) ? statement.pluck() : statement
        Object.defineProperty(statements, name, { value, enumerable: true })
        return value
      },
    })
  }
  return statements as LogStatements
}
