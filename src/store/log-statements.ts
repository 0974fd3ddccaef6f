/** Every statement that sqlite-log.ts runs. What is live at a version is decided here: added at or before it, not removed at or before it. */
import type { Database } from '../database.js'

const TABLE_COLUMNS = 'table_key AS tableKey, name, table_id AS tableId'

export type LogStatements = ReturnType<typeof prepareLogStatements>

/** Prepares them all, once a handle. */
export function prepareLogStatements(database: Database) {
  const prepare = (sql: string) => database.prepare(sql)
  return {
    liveTables: prepare(`SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'live' ORDER BY name`),
    liveTable: prepare(`SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'live' AND name = ?`),
    droppingTables: prepare(`SELECT ${TABLE_COLUMNS} FROM tables WHERE state = 'dropping'`),
    droppedId: prepare("SELECT 1 FROM tables WHERE state <> 'live' AND table_id = ?"),
    addTable: prepare("INSERT INTO tables (name, table_id, state) VALUES (?, ?, 'live')"),
    setState: prepare('UPDATE tables SET state = ? WHERE table_key = ?'),
    oldestShape: prepare('SELECT min(at_version) FROM shapes WHERE table_key = ?').pluck(),
    newestVersion: prepare('SELECT max(version) FROM versions WHERE table_key = ?').pluck(),
    oldestVersion: prepare('SELECT min(version) FROM versions WHERE table_key = ?').pluck(),
    versionText: prepare('SELECT text FROM versions WHERE table_key = ? AND version = ?').pluck(),
    versions: prepare('SELECT version, timestamp_ms AS timestampMs, operation, text FROM versions WHERE table_key = ? ORDER BY version DESC LIMIT ?'),
    addVersion: prepare('INSERT INTO versions (table_key, version, timestamp_ms, operation, text) VALUES (?, ?, ?, ?, ?)'),
    metadata: prepare(
      'SELECT at_version AS at, metadata AS text FROM shapes WHERE table_key = ? AND at_version <= ? AND metadata IS NOT NULL ORDER BY at_version DESC LIMIT 1',
    ),
    protocol: prepare(
      'SELECT at_version AS at, protocol AS text FROM shapes WHERE table_key = ? AND at_version <= ? AND protocol IS NOT NULL ORDER BY at_version DESC LIMIT 1',
    ),
    addShape: prepare('INSERT INTO shapes (table_key, at_version, metadata, protocol) VALUES (?, ?, ?, ?)'),
    filesAt: prepare(
      `SELECT path, size, modified_ms AS modifiedMs, data_change AS dataChange, partition_values AS partitionValues, statistics, deletion_vector AS deletionVector
       FROM files WHERE table_key = @tableKey AND added_version <= @version AND (removed_version IS NULL OR removed_version > @version)
       ORDER BY added_version, position`,
    ),
    everyPath: prepare('SELECT DISTINCT path FROM files WHERE table_key = ?').pluck(),
    removedFiles: prepare(
      `SELECT path, size, modified_ms AS modifiedMs, data_change AS dataChange, partition_values AS partitionValues, statistics,
         deletion_vector AS deletionVector, removed_version AS removedVersion
       FROM files WHERE table_key = ? AND removed_version <= ? AND removed_version > added_version ORDER BY removed_version`,
    ),
    metadataTexts: prepare('SELECT metadata FROM shapes WHERE table_key = ? AND metadata IS NOT NULL').pluck(),
    addFile: prepare(
      `INSERT INTO files (table_key, path, vector_id, added_version, position, size, modified_ms, data_change, partition_values, statistics, deletion_vector)
       VALUES (@tableKey, @path, @vectorId, @version, @position, @size, @modifiedMs, @dataChange, @partitionValues, @statistics, @deletionVector)`,
    ),
    removeFile: prepare('UPDATE files SET removed_version = ? WHERE table_key = ? AND path = ? AND vector_id = ? AND removed_version IS NULL'),
    addTxn: prepare('INSERT INTO txns (table_key, app_id, at_version, version, last_updated_ms) VALUES (?, ?, ?, ?, ?)'),
    newestTxn: prepare(
      `SELECT app_id AS appId, version, last_updated_ms AS lastUpdatedMs, at_version AS atVersion
       FROM txns WHERE table_key = ? AND app_id = ? ORDER BY at_version DESC LIMIT 1`,
    ),
    versionOfTxn: prepare(
      `SELECT at_version FROM txns JOIN versions USING (table_key) WHERE table_key = ? AND app_id = ? AND txns.version = ? AND versions.version = at_version
       ORDER BY at_version DESC LIMIT 1`,
    ).pluck(),
    txnsAt: prepare(
      `SELECT app_id AS appId, version, last_updated_ms AS lastUpdatedMs, max(at_version) AS atVersion
       FROM txns WHERE table_key = @tableKey AND at_version <= @version GROUP BY app_id`,
    ),
    forget: ['versions', 'shapes', 'files', 'txns'].map((name) => prepare(`DELETE FROM ${name} WHERE table_key = ?`)),
  }
}
