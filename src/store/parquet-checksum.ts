/**
 * Checksums of Parquet files. Parquet has none for a whole file, and a bit that flips in a page can decode to another value. So a file
 * of streamtop's says its own CRC-32 in its footer, as the key-value pair `streamtop.crc32`, made over the whole file with eight
 * zeros in place of the value; and of other writers' files the CRC of each page is checked where its header has one (Parquet,
 * "Checksumming"), as Spark's do. Pure.
 */
import { crc32 } from 'node:zlib'
import type { FileMetaData } from 'hyparquet'
import { StreamtopError } from '../errors.js'
import { readPageHeader } from './parquet-page-header.js'

/** The pair with which a file is written whose checksum is still to be made. */
export const CHECKSUM_TO_COME: readonly [key: string, value: string] = ['streamtop.crc32', '00000000']

const [KEY, TO_COME] = CHECKSUM_TO_COME
/** Between a key and its value Thrift's compact protocol has the field and the length. */
const BEFORE_VALUE_BYTES = 2

/** Puts the checksum into a new file that has `CHECKSUM_TO_COME` in its footer; the bytes are changed in place, and given back. */
export function sealParquet(bytes: Uint8Array): Uint8Array {
  const value = findValue(bytes)
  value.bytes.write(checksumOf(value), value.at, 'latin1')
  return bytes
}

/**
 * Checks a file whose footer could be read.
 * @param columns those that will be read: of another writer's file their pages are checked, by their names at the top level
 * @throws table-damaged when bytes are not what was written
 */
export function checkParquet(bytes: Uint8Array, metadata: FileMetaData, columns: ReadonlySet<string>): void {
  // Another program that copies the pair into a file of its own does not make it true there.
  if (metadata.created_by?.startsWith('streamtop ') && metadata.key_value_metadata?.some(({ key }) => key === KEY)) {
    const value = findValue(bytes)
    if (value.bytes.toString('latin1', value.at, value.at + TO_COME.length) !== checksumOf(value)) throw changed('the file')
    return
  }
  for (const group of metadata.row_groups) {
    for (const { meta_data: chunk } of group.columns) {
      if (chunk === undefined || !columns.has(chunk.path_in_schema[0] ?? '')) continue
      const [data, dictionary] = [Number(chunk.data_page_offset), Number(chunk.dictionary_page_offset ?? 0)]
      const start = dictionary > 0 ? Math.min(dictionary, data) : data
      if (!pagesFit(bytes, start, start + Number(chunk.total_compressed_size))) throw changed(`column ${chunk.path_in_schema.join('.')}`)
    }
  }
}

interface Value {
  readonly bytes: Buffer
  readonly at: number
}

/** The key is looked for from the end: names of columns and values of a table, which may be anything, lie before it. */
function findValue(bytes: Uint8Array): Value {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { bytes: buffer, at: buffer.lastIndexOf(KEY) + KEY.length + BEFORE_VALUE_BYTES }
}

function checksumOf({ bytes, at }: Value): string {
  const before = crc32(TO_COME, crc32(bytes.subarray(0, at)))
  return crc32(bytes.subarray(at + TO_COME.length), before)
    .toString(16)
    .padStart(TO_COME.length, '0')
}

function pagesFit(bytes: Uint8Array, start: number, end: number): boolean {
  try {
    for (let at = start; at < end; ) {
      const page = readPageHeader(bytes, at)
      at = page.end + (page.compressedBytes ?? -1)
      if (at < page.end || at > end) return false
      if (page.crc !== null && crc32(bytes.subarray(page.end, at)) !== page.crc >>> 0) return false
    }
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function changed(what: string): StreamtopError {
  return new StreamtopError('table-damaged', `the checksum of ${what} is not that of its bytes: they have changed since they were written`)
}
