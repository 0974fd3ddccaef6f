/** The order in which a stream that begins with a snapshot of a table numbers its files (formats page §4.2). */
import type { AddFile } from '../store/actions.js'
import type { Snapshot } from '../store/table-log.js'
import { encodePath } from '../store/version-text.js'

/** Whoever keeps a snapshot need not have its files sorted again at every batch. */
const sortedFiles = new WeakMap<Snapshot, readonly AddFile[]>()

/** The live files of a snapshot by modification time, then by path. */
export function inStreamOrder(snapshot: Snapshot): readonly AddFile[] {
  const known = sortedFiles.get(snapshot)
  if (known) return known
  const sorted = [...snapshot.files].sort((a, b) => a.modifiedMs - b.modifiedMs || comparePaths(a.path, b.path))
  sortedFiles.set(snapshot, sorted)
  return sorted
}

/** Delta sorts the paths as they stand in the log: URI-encoded, byte by byte. */
function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(encodePath(a)), Buffer.from(encodePath(b)))
}
