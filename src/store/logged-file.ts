/** A data file as the SQLite log has it. */
import type { AddFile, DeletionVector } from './actions.js'

export interface FileRow {
  readonly path: string
  readonly size: number
  readonly modifiedMs: number
  readonly dataChange: number
  readonly partitionValues: string
  readonly statistics: string | null
  readonly deletionVector: string | null
}

export function toAddFile(row: FileRow): AddFile {
  return {
    path: row.path,
    size: row.size,
    modifiedMs: row.modifiedMs,
    dataChange: row.dataChange === 1,
    partitionValues: JSON.parse(row.partitionValues) as Record<string, string | null>,
    statistics: row.statistics,
    deletionVector: row.deletionVector === null ? null : (JSON.parse(row.deletionVector) as DeletionVector),
  }
}
