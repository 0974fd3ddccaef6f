/**
 * Data files of a table: written whole and synced before any version names them, read back with the schema of a snapshot.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { AddFile } from './actions.js'
import type { Columns } from './columns.js'
import { concatColumns, emptyColumns } from './columns.js'
import type { MomentDetails, OnMoment } from './moments.js'
import { decodeParquet, encodeParquet } from './parquet.js'
import type { Schema } from './schema.js'
import { statisticsOf } from './statistics.js'

/** Told of each file that was written, with the rows in it: what is still in memory need not be read again to be counted. */
export type WrittenFile = (path: string, columns: Columns) => void

/**
 * Writes each of the columns as one data file, in order, and syncs files and folder. `mid-write` is told once, when half of the
 * first file is there.
 * @returns the adds for a version to name
 */
export async function writeDataFiles(
  folder: string,
  parts: readonly Columns[],
  moment: OnMoment,
  written: WrittenFile,
  details: MomentDetails,
  fx: Effects,
): Promise<AddFile[]> {
  const adds: AddFile[] = []
  for (const [index, columns] of parts.entries()) {
    const bytes = await encodeParquet(columns)
    const path = `part-${String(index).padStart(5, '0')}-${fx.randomUuid()}.snappy.parquet`
    await fx.files.writeInHalves(join(folder, path), bytes, async (syncHalf) => {
      if (index === 0) await moment('mid-write', { ...details, syncHalf })
    })
    written(path, columns)
    adds.push({
      path,
      size: bytes.length,
      modifiedMs: fx.nowMs(),
      dataChange: true,
      partitionValues: {},
      statistics: statisticsOf(columns),
      deletionVector: null,
    })
  }
  if (parts.length > 0) fx.files.syncFolder(folder)
  return adds
}

/**
 * The rows of data files, in the order of the files.
 * @throws table-damaged when a file that the log names is not there or cannot be read
 */
export async function readDataFiles(folder: string, schema: Schema, files: readonly AddFile[], fx: Effects): Promise<Columns> {
  const parts: Columns[] = []
  for (const file of files) parts.push(await readDataFile(folder, schema, file, fx))
  if (parts.length === 0) return emptyColumns(schema)
  return parts.length === 1 && parts[0] ? parts[0] : concatColumns(schema, parts)
}

/** The rows of one data file. */
export async function readDataFile(folder: string, schema: Schema, file: AddFile, fx: Effects): Promise<Columns> {
  const path = join(folder, file.path)
  const bytes = fx.files.readIfPresent(path)
  if (bytes === null) {
    throw new StreamtopError('table-damaged', `${path} is gone although the table's log names it`, {
      hint: 'restore the file from a copy; it may have been removed by a vacuum that ran too early',
      condition: 'FAILED_READ_FILE.FILE_NOT_EXIST',
    })
  }
  try {
    return await decodeParquet(bytes, schema)
  } catch (cause) {
    if (cause instanceof StreamtopError && cause.code !== 'internal') throw cause
    throw new StreamtopError('table-damaged', `${path} cannot be read as Parquet: ${(cause as Error).message}`, {
      hint: 'restore the file from a copy',
      cause,
    })
  }
}
