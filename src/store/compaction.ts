/** Which files of a table are written again together, and what Delta's `commitInfo` says of it: pure. */
import type { AddFile } from './actions.js'
import { liveRowCountOf } from './version-text.js'

/** As many rows as are taken into memory at once. */
const ROWS_PER_FILE_MAX = 500_000

/**
 * The files that become one file each, in the table's order: neighbours of one partition that are smaller than the target, as many as
 * reach it together, and any file with a deletion vector, whose deleted rows go.
 * @param targetBytes of Parquet
 */
export function filesToCompact(files: readonly AddFile[], targetBytes: number): AddFile[][] {
  const open = new Map<string, Bin>()
  const bins: AddFile[][] = []
  for (const file of files) {
    if (file.size >= targetBytes && file.deletionVector === null) continue
    const partition = JSON.stringify(Object.entries(file.partitionValues).sort())
    const rows = liveRowCountOf(file) ?? 0
    let bin = open.get(partition)
    if (bin === undefined || bin.bytes + file.size > targetBytes || bin.rows + rows > ROWS_PER_FILE_MAX) {
      bin = { files: [], bytes: 0, rows: 0 }
      open.set(partition, bin)
      bins.push(bin.files)
    }
    bin.files.push(file)
    bin.bytes += file.size
    bin.rows += rows
  }
  return bins.filter((bin) => bin.length > 1 || bin[0]?.deletionVector)
}

interface Bin {
  readonly files: AddFile[]
  bytes: number
  rows: number
}

/** `operationParameters` of Delta's OPTIMIZE without a condition (measured with Delta 4.4). */
export const COMPACTION_PARAMETERS = { predicate: '[]', zOrderBy: '[]', clusterBy: '[]', auto: false } as const

/** `operationMetrics` of Delta's OPTIMIZE, in its order; sizes in bytes, of the added files. */
export function compactionMetrics(removed: readonly AddFile[], added: readonly AddFile[]): Record<string, string> {
  const sizes = added.map(({ size }) => size).sort((a, b) => a - b)
  const sizeAt = (share: number) => String(sizes[Math.round((sizes.length - 1) * share)] ?? 0)
  return {
    numRemovedFiles: String(removed.length),
    numRemovedBytes: String(bytesOf(removed)),
    p25FileSize: sizeAt(0.25),
    numDeletionVectorsRemoved: String(removed.filter(({ deletionVector }) => deletionVector !== null).length),
    minFileSize: sizeAt(0),
    p75FileSize: sizeAt(0.75),
    p50FileSize: sizeAt(0.5),
    numAddedBytes: String(bytesOf(added)),
    numAddedFiles: String(added.length),
    maxFileSize: sizeAt(1),
  }
}

export function bytesOf(files: readonly AddFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}
