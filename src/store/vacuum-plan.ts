/** Which files a vacuum removes: pure, over what lies in the folder and what the log says of it. */
import type { ListedFile } from './vacuum-listing.js'

/** What is known of the files of a table, by path below its folder. */
export interface KnownFiles {
  /** Named by the newest version, or by one that is about to be linked. */
  readonly live: ReadonlySet<string>
  /** Which files these are: a name may be spelled otherwise on the disk than in the log, and a whole path lead through a link. */
  readonly liveFileIds: ReadonlySet<string>
  /** Named by older versions only. */
  readonly removed: ReadonlyMap<string, RemovedFile>
  /** Named by nobody, and their writer is at work: they may be named in the next moment. */
  readonly unfinished: ReadonlySet<string>
}

export interface RemovedFile {
  /** The version that took it out. */
  readonly version: number
  /** When that was, in milliseconds since the epoch; null when that is not known. */
  readonly removedMs: number | null
}

export interface VacuumedFile {
  readonly path: string
  readonly bytes: number
  /** An orphan was never named by a version. */
  readonly kind: 'orphan' | 'removed'
}

/**
 * Orphans, and removed files, that are old enough: both the file and, of a removed one, its removal are not later than `keepAfterMs`.
 * What comes from the future, for a clock went back, is kept.
 */
export function planVacuum(listed: readonly ListedFile[], known: KnownFiles, keepAfterMs: number): VacuumedFile[] {
  return listed.flatMap(({ path, bytes, modifiedMs, fileId }): VacuumedFile[] => {
    if (known.live.has(path) || known.liveFileIds.has(fileId) || modifiedMs > keepAfterMs) return []
    const removed = known.removed.get(path)
    if (removed === undefined) return known.unfinished.has(path) ? [] : [{ path, bytes, kind: 'orphan' }]
    return removed.removedMs === null || removed.removedMs > keepAfterMs ? [] : [{ path, bytes, kind: 'removed' }]
  })
}
