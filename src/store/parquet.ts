/**
 * Columns to a Parquet file and back, as Spark and every Delta reader take it (Delta protocol, "Parquet data files"; Parquet
 * logical types). The buffers of columns.ts go to parquet-wasm and come back as they are, through Arrow's IPC stream. INT96
 * timestamps, which Spark writes, are read by parquet-int96.ts. What reads and writes is loaded at the first use.
 */
import type { Data, DataType } from 'apache-arrow'
import { StreamtopError } from '../errors.js'
import { type Columns, concatColumns, emptyColumns, halvesOf, isVariableWidth, projectColumns, type Vector, wordsPerValue } from './columns.js'
import { refuseJulianDates } from './parquet-calendar.js'
import { CHECKSUM_TO_COME, checkParquet, sealParquet } from './parquet-checksum.js'
import { findFileColumn, type ParquetFooter, readFooter } from './parquet-footer.js'
import { readInt96Columns } from './parquet-int96.js'
import { type Column, type ColumnType, type Schema, typeName } from './schema.js'

/**
 * One Parquet file of these rows: Snappy, one row group for each million rows, a column OPTIONAL when it may be null. Types on disk: byte and short
 * as INT32 with their width, date as INT32, timestamp as INT64 microseconds adjusted to UTC, decimal as INT32, INT64 or fixed bytes by its precision.
 * Throws `bad-value` when a column that may not be null has nulls.
 */
export async function encodeParquet(columns: Columns): Promise<Uint8Array> {
  const { arrow, wasm } = await loadModules()
  const fields = columns.vectors.map(({ column }) => new arrow.Field(column.name, arrowType(arrow, column.type), column.nullable))
  const children = columns.vectors.map((vector) => encodeVector(arrow, vector, columns.rowCount))
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: columns.rowCount, nullCount: 0, children })
  const schema = new arrow.Schema(fields)
  const stream = arrow.tableToIPC(new arrow.Table(schema, [new arrow.RecordBatch(schema, data)]), 'stream')
  let builder = new wasm.WriterPropertiesBuilder()
    .setCompression(wasm.Compression.SNAPPY)
    .setStatisticsEnabled(wasm.EnabledStatistics.Chunk)
    .setCreatedBy(CREATED_BY)
    .setKeyValueMetadata(new Map([CHECKSUM_TO_COME]))
  // NaN is outside of the smallest and largest that are written, and Spark, which has it above all others, would not look for it.
  for (const vector of columns.vectors) {
    if (hasNaN(vector)) builder = builder.setColumnStatisticsEnabled(vector.column.name, wasm.EnabledStatistics.None)
  }
  // writeParquet takes both over and frees them.
  return sealParquet(wasm.writeParquet(wasm.Table.fromIPCStream(stream), builder.build()))
}

function hasNaN({ column, values }: Vector): boolean {
  if (column.type.kind !== 'double' && column.type.kind !== 'float') return false
  return (values as Float64Array).some(Number.isNaN)
}

/**
 * The schema's columns of a Parquet file, found as `findFileColumn` says; one that the file does not have is null in every row. Throws
 * `table-damaged` when the file cannot be read or holds another type, and `schema-mismatch` when a column that may not be null is missing or has nulls.
 */
