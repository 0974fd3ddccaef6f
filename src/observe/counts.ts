/** The counts of one table, looked up once. */
import type { Effects } from '../effects.js'
import { tablesFolderOf } from '../store/workspace-paths.js'
import { FileRows } from './file-rows.js'
import { OverlaidLog } from './overlaid-log.js'
import { type RowCount, TableCounter } from './table-counter.js'
import { type TableView, viewOf } from './table-view.js'

/**
 * Rows and distinct rows of a table at its newest version; null when there is no such table.
 * @throws what makes the table unreadable: table-damaged, unsupported-feature, unsupported-type
 */
export async function countTable(workspace: string, table: string, fx: Effects): Promise<RowCount | null> {
  const view = lookAt(workspace, table, undefined, fx)
  if (view === null) return null
  const fileRows = new FileRows(tablesFolderOf(workspace), fx)
  try {
    return await new TableCounter().count(view, fileRows)
  } finally {
    fileRows.close()
  }
}

/** A table at a version, the newest unless given; null when there is no such table. Throws as `viewOf`. */
export function lookAt(workspace: string, table: string, version: number | undefined, fx: Effects): TableView | null {
  const log = OverlaidLog.open(workspace, fx)
  try {
    return viewOf(log, table, version)
  } finally {
    log.close()
  }
}
