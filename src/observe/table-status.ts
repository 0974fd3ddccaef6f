/** A table as the status shows it: what is on disk, then its rows counted. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { knownError, StreamtopError } from '../errors.js'
import { DiskMarks } from './disk-marks.js'
import { type FileRows, StillCounting } from './file-rows.js'
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
export function tableFacts(log: OverlaidLog, name: string, listing: FolderListing, fx: Effects): TableFacts {
  const view = tryViewOf(log, name) ?? new StreamtopError('table-damaged', `table ${name} is gone`)
  // Of a table whose features are not known the log is read all the same.
  const snapshot = view instanceof StreamtopError ? orNull(() => log.snapshot(name)) : view.snapshot
  return {
    name,
    id: snapshot?.tableId ?? null,
    version: snapshot?.version ?? orNull(() => log.newestVersion(name)),
    files: snapshot?.files.length ?? null,
    orphans: orNull(() => countOrphans(log, name, listing, fx)),
    view,
  }
}

export async function tableStatus(facts: TableFacts, counter: TableCounter, fileRows: FileRows): Promise<TableStatus> {
  const { name, id, version, files, orphans, view } = facts
  const base = { name, id, version, files, orphans }
  const counts = view instanceof StreamtopError ? view : await countOrError(view, counter, fileRows)
  if (counts === null) return { ...base, rows: null, distinct: null, duplicates: null, countsVersion: null, error: null }
  if (counts instanceof StreamtopError) return { ...base, rows: null, distinct: null, duplicates: null, countsVersion: null, error: statusErrorOf(counts) }
  return { ...base, rows: counts.rows, distinct: counts.distinct, duplicates: counts.rows - counts.distinct, countsVersion: counts.version, error: null }
}

/** Null while the first count is under way; a later one shows the counts of the version before until it is done. */
async function countOrError(view: TableView, counter: TableCounter, fileRows: FileRows): Promise<RowCount | StreamtopError | null> {
  try {
    return await counter.count(view, fileRows)
  } catch (error) {
    if (error instanceof StillCounting) return counter.newest
    if (error instanceof StreamtopError) return error
    throw error
  }
}

/** Data files that no version names, or null when versions are gone that may have named them. */
function countOrphans(log: OverlaidLog, name: string, listing: FolderListing, fx: Effects): number | null {
  if (log.oldestVersion(name) !== 0) return null
  const named = log.everyPath(name)
  return listing.dataFiles(join(log.tablesFolder, name), fx).filter((path) => !named.has(path)).length
}

/** A folder with more files is listed once a second at most: a listing costs as much as there are files. */
const MANY_FILES = 1_000
const LISTED_AGAIN_MS = 1_000

/** The data files of one table's folder, listed again only when something came or went. */
export class FolderListing {
  #folders: readonly string[] = []
  #newest: { readonly mark: string | null; readonly paths: readonly string[]; readonly listedMs: number } | null = null
  #isBehind = false

  /** Whether the last answer may lack what came since the listing: then the next look asks again. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** Paths of Parquet files, those in the folders of partitions too. */
  dataFiles(folder: string, fx: Effects): readonly string[] {
    const known = this.#newest
    const mark = this.marks(folder, new DiskMarks(fx)).text()
    const nowMs = fx.monotonicMs()
    const isSame = known !== null && mark !== null && known.mark === mark
    this.#isBehind = !isSame && known !== null && known.paths.length > MANY_FILES && nowMs - known.listedMs < LISTED_AGAIN_MS
    if (known !== null && (isSame || this.#isBehind)) return known.paths
    const folders: string[] = []
    const paths = filesBelow(folder, '', folders, fx)
    this.#folders = folders
    this.#newest = { mark, paths, listedMs: nowMs }
    return paths
  }

  /** What tells that nothing came or went, in the folders that were there. */
  marks(folder: string, marks: DiskMarks): DiskMarks {
    return marks.add(folder, ...this.#folders.map((inner) => join(folder, inner)))
  }
}

function filesBelow(folder: string, prefix: string, folders: string[], fx: Effects): string[] {
  return fx.files.list(join(folder, prefix)).flatMap((name) => {
    if (name.startsWith('.') || name.startsWith('_')) return []
    if (name.endsWith('.parquet')) return [prefix + name]
    if (!fx.files.status(join(folder, prefix, name))?.isFolder) return []
    folders.push(prefix + name)
    return filesBelow(folder, `${prefix}${name}/`, folders, fx)
  })
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (knownError(error) !== null) return null
    throw error
  }
}
