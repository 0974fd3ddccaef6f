/**
 * What a reader sees of tables: snapshots at versions, and the changes of single versions. The store answers from the SQLite
 * log; `observe` lays what that log does not have yet over it; a test answers from memory.
 */
import type { AddFile, Metadata, Protocol, Txn, VersionActions } from './actions.js'
import type { Schema } from './schema.js'

/** A table at one version. */
export interface Snapshot {
  readonly table: string
  readonly tableId: string
  readonly version: number
  readonly protocol: Protocol
  readonly metadata: Metadata
  readonly schema: Schema
  /** Live files, in the order in which they were added. */
  readonly files: readonly AddFile[]
  /** The newest of each app id, which is not always the greatest. */
  readonly txns: ReadonlyMap<string, Txn>
}

export interface TableLog {
  /** Names of the tables, sorted. */
  tableNames(): string[]
  /** The table's `metaData.id`; null when there is no such table. */
  tableId(table: string): string | null
  /** Null when there is no such table. */
  newestVersion(table: string): number | null
  /** The oldest version whose changes can still be read. */
  oldestVersion(table: string): number | null
  /** The oldest version whose snapshot can be asked for: later where texts from before a table checkpoint are left. */
  oldestSnapshotVersion(table: string): number | null
  /** The table at a version (the newest unless given); null when there is no such table, an error when no such version. */
  snapshot(table: string, version?: number): Snapshot | null
  /** What one version did. */
  changes(table: string, version: number): VersionActions
}
