/**
 * Removes the logs of old batches, off the way of a batch. Spark keeps as many (`spark.sql.streaming.minBatchesToRetain`), and
 * leaves the same files: with batch N logged, those from N-100 on (formats page §1.9).
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { commitPath, listBatches, offsetsPath } from './checkpoint.js'

/**
 * A function that removes what fell out, given the newest batch whose offsets are logged. It lists the logs at its first call
 * and afterwards removes exactly the numbers that fell out since the one before. Not synced: a file that comes back after a
 * power loss is only an old one.
 */
export function createPurge(folder: string, fx: Effects, keep = 100): (newestBatchId: number) => void {
  // The batch before the newest is where the newest starts, so it always stays.
  const kept = Math.max(1, keep)
  /** Everything below has been removed; null before the first call. */
  let oldest: number | null = null
  /** Batches up to here may have Hadoop's checksums beside them: somebody else wrote them. */
  let foreignUpTo = -1
  return (newestBatchId) => {
    const end = newestBatchId - kept
    if (oldest === null) {
      const { offsets, commits } = listBatches(folder, fx)
      foreignUpTo = Math.max(offsets.at(-1) ?? -1, commits.at(-1) ?? -1)
      for (const batchId of commits) if (batchId < end) removeWithChecksum(commitPath(folder, batchId), folder, 'commits', batchId)
      for (const batchId of offsets) if (batchId < end) removeWithChecksum(offsetsPath(folder, batchId), folder, 'offsets', batchId)
      oldest = Math.max(0, end)
      return
    }
    for (; oldest < end; oldest++) {
      // The commit first: a commit without its offsets would look like damage.
      if (oldest <= foreignUpTo) {
        removeWithChecksum(commitPath(folder, oldest), folder, 'commits', oldest)
        removeWithChecksum(offsetsPath(folder, oldest), folder, 'offsets', oldest)
      } else {
        fx.files.remove(commitPath(folder, oldest))
        fx.files.remove(offsetsPath(folder, oldest))
      }
    }
  }

  function removeWithChecksum(path: string, folder: string, log: string, batchId: number): void {
    fx.files.remove(join(folder, log, `.${batchId}.crc`))
    fx.files.remove(path)
  }
}