export async function decodeParquet(bytes: Uint8Array, schema: Schema): Promise<Columns> {
  const { arrow, wasm } = await loadModules()
  const footer = await readFooter(bytes)
  const present = schema.columns.flatMap((column) => {
    const fileColumn = findFileColumn(footer, column)
    return fileColumn ? [{ column: { ...column, nullable: true }, fileColumn }] : []
  })
  checkParquet(bytes, footer.metadata, new Set(present.map(({ fileColumn }) => fileColumn.name)))
  const int96 = present.filter(({ fileColumn }) => fileColumn.isInt96)
  const plain = present.filter(({ fileColumn }) => !fileColumn.isInt96)
  for (const { column } of int96) if (column.type.kind !== 'timestamp') throw otherType(column, 'a timestamp (INT96)')

  const vectors = [
    ...(await readInt96Columns(
      bytes,
      footer,
      int96.map(({ column, fileColumn }) => ({ column, name: fileColumn.name })),
    )),
    ...readPlainColumns(
      arrow,
      wasm,
      bytes,
      footer,
      plain.map(({ column, fileColumn }) => ({ column, name: fileColumn.name })),
    ),
  ]
  if (footer.hasJulianDates) refuseJulianDates(vectors, footer.rowCount)
  const inFile = { schema: { columns: vectors.map(({ column }) => column) }, rowCount: footer.rowCount, vectors }
  return projectColumns(inFile, schema)
}

/** Loads what encodes and decodes, so that the first batch does not wait for it. */
export async function warmParquet(): Promise<void> {
  await loadModules()
}

/** Spark trusts the statistics of texts only when it can read this line; the form is Parquet's own. */
const CREATED_BY = 'streamtop version 1 (build parquet-wasm)'

type ArrowModule = typeof import('apache-arrow')
type WasmModule = typeof import('parquet-wasm')

let modules: Promise<{ readonly arrow: ArrowModule; readonly wasm: WasmModule }> | null = null

function loadModules() {
  modules ??= Promise.all([import('apache-arrow'), import('parquet-wasm')]).then(([arrow, wasm]) => ({ arrow, wasm }))
  return modules
}

function arrowType(arrow: ArrowModule, type: ColumnType): DataType {
  switch (type.kind) {
    case 'byte':
      return new arrow.Int8()
    case 'short':
      return new arrow.Int16()
    case 'integer':
      return new arrow.Int32()
    case 'long':
      return new arrow.Int64()
    case 'float':
      return new arrow.Float32()
    case 'double':
      return new arrow.Float64()
    case 'boolean':
      return new arrow.Bool()
    case 'string':
      return new arrow.Utf8()
    case 'binary':
      return new arrow.Binary()
    case 'date':
      return new arrow.DateDay()
    case 'timestamp':
      return new arrow.TimestampMicrosecond('UTC')
    case 'decimal':
      return new arrow.Decimal(type.scale, type.precision, 128)
  }
}

function encodeVector(arrow: ArrowModule, vector: Vector, rowCount: number): Data {
  const { column, values, nulls } = vector
  const nullCount = nulls ? nulls.reduce((count, isNull) => count + isNull, 0) : 0
  if (nullCount > 0 && !column.nullable) throw new StreamtopError('bad-value', `column ${column.name} may not be null and is null in ${nullCount} rows`)
  const nullBitmap = nulls && nullCount > 0 ? packBits(nulls, rowCount, 0) : undefined
  const common = { type: arrowType(arrow, column.type), length: rowCount, nullCount, nullBitmap }
  if (vector.offsets) return arrow.makeData({ ...common, valueOffsets: vector.offsets, data: values } as never)
  return arrow.makeData({ ...common, data: arrowValues(column.type, values, rowCount) } as never)
}

function arrowValues(type: ColumnType, values: Vector['values'], rowCount: number): ArrayBufferView {
  switch (type.kind) {
    case 'byte':
      return Int8Array.from(values as Int32Array)
    case 'short':
      return Int16Array.from(values as Int32Array)
    case 'float':
      return Float32Array.from(values as Float64Array)
    case 'boolean':
      return packBits(values as Uint8Array, rowCount, 1)
    case 'decimal':
      return new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
    default:
      return values
  }
}

/** A bit a row, lowest first, set where the byte is the wanted one. */
function packBits(bytes: Uint8Array, rowCount: number, wanted: 0 | 1): Uint8Array {
  const bits = new Uint8Array((rowCount + 7) >> 3)
  for (let row = 0; row < rowCount; row++) {
    if (bytes[row] === wanted) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7))
  }
  return bits
}

interface WantedColumn {
  readonly column: Column
  /** Its name in the file. */
  readonly name: string
}

