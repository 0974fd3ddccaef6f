/** A table as the status shows it: what is on disk, then its rows counted. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { FileRows } from './file-rows.js'
import type { OverlaidLog } from './overlaid-log.js'
import type { TableStatus } from './status.js'
import { statusErrorOf } from './status-error.js'
import type { RowCount, TableCounter } from './table-counter.js'
import { type TableView, tryViewOf } from './table-view.js'

export interface TableFacts {
  readonly name: string
  readonly id: string | null
  readonly version: number | null
  readonly files: number | null
  readonly orphans: number | null
  readonly view: TableView | StreamtopError
}

/** Never throws: a table that cannot be read has the error as its view. */
export function tableFacts(log: OverlaidLog, name: string, fx: Effects): TableFacts {
  const view = tryViewOf(log, name) ?? new StreamtopError('table-damaged', `table ${name} is gone`)
  // Of a table whose features are not known the log is read all the same.
  const snapshot = view instanceof StreamtopError ? orNull(() => log.snapshot(name)) : view.snapshot
  return {
    name,
    id: snapshot?.tableId ?? null,
    version: snapshot?.version ?? orNull(() => log.newestVersion(name)),
    files: snapshot?.files.length ?? null,
    orphans: orNull(() => countOrphans(log, name, fx)),
    view,
  }
}

export async function tableStatus(facts: TableFacts, counter: TableCounter, fileRows: FileRows): Promise<TableStatus> {
  const { name, id, version, files, orphans, view } = facts
  const base = { name, id, version, files, orphans }
  const counts = view instanceof StreamtopError ? view : await countOrError(view, counter, fileRows)
  if (counts instanceof StreamtopError) return { ...base, rows: null, distinct: null, duplicates: null, countsVersion: null, error: statusErrorOf(counts) }
  return { ...base, rows: counts.rows, distinct: counts.distinct, duplicates: counts.rows - counts.distinct, countsVersion: counts.version, error: null }
}

async function countOrError(view: TableView, counter: TableCounter, fileRows: FileRows): Promise<RowCount | StreamtopError> {
  try {
    return await counter.count(view, fileRows)
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
}

/** Data files that no version names, or null when versions are gone that may have named them. */
function countOrphans(log: OverlaidLog, name: string, fx: Effects): number | null {
  if (log.oldestVersion(name) !== 0) return null
  const folder = join(log.tablesFolder, name)
  const named = log.everyPath(name)
  return dataFiles(folder, '', fx).filter((path) => !named.has(path)).length
}

/** Paths of Parquet files, those in the folders of partitions too. */
function dataFiles(folder: string, prefix: string, fx: Effects): string[] {
  return fx.files.list(join(folder, prefix)).flatMap((name) => {
    if (name.startsWith('.') || name.startsWith('_')) return []
    if (name.endsWith('.parquet')) return [prefix + name]
    return fx.files.status(join(folder, prefix, name))?.isFolder ? dataFiles(folder, `${prefix}${name}/`, fx) : []
  })
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof StreamtopError) return null
    throw error
  }
}
