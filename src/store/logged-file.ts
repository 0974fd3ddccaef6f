/** A data file as the SQLite log has it. */
import type { AddFile, DeletionVector } from './actions.js'
import { damagedRow, rowChecksum } from './row-checksum.js'

export interface FileRow {
  readonly path: string
  readonly addedVersion: number
  /** Among the files of its version. */
  readonly position: number
  readonly size: number
  readonly modifiedMs: number
  readonly dataChange: number
  readonly partitionValues: string
  readonly statistics: string | null
  readonly deletionVector: string | null
  /** Null in a row of an older streamtop's. */
  readonly crc32: number | null
}

/** The row of a file that a version adds. */
export function toFileRow(add: AddFile, addedVersion: number, position: number): FileRow {
  const row = {
    path: add.path,
    addedVersion,
    position,
    size: add.size,
    modifiedMs: add.modifiedMs,
    dataChange: add.dataChange ? 1 : 0,
    partitionValues: JSON.stringify(add.partitionValues),
    statistics: add.statistics,
    deletionVector: add.deletionVector && JSON.stringify(add.deletionVector),
  }
  return { ...row, crc32: checksumOf(row) }
}

function checksumOf(row: Omit<FileRow, 'crc32'>): number {
  const { path, addedVersion, position, size, modifiedMs, dataChange, partitionValues, statistics, deletionVector } = row
  return rowChecksum(path, addedVersion, position, size, modifiedMs, dataChange, partitionValues, statistics, deletionVector)
}

/**
 * The file of a row.
 * @param table named in the error
 * @throws table-damaged when the row is not what was recorded, as far as it tells
 */
export function toAddFile(table: string, row: FileRow): AddFile {
  if (row.crc32 !== null && row.crc32 !== checksumOf(row)) throw damagedRow(table, `file ${row.path}`)
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
