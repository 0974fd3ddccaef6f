/**
 * Data files of a table: written whole and synced before any version names them, read back with the schema of a snapshot.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { AddFile } from './actions.js'
import { type Columns, concatColumns, emptyColumns, projectColumns } from './columns.js'
import { type VectorFiles, withoutDeleted } from './deletion-vector.js'
import { FILE_IS_GONE, filePathOf } from './file-path.js'
import type { MomentDetails, OnMoment } from './moments.js'
import { decodeParquet, encodeParquet } from './parquet.js'
import { newDataFileName } from './data-file-name.js'
import { partitionVector } from './partition-values.js'
import { readTableFile } from './read-file.js'
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
    const path = newDataFileName(index, fx)
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
 * @param schema of the table (`tableSchema`), or some of its columns
 * @throws table-damaged when a file that the log names is not there or cannot be read
 */
export async function readDataFiles(folder: string, schema: Schema, files: readonly AddFile[], fx: Effects): Promise<Columns> {
  const parts: Columns[] = []
  const vectorFiles: VectorFiles = new Map()
  for (const file of files) parts.push(await readDataFile(folder, schema, file, fx, vectorFiles))
  if (parts.length === 0) return emptyColumns(schema)
  return parts.length === 1 && parts[0] ? parts[0] : concatColumns(schema, parts)
}

/**
 * The rows of one data file, with the values of partition columns and without the rows that its deletion vector takes out.
 * @param vectorFiles what reads of other files of the table have kept for this one
 */
export async function readDataFile(folder: string, schema: Schema, file: AddFile, fx: Effects, vectorFiles: VectorFiles = new Map()): Promise<Columns> {
  const path = filePathOf(folder, file.path)
  const bytes = readTableFile(path, fx)
  if (bytes === null) {
    throw new StreamtopError('table-damaged', `${path} is gone although the table's log names it`, {
      hint: 'restore the file from a copy; it may have been removed by a vacuum that ran too early',
      condition: FILE_IS_GONE,
    })
  }
  try {
    const rows = await decodeAll(bytes, schema, file)
    return file.deletionVector === null ? rows : withoutDeleted(rows, folder, file.deletionVector, vectorFiles, fx)
  } catch (cause) {
    if (cause instanceof StreamtopError && cause.code !== 'internal' && cause.hint !== undefined) throw cause
    const code = cause instanceof StreamtopError && cause.code !== 'internal' ? cause.code : 'table-damaged'
    throw new StreamtopError(code, `${path} cannot be read: ${(cause as Error).message}`, {
      hint: 'restore the file from a copy',
      cause,
    })
  }
}

/** All rows that the file holds, deleted ones too. */
async function decodeAll(bytes: Uint8Array, schema: Schema, file: AddFile): Promise<Columns> {
  const partitions = schema.columns.filter((column) => column.stored?.isPartition)
  if (partitions.length === 0) return decodeParquet(bytes, schema)
  const inFile = await decodeParquet(bytes, { columns: schema.columns.filter((column) => !column.stored?.isPartition) })
  const { rowCount } = inFile
  const vectors = [...inFile.vectors, ...partitions.map((column) => partitionVector({ ...column, nullable: true }, file.partitionValues, rowCount))]
  return projectColumns({ schema: { columns: vectors.map(({ column }) => column) }, rowCount, vectors }, schema)
}
