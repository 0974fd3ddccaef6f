/**
 * The header of a page in a Parquet file, as far as it is needed to find the page's bytes and their checksum (Parquet, "Data Pages";
 * Thrift's compact protocol). Pure.
 */

export interface PageHeader {
  /** Of the bytes behind the header, as they lie in the file; null when the header does not say it. */
  readonly compressedBytes: number | null
  /** CRC-32 of these bytes, as a signed number; null when the writer made none. */
  readonly crc: number | null
  /** Where the page's bytes begin. */
  readonly end: number
}

/** Reads a header. Throws a RangeError when the bytes end in it, or are no such struct. */
export function readPageHeader(bytes: Uint8Array, at: number): PageHeader {
  const reader = { bytes, at }
  const fields = readStruct(reader, 0)
  return { compressedBytes: fields.get(COMPRESSED_PAGE_SIZE) ?? null, crc: fields.get(CRC) ?? null, end: reader.at }
}

const COMPRESSED_PAGE_SIZE = 3
const CRC = 4
/** A header nests twice: a page's own header with its statistics. */
const DEEPEST = 8

interface Reader {
  readonly bytes: Uint8Array
  at: number
}

/** The struct's own whole numbers by field; everything else is passed over. */
function readStruct(reader: Reader, depth: number): ReadonlyMap<number, number> {
  if (depth > DEEPEST) throw new RangeError('a page header nests too deep')
  const numbers = new Map<number, number>()
  for (let field = 0; ; ) {
    const head = byte(reader)
    if (head === 0) return numbers
    field = head >> 4 === 0 ? zigZag(reader) : field + (head >> 4)
    const value = readValue(reader, head & 15, depth)
    if (value !== null) numbers.set(field, value)
  }
}

function readValue(reader: Reader, type: number, depth: number): number | null {
  switch (type) {
    case 1: // true and false are in the type
    case 2:
      return null
    case 3:
      return byte(reader)
    case 4: // whole numbers of 16, 32 and 64 bits
    case 5:
    case 6:
      return zigZag(reader)
    case 7:
      return skip(reader, 8)
    case 8:
      return skip(reader, varint(reader))
    case 12:
      readStruct(reader, depth + 1)
      return null
    default:
      // A page's header has no lists and no maps.
      throw new RangeError(`a page header has a field of type ${type}`)
  }
}

function byte(reader: Reader): number {
  const value = reader.bytes[reader.at++]
  if (value === undefined) throw new RangeError('the file ends in a page header')
  return value
}

function skip(reader: Reader, count: number): null {
  reader.at += count
  return null
}

function zigZag(reader: Reader): number {
  const value = varint(reader)
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

/** Seven bits a byte, the lowest first. */
function varint(reader: Reader): number {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const next = byte(reader)
    value += (next & 127) * factor
    if (next < 128) return value
    if (factor > Number.MAX_SAFE_INTEGER) throw new RangeError('a page header has a number without an end')
  }
}