function readPlainColumns(arrow: ArrowModule, wasm: WasmModule, bytes: Uint8Array, footer: ParquetFooter, wanted: readonly WantedColumn[]): readonly Vector[] {
  const schema = { columns: wanted.map(({ column }) => column) }
  if (wanted.length === 0 || footer.rowCount === 0) return emptyColumns(schema).vectors
  const parts = readStream(wasm, bytes, footer, wanted)
    .map((stream) => arrow.tableFromIPC(stream))
    .flatMap((table) =>
      table.batches.map((batch): Columns => {
        const vectors = wanted.map(({ column, name }) => {
          const data = batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)]
          if (!data) throw new StreamtopError('table-damaged', `column ${column.name} is in the file's footer and was not read`)
          return decodeData(arrow, column, data)
        })
        return { schema, rowCount: batch.numRows, vectors }
      }),
    )
  const columns = concatColumns(schema, parts)
  if (columns.rowCount !== footer.rowCount) {
    throw new StreamtopError('table-damaged', `the file's footer counts ${footer.rowCount} rows, ${columns.rowCount} were read`)
  }
  return columns.vectors
}

function readStream(wasm: WasmModule, bytes: Uint8Array, footer: ParquetFooter, wanted: readonly WantedColumn[]): readonly Uint8Array[] {
  try {
    // intoIPCStream takes the table over and frees it.
    return [wasm.readParquet(footer.withoutArrowSchema(bytes), { batchSize: footer.rowCount, columns: wanted.map(({ name }) => name) }).intoIPCStream()]
  } catch (cause) {
    throw new StreamtopError('table-damaged', `a Parquet file cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Arrow's buffers as a vector: the same memory where the layout is the same. */
function decodeData(arrow: ArrowModule, column: Column, data: Data): Vector {
  const nulls = data.nullCount > 0 ? { nulls: unpackBits(data.nullBitmap as Uint8Array, data.offset, data.length, 0) } : {}
  if (isVariableWidth(column.type)) {
    if (data.typeId !== arrow.Type.Utf8 && data.typeId !== arrow.Type.Binary) throw otherType(column, String(data.type))
    const offsets = data.valueOffsets as Int32Array
    const start = offsets[0] ?? 0
    if (start === 0) return { column, values: (data.values as Uint8Array).subarray(0, offsets[data.length] ?? 0), offsets, ...nulls }
    return {
      column,
      values: (data.values as Uint8Array).subarray(start, offsets[data.length]),
      offsets: offsets.map((byte) => byte - start),
      ...nulls,
    }
  }
  const width = wordsPerValue(column.type)
  const values = decodeValues(arrow, column, data).subarray(0, data.length * width)
  if (nulls.nulls) clearNulls(values instanceof BigInt64Array ? halvesOf(values) : values, nulls.nulls)
  return { column, values, ...nulls }
}

function decodeValues(arrow: ArrowModule, column: Column, data: Data): Vector['values'] {
  const { type } = column
  const raw = data.values
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
      if (raw instanceof Int32Array && data.typeId === arrow.Type.Int) return raw
      if (raw instanceof Int8Array || raw instanceof Int16Array) return Int32Array.from(raw)
      break
    case 'long':
      if (raw instanceof BigInt64Array && data.typeId === arrow.Type.Int) return raw
      if (isNarrowInteger(raw) && data.typeId === arrow.Type.Int) return BigInt64Array.from(raw, BigInt)
      break
    case 'float':
    case 'double':
      if (raw instanceof Float64Array) return raw
      if (raw instanceof Float32Array) return Float64Array.from(raw)
      if (type.kind === 'double' && isNarrowInteger(raw) && data.typeId === arrow.Type.Int) return Float64Array.from(raw)
      break
    case 'boolean':
      if (data.typeId === arrow.Type.Bool) return unpackBits(raw as Uint8Array, data.offset, data.length, 1)
      break
    case 'date':
      if (data.typeId === arrow.Type.Date && raw instanceof Int32Array) return raw
      break
    case 'timestamp':
      if (arrow.DataType.isTimestamp(data.type)) return microsOf(raw as BigInt64Array, data.type.unit)
      break
    case 'decimal':
      if (arrow.DataType.isDecimal(data.type) && data.type.scale === type.scale && data.type.precision <= type.precision && data.type.bitWidth === 128) {
        return wordsOf(raw as Uint32Array)
      }
      return widenedDecimal(arrow, type, data) ?? fail(column, data)
  }
  return fail(column, data)
}

function fail(column: Column, data: Data): never {
  throw otherType(column, String(data.type))
}

function isNarrowInteger(raw: unknown): raw is Int8Array | Int16Array | Int32Array {
  return raw instanceof Int8Array || raw instanceof Int16Array || raw instanceof Int32Array
}

/** Decimals of a file that was written when the column was a whole number or a smaller decimal (Delta protocol, "Type Widening"); null when it never was. */
function widenedDecimal(arrow: ArrowModule, { precision, scale }: { readonly precision: number; readonly scale: number }, data: Data): BigInt64Array | null {
  const raw = data.values
  const isDecimal = arrow.DataType.isDecimal(data.type) && data.type.bitWidth === 128
  const before = isDecimal
    ? data.type
    : data.typeId === arrow.Type.Int && (raw instanceof BigInt64Array || isNarrowInteger(raw))
      ? { precision: 0, scale: 0 }
      : null
  if (before === null || before.scale > scale || before.precision - before.scale > precision - scale) return null
  const factor = 10n ** BigInt(scale - before.scale)
  const words = isDecimal ? wordsOf(raw as Uint32Array) : null
  const widened = new BigInt64Array(data.length * 2)
  for (let row = 0; row < data.length; row++) {
    const unscaled = words ? ((words[row * 2 + 1] as bigint) << 64n) | BigInt.asUintN(64, words[row * 2] as bigint) : BigInt((raw as Int32Array)[row] as number)
    const value = unscaled * factor
    widened[row * 2] = BigInt.asIntN(64, value)
    widened[row * 2 + 1] = BigInt.asIntN(64, value >> 64n)
  }
  return widened
}

/** Arrow's time units are 0: seconds, 1: milliseconds, 2: microseconds, 3: nanoseconds; what is finer is cut towards the past. */
function microsOf(values: BigInt64Array, unit: number): BigInt64Array {
  if (unit === 0) return values.map((value) => value * 1_000_000n)
  if (unit === 1) return values.map((value) => value * 1000n)
  if (unit === 2) return values
  return values.map((value) => (value - (((value % 1000n) + 1000n) % 1000n)) / 1000n)
}

function wordsOf(values: Uint32Array): BigInt64Array {
  const aligned = values.byteOffset % 8 === 0 ? values : values.slice()
  return new BigInt64Array(aligned.buffer, aligned.byteOffset, aligned.length / 2)
}

function unpackBits(bits: Uint8Array, offset: number, rowCount: number, wanted: 0 | 1): Uint8Array {
  const bytes = new Uint8Array(rowCount)
  for (let row = 0; row < rowCount; row++) {
    const bit = offset + row
    if ((((bits[bit >> 3] as number) >> (bit & 7)) & 1) === wanted) bytes[row] = 1
  }
  return bytes
}

/** A reader may leave anything where a value is null; vectors hold zeros there. */
function clearNulls(values: Int32Array | Float64Array | Uint8Array, nulls: Uint8Array): void {
  const width = values.length / nulls.length
  for (let row = 0; row < nulls.length; row++) {
    if (nulls[row] === 1) values.fill(0, row * width, (row + 1) * width)
  }
}

function otherType(column: Column, found: string): StreamtopError {
  return new StreamtopError('table-damaged', `column ${column.name} is ${typeName(column.type)} in the table and ${found} in a data file`)
}
