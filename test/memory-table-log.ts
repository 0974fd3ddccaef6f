/** A log of tables in memory, for tests of what is pure over one: versions are given as actions or as the text of version files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AddFile, RemoveFile, VersionActions } from '../src/store/actions.js'
import { applyVersion } from '../src/store/replay.js'
import type { Snapshot, TableLog } from '../src/store/table-log.js'
import { parseVersion } from '../src/store/version-text.js'
import { sparkWorkspace } from './spark-fixtures.js'

export interface MemoryTableLog extends TableLog {
  /** Versions whose changes were asked for, in order. */
  readonly asked: number[]
  /** How often a snapshot was asked for. */
  snapshots: number
}

/**
 * @param tables versions of each table in order; `oldest` versions of it are cleaned up
 */
export function memoryTableLog(tables: Readonly<Record<string, readonly VersionActions[]>>, oldest = 0): MemoryTableLog {
  const log: MemoryTableLog = {
    asked: [],
    snapshots: 0,
    tableNames: () => Object.keys(tables).sort(),
    tableId: (table) => tables[table]?.find((actions) => actions.metadata !== null)?.metadata?.id ?? null,
    newestVersion: (table) => (tables[table] ? tables[table].length - 1 : null),
    oldestVersion: (table) => (tables[table] ? oldest : null),
    oldestSnapshotVersion: (table) => (tables[table] ? oldest : null),
    snapshot(table, version) {
      log.snapshots++
      let snapshot: Snapshot | null = null
      for (const [v, actions] of (tables[table] ?? []).entries()) if (v <= (version ?? v)) snapshot = applyVersion(snapshot, table, v, actions)
      return snapshot
    },
    changes(table, version) {
      log.asked.push(version)
      const actions = tables[table]?.[version]
      if (!actions || version < oldest) throw new Error(`version ${version} of ${table} is not there`)
      return actions
    },
  }
  return log
}

/** The versions that the `_delta_log` of `bronze_orders` in a fixture holds. */
export function fixtureVersions(name: string): VersionActions[] {
  const folder = join(sparkWorkspace(name), 'tables', 'bronze_orders', '_delta_log')
  return readdirSync(folder)
    .filter((file) => /^\d{20}\.json$/.test(file))
    .sort()
    .map((file) => parseVersion(readFileSync(join(folder, file), 'utf8'), file))
}

export const SOURCE_ID = '7b1d3f9a-54a3-4a0e-8a1d-1b6b2f5a7c11'

/** Version 0 of a table: its metadata, and files. */
export function created(files: readonly AddFile[] = [], columns: readonly string[] = ['a'], id = SOURCE_ID): VersionActions {
  return { ...did({ adds: files }), protocol: { minReaderVersion: 1, minWriterVersion: 2 }, metadata: metadata(columns, id) }
}

export function metadata(columns: readonly string[], id = SOURCE_ID, nullable = true, type = 'integer') {
  const fields = columns.map((name) => ({ name, type, nullable, metadata: {} }))
  return { id, schemaString: JSON.stringify({ type: 'struct', fields }), partitionColumns: [], configuration: {}, createdTimeMs: 0 }
}

/** One version. */
export function did(actions: Partial<VersionActions>): VersionActions {
  return { commitInfo: { operation: 'WRITE' }, metadata: null, protocol: null, txns: [], adds: [], removes: [], ...actions }
}

export function added(path: string, change: Partial<AddFile> = {}): AddFile {
  return { path, size: 100, modifiedMs: 0, dataChange: true, partitionValues: {}, statistics: '{"numRecords":3}', deletionVector: null, ...change }
}

export function removed(path: string, dataChange = true): RemoveFile {
  return { path, deletedMs: 0, dataChange, deletionVector: null, size: null, partitionValues: {}, rowCount: null }
}
