/** What has to be known of a table's version to read and count its rows later, when the log is closed again. */
import type { StreamtopError } from '../errors.js'
import { checkReadable } from '../store/features.js'
import type { Snapshot } from '../store/table-log.js'
import type { OverlaidLog } from './overlaid-log.js'

/** A table at one version, with what is needed to read its files. */
export interface TableView {
  readonly snapshot: Snapshot
  /** Where its data files lie. */
  readonly tablesFolder: string
  /** What `_counts.db` keeps of a file's rows holds for this version's columns. */
  readonly hasOneSchema: boolean
}

/**
 * The view of a table at a version, the newest unless given; null when there is no such table.
 * @throws what makes the table unreadable, unknown-table for a version that it does not have
 */
export function viewOf(log: OverlaidLog, table: string, version?: number): TableView | null {
  const snapshot = log.snapshot(table, version)
  if (snapshot === null) return null
  checkReadable(table, snapshot.protocol, snapshot.metadata)
  return { snapshot, tablesFolder: log.tablesFolder, hasOneSchema: log.hasOneSchema(table) }
}

/** The same, with an error as the answer. */
export function tryViewOf(log: OverlaidLog, table: string): TableView | StreamtopError | null {
  try {
    return viewOf(log, table)
  } catch (error) {
    return error as StreamtopError
  }
}
