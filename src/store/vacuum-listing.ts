/** The files in a table's folder that may be its data: what a vacuum looks at, and never anything else. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'

export interface ListedFile {
  /** Relative to the table's folder, with slashes. */
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
  /** Which file it is, whatever its name. */
  readonly fileId: string
}

/**
 * Parquet files and files of deletion vectors, those in the folders of partitions too. As Delta does it, names that begin with `_` or
 * `.` are passed over (`_delta_log` is one), unless a partition column is called so. No symbolic link is followed or listed: what
 * it leads to is not the table's.
 */
export function listDataFiles(tableFolder: string, partitionColumns: readonly string[], fx: Effects): ListedFile[] {
  return listBelow(tableFolder, '', partitionColumns, fx)
}

const DATA_FILE = /\.parquet$|^deletion_vector_[\da-f-]{36}\.bin$/

function listBelow(tableFolder: string, prefix: string, partitionColumns: readonly string[], fx: Effects): ListedFile[] {
  return fx.files.list(join(tableFolder, prefix)).flatMap((name) => {
    if (/^[._]/.test(name) && !partitionColumns.some((column) => name.startsWith(`${column}=`))) return []
    const path = join(tableFolder, prefix, name)
    if (fx.files.isLink(path)) return []
    const status = fx.files.status(path)
    if (status === null) return []
    if (status.isFolder) return listBelow(tableFolder, `${prefix}${name}/`, partitionColumns, fx)
    return DATA_FILE.test(name) ? [{ path: prefix + name, bytes: status.size, modifiedMs: status.modifiedMs, fileId: status.fileId }] : []
  })
}
