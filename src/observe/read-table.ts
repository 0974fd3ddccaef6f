/** The rows of a table for showing, in the table's order. */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import { concatColumns, emptyColumns } from '../store/columns.js'
import { FILE_IS_GONE } from '../store/file-path.js'
import { lookAt } from './counts.js'
import { readFileRows } from './read-file-rows.js'

export interface ReadOptions {
  /** The newest unless given. */
  readonly version?: number | undefined
  /** No further file is opened once so many rows are there; more than that may come back. All rows unless given. */
  readonly enough?: number | undefined
}

export interface TableRows {
  readonly version: number
  readonly columns: Columns
}

/** All rows of a table; null when there is no such table. Throws as `readTableRows`. */
export async function readTable(workspace: string, table: string, fx: Effects): Promise<Columns | null> {
  return (await readTableRows(workspace, table, {}, fx))?.columns ?? null
}

/**
 * Rows of a table at a version; null when there is no such table.
 * @throws unknown-table for a version that it does not have, and what makes it unreadable
 */
export async function readTableRows(workspace: string, table: string, options: ReadOptions, fx: Effects): Promise<TableRows | null> {
  const view = lookAt(workspace, table, options.version, fx)
  if (view === null) return null
  const { files, schema, version } = view.snapshot
  const parts: Columns[] = []
  let rowCount = 0
  for (const file of files) {
    if (options.enough !== undefined && rowCount >= options.enough) break
    const part = await readFileRows(view, file, fx).catch((error: unknown) => {
      if (!(error instanceof StreamtopError) || error.condition !== FILE_IS_GONE) throw error
      const now = lookAt(workspace, table, undefined, fx)?.snapshot
      if (now?.tableId !== view.snapshot.tableId) throw droppedMeanwhile(table, error)
      throw version < now.version ? versionVacuumed(table, version, error) : error
    })
    rowCount += part.rowCount
    parts.push(part)
  }
  return { version, columns: parts.length === 0 ? emptyColumns(schema) : concatColumns(schema, parts) }
}

function droppedMeanwhile(table: string, cause: unknown): StreamtopError {
  return new StreamtopError('unknown-table', `table ${table} was dropped while it was read`, {
    hint: 'run "streamtop status" to see the tables that are there',
    cause,
  })
}

function versionVacuumed(table: string, version: number, cause: unknown): StreamtopError {
  return new StreamtopError(
    'version-vacuumed',
    `version ${version} of table ${table} cannot be shown any more: files of it were removed, most likely by a vacuum`,
    {
      hint: `show the newest version, or one that is not older than the vacuum kept: "streamtop history ${table}"`,
      condition: FILE_IS_GONE,
      cause,
    },
  )
}
