/**
 * What a Parquet file says of itself in its footer, read once before its columns: how many rows, which columns, and the two traps
 * that the reader must know of, INT96 timestamps and dates counted in the old calendar.
 */
import type { FileMetaData } from 'hyparquet'
import { StreamtopError } from '../errors.js'
import { type Column, sameName, storedName } from './schema.js'

export interface FileColumn {
  readonly name: string
  /** Parquet's `field_id`; null when the file gives the column none. */
  readonly fieldId: number | null
  /** Spark's timestamps; parquet-wasm would turn those before 1677 and after 2262 into other times. */
  readonly isInt96: boolean
}

export interface ParquetFooter {
  readonly rowCount: number
  /** Of the top level. */
  readonly columns: readonly FileColumn[]
  /** Spark counted days before 1582-10-15, and times before 1900, in the Julian calendar. */
  readonly hasJulianDates: boolean
  readonly metadata: FileMetaData
  /** The file's bytes for a reader that must go by Parquet's types alone. */
  withoutArrowSchema(bytes: Uint8Array): Uint8Array
}

/** Throws `table-damaged` when the bytes are no Parquet file. */
export async function readFooter(bytes: Uint8Array): Promise<ParquetFooter> {
  const { parquetMetadata, parquetSchema } = await import('hyparquet')
  const footerStart = startOfFooter(bytes)
  let metadata: FileMetaData
  try {
    metadata = parquetMetadata(bytes.subarray(footerStart), { geoparquet: false })
  } catch (cause) {
    throw new StreamtopError('table-damaged', `a Parquet file's footer cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  const properties = new Map((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? '']))
  return {
    rowCount: Number(metadata.num_rows),
    columns: parquetSchema(metadata).children.map(({ element }) => ({
      name: element.name,
      fieldId: element.field_id ?? null,
      isInt96: element.type === 'INT96',
    })),
    hasJulianDates: wroteJulianDates(properties),
    metadata,
    withoutArrowSchema: (whole) => (properties.has(ARROW_SCHEMA) ? hideArrowSchema(whole, footerStart) : whole),
  }
}

/**
 * The file's column for a table's: by Parquet's id where the table goes by ids, else by the name under which it is stored, the same
 * letters before the same but for case. Null when the file does not have it. Throws `unsupported-feature` when the table goes by ids and the file has none.
 */
export function findFileColumn(footer: ParquetFooter, column: Column): FileColumn | null {
  const fieldId = column.stored?.fieldId ?? null
  if (fieldId === null) {
    const name = storedName(column)
    return footer.columns.find((one) => one.name === name) ?? footer.columns.find((one) => sameName(one.name, name)) ?? null
  }
  if (footer.columns.length > 0 && footer.columns.every((one) => one.fieldId === null)) {
    throw new StreamtopError('unsupported-feature', 'the table finds its columns by id (column mapping, mode id) and a data file has no ids', {
      hint: 'use Spark for this table, or write a plain copy of it',
    })
  }
  return footer.columns.find((one) => one.fieldId === fieldId) ?? null
}

/** The same bytes without the note that an Arrow writer leaves of its own types (see `hideArrowSchema`). */
export function withoutArrowSchema(bytes: Uint8Array): Uint8Array {
  return hideArrowSchema(bytes, startOfFooter(bytes))
}

/** A file ends with its footer, the footer's length in four bytes, and four letters. */
function startOfFooter(bytes: Uint8Array): number {
  const length = bytes.length >= 12 ? new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 8, 4).getUint32(0, true) : 0
  const start = bytes.length - 8 - length
  if (start < 4 || Buffer.from(bytes.subarray(-4)).toString('latin1') !== 'PAR1') {
    throw new StreamtopError('table-damaged', `a data file of ${bytes.length} bytes is not a whole Parquet file`)
  }
  return start
}

/** Spark marks files written in the old calendar; before version 3 it knew no other. */
function wroteJulianDates(properties: ReadonlyMap<string, string>): boolean {
  if (properties.has('org.apache.spark.legacyDateTime') || properties.has('org.apache.spark.legacyINT96')) return true
  const version = properties.get('org.apache.spark.version')
  return version !== undefined && Number.parseInt(version, 10) < 3
}

const ARROW_SCHEMA = 'ARROW:schema'

/**
 * Arrow writers note their own types in the footer (dictionaries, large texts, views), and Arrow readers give those back. Under another name
 * the note is not found, and every file comes back in the few types that Parquet has. The copy keeps its length.
 */
function hideArrowSchema(bytes: Uint8Array, footerStart: number): Uint8Array {
  const copy = Buffer.from(bytes)
  const at = copy.lastIndexOf(ARROW_SCHEMA)
  if (at >= footerStart) copy.write('arrow', at, 'latin1')
  return copy
}
