/**
 * Files of a table that an OPTIMIZE has put together since: the same rows have another name then. What a stream has read is known by the
 * old names, what the table has by the new ones, and a vacuum takes the old ones away.
 */
import type { AddFile } from '../store/actions.js'
import { fileKey } from '../store/replay.js'
import { liveRowCountOf } from '../store/version-text.js'
import type { OverlaidLog } from './overlaid-log.js'

/**
 * The same rows in the files in which the newest version has them, as far as whole files were put together.
 * @param files that versions of the table have named
 * @param live those of the newest version
 */
export function inNewestFiles(log: OverlaidLog, table: string, files: readonly AddFile[], live: readonly AddFile[]): readonly AddFile[] {
  if (areAmong(files, live)) return files
  const found = new Map(files.map((file) => [fileKey(file), file]))
  for (const version of log.rewrites(table)) {
    const { adds, removes } = log.changes(table, version)
    if (!removes.every((file) => found.has(fileKey(file)))) continue
    for (const file of removes) found.delete(fileKey(file))
    for (const file of adds) found.set(fileKey(file), file)
  }
  return [...found.values()]
}

/**
 * Rows of live files that are not among the known ones; null when a file does not say how many it has. Of files that were put together
 * of known and unknown ones only the unknown count.
 */
export function rowsBehind(log: OverlaidLog, table: string, live: readonly AddFile[], known: readonly AddFile[]): number | null {
  if (areAmong(live, known)) return 0
  const isKnown = new Set(known.map(fileKey))
  const open = new Map(live.flatMap((file) => (isKnown.has(fileKey(file)) ? [] : [[fileKey(file), liveRowCountOf(file)]])))
  for (const version of open.size === 0 ? [] : [...log.rewrites(table)].reverse()) {
    const { adds, removes } = log.changes(table, version)
    if (adds.length === 0 || !adds.every((file) => open.has(fileKey(file)))) continue
    for (const file of adds) open.delete(fileKey(file))
    for (const file of removes) {
      const rows = file.rowCount === null ? null : file.rowCount - (file.deletionVector?.cardinality ?? 0)
      if (!isKnown.has(fileKey(file))) open.set(fileKey(file), rows)
    }
  }
  let rows = 0
  for (const count of open.values()) {
    if (count === null) return null
    rows += count
  }
  return rows
}

/** Snapshots that were made one from the other share their files, which is told at once; others are told by name. */
function areAmong(files: readonly AddFile[], others: readonly AddFile[]): boolean {
  const isThere = new Set(others)
  const open = files.filter((file) => !isThere.has(file))
  if (open.length === 0) return true
  const keys = new Set(others.map(fileKey))
  return open.every((file) => keys.has(fileKey(file)))
}
