/**
 * Deletion vectors: which rows of a data file are deleted (Delta protocol, "Deletion Vectors"). Every check that the format has is made,
 * because a wrong bit would be a wrong row: the checksum, the magic number, how many rows, and that each lies in the file.
 */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { DeletionVector } from './actions.js'
import { type Columns, takeRows } from './columns.js'
import { FILE_IS_GONE, filePathOf } from './file-path.js'
import { readTableFile } from './read-file.js'
import { decodeRoaring64 } from './roaring.js'
import { decodePath } from './version-text.js'
import { decodeZ85 } from './z85.js'

/** The bytes of files of deletion vectors that were read already: one such file holds the vectors of many data files. */
export type VectorFiles = Map<string, Uint8Array>

/**
 * The rows that a deletion vector leaves, in their order.
 * @param rows all rows of the data file, in the file's order
 * @throws table-damaged when the vector is missing or broken
 */
export function withoutDeleted(rows: Columns, tableFolder: string, vector: DeletionVector, files: VectorFiles, fx: Effects): Columns {
  const where = describe(tableFolder, vector)
  const deleted = deletedRows(tableFolder, vector, files, fx)
  const last = deleted.at(-1)
  if (last !== undefined && last >= rows.rowCount) throw damaged(where, `it deletes row ${last} of ${rows.rowCount}`)
  if (deleted.length === 0) return rows
  const kept = new Int32Array(rows.rowCount - deleted.length)
  for (let row = 0, to = 0, next = 0; row < rows.rowCount; row++) {
    if (deleted[next] === row) next++
    else kept[to++] = row
  }
  return takeRows(rows, kept)
}

/**
 * The places of the deleted rows in their file, from 0, ascending.
 * @throws table-damaged
 */
export function deletedRows(tableFolder: string, vector: DeletionVector, files: VectorFiles, fx: Effects): Float64Array {
  const where = describe(tableFolder, vector)
  const data = vector.storageType === 'i' ? inlineData(vector, where) : storedData(storedPathOf(tableFolder, vector), vector, files, where, fx)
  if (data.length < 4 || viewOf(data).getUint32(0, true) !== MAGIC) throw damaged(where, 'it is of an unknown format')
  const rows = decodeRoaring64(data.subarray(4))
  if (rows.length !== vector.cardinality) throw damaged(where, `it deletes ${rows.length} rows and the log says ${vector.cardinality}`)
  return rows
}

/** In front of a portable 64-bit Roaring bitmap. */
const MAGIC = 1681511377
const FILE_FORMAT = 1
/** Characters of a UUID in Z85, at the end of `pathOrInlineDv`; a folder may stand before it. */
const UUID_LENGTH = 20

function inlineData({ pathOrInlineDv, sizeInBytes }: DeletionVector, where: string): Uint8Array {
  const data = decodeZ85(pathOrInlineDv)
  if (sizeInBytes > data.length || sizeInBytes <= data.length - 4) throw damaged(where, `it has ${data.length} bytes and the log says ${sizeInBytes}`)
  return data.subarray(0, sizeInBytes)
}

/** The data's size stands before it and its CRC-32 behind it, both with the high byte first. */
function storedData(path: string, { offset, sizeInBytes }: DeletionVector, files: VectorFiles, where: string, fx: Effects): Uint8Array {
  const bytes = files.get(path) ?? readTableFile(path, fx)
  if (bytes === null) {
    throw new StreamtopError('table-damaged', `${path} is gone although the table's log names it`, {
      hint: 'restore the file from a copy; it may have been removed by a vacuum that ran too early',
      condition: FILE_IS_GONE,
    })
  }
  files.set(path, bytes)
  const start = offset ?? 1
  if (bytes[0] !== FILE_FORMAT) throw damaged(where, `its file has format ${bytes[0]}`)
  if (start + 8 + sizeInBytes > bytes.length) throw damaged(where, 'its file is cut off')
  const view = viewOf(bytes)
  if (view.getUint32(start) !== sizeInBytes) throw damaged(where, `it has ${view.getUint32(start)} bytes and the log says ${sizeInBytes}`)
  const data = bytes.subarray(start + 4, start + 4 + sizeInBytes)
  if (crc32(data) !== view.getUint32(start + 4 + sizeInBytes)) throw damaged(where, 'its checksum does not fit')
  return data
}

/** The file that a deletion vector is in; null for one that stands in the log itself. Throws `unsupported-feature` for one that is nowhere near. */
export function vectorFileOf(tableFolder: string, vector: DeletionVector): string | null {
  return vector.storageType === 'i' ? null : storedPathOf(tableFolder, vector)
}

function storedPathOf(tableFolder: string, { storageType, pathOrInlineDv }: DeletionVector): string {
  if (storageType === 'p') return filePathOf(tableFolder, decodePath(pathOrInlineDv))
  if (storageType !== 'u') {
    throw new StreamtopError('unsupported-feature', `a deletion vector is stored in a way that streamtop does not know (${storageType})`, {
      hint: 'use Spark for this table',
    })
  }
  const prefix = pathOrInlineDv.slice(0, -UUID_LENGTH)
  const hex = Buffer.from(decodeZ85(pathOrInlineDv.slice(-UUID_LENGTH))).toString('hex')
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return filePathOf(tableFolder, join(prefix, `deletion_vector_${uuid}.bin`))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function describe(tableFolder: string, { storageType, pathOrInlineDv }: DeletionVector): string {
  return storageType === 'i' ? `a deletion vector of ${tableFolder}` : `deletion vector ${pathOrInlineDv} of ${tableFolder}`
}

function damaged(where: string, what: string): StreamtopError {
  return new StreamtopError('table-damaged', `${where} cannot be used: ${what}`, { hint: 'restore the table from a copy' })
}
