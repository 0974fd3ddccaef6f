/**
 * Rows in columns, in Arrow's memory layout (Arrow Columnar Format 1.4), so that Parquet and back costs no per-value work.
 *
 * | kind | values | one value |
 * | --- | --- | --- |
 * | byte short integer date | Int32Array (date: days since 1970-01-01) | 4 bytes |
 * | long timestamp | BigInt64Array (timestamp: microseconds since 1970 UTC) | 8 bytes |
 * | float double | Float64Array | 8 bytes |
 * | boolean | Uint8Array, a byte a value, 0 or 1 | 1 byte |
 * | decimal | BigInt64Array, two words a value, low word first, two's complement over 128 bits | 16 bytes |
 * | string binary | Uint8Array with `offsets`: value i is bytes offsets[i] to offsets[i + 1]; strings are UTF-8 | any |
 *
 * Columns are never changed once made, so several may share one buffer.
 */
import { StreamtopError } from '../errors.js'
import { type Column, type ColumnType, columnIndex, type Schema, sameType, typeName } from './schema.js'

export interface Vector {
  readonly column: Column
  readonly values: Int32Array | BigInt64Array | Float64Array | Uint8Array
  /** Of string and binary: rowCount + 1 ends, the first 0. */
  readonly offsets?: Int32Array
  /** A byte a row, 1 where the value is null; absent when none is. What `values` holds there is 0 (empty). */
  readonly nulls?: Uint8Array
}

export interface Columns {
  readonly schema: Schema
  readonly rowCount: number
  readonly vectors: readonly Vector[]
}

/** No rows. */
export function emptyColumns(schema: Schema): Columns {
  return { schema, rowCount: 0, vectors: schema.columns.map((column) => nullVector(column, 0)) }
}

/** The rows of several columns, one after the other. Each part must have the schema's columns; `projectColumns` makes it so. */
export function concatColumns(schema: Schema, parts: readonly Columns[]): Columns {
  const filled = parts.filter((part) => part.rowCount > 0).map((part) => projectColumns(part, schema))
  const [first] = filled
  if (!first) return emptyColumns(schema)
  if (filled.length === 1) return first
  const rowCount = filled.reduce((sum, part) => sum + part.rowCount, 0)
  const vectors = schema.columns.map((column, c) => concatVectors(column, rowCount, filled, c))
  return { schema, rowCount, vectors }
}

/** The rows at these places, in this order; a place may come more than once. */
export function takeRows(columns: Columns, indices: Int32Array): Columns {
  for (const row of indices) {
    if (row < 0 || row >= columns.rowCount) throw new StreamtopError('internal', `row ${row} was asked for, there are ${columns.rowCount}`)
  }
  return { schema: columns.schema, rowCount: indices.length, vectors: columns.vectors.map((vector) => takeFromVector(vector, indices)) }
}

/** Rows start to end, the end not included. */
export function sliceRows(columns: Columns, start: number, end: number): Columns {
  const from = Math.max(0, Math.min(start, columns.rowCount))
  const to = Math.max(from, Math.min(end, columns.rowCount))
  if (from === 0 && to === columns.rowCount) return columns
  return { schema: columns.schema, rowCount: to - from, vectors: columns.vectors.map((vector) => sliceVector(vector, from, to)) }
}

/**
 * The same rows with another schema's columns, found by name in any case; a column that is not there is null in every row, and
 * columns that the schema does not name are left out. Throws `schema-mismatch` when a type differs, or when a column that may
 * not be null is missing or has nulls.
 */
export function projectColumns(columns: Columns, schema: Schema): Columns {
  if (columns.schema === schema) return columns
  const vectors = schema.columns.map((column): Vector => {
    const vector = columns.vectors[columnIndex(columns.schema, column.name)]
    if (!vector) {
      if (column.nullable) return nullVector(column, columns.rowCount)
      throw new StreamtopError('schema-mismatch', `column ${column.name} may not be null and the rows do not have it`)
    }
    if (!sameType(vector.column.type, column.type)) {
      const [given, wanted] = [typeName(vector.column.type), typeName(column.type)]
      throw new StreamtopError('schema-mismatch', `column ${column.name} is ${given} in the rows and ${wanted} in the table`, {
        condition: 'DELTA_FAILED_TO_MERGE_FIELDS',
      })
    }
    if (!column.nullable && vector.nulls?.includes(1)) {
      throw new StreamtopError('schema-mismatch', `column ${column.name} may not be null and is null in row ${vector.nulls.indexOf(1)}`, {
        condition: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
      })
    }
    return vector.column === column ? vector : { ...vector, column }
  })
  return { schema, rowCount: columns.rowCount, vectors }
}

/** A column of nothing but nulls. */
export function nullVector(column: Column, rowCount: number): Vector {
  const nulls = rowCount > 0 ? { nulls: new Uint8Array(rowCount).fill(1) } : {}
  const offsets = isVariableWidth(column.type) ? { offsets: new Int32Array(rowCount + 1) } : {}
  return { column, values: allocateValues(column.type, isVariableWidth(column.type) ? 0 : rowCount), ...offsets, ...nulls }
}

/** String and binary have `offsets`; every other kind has `wordsPerValue` array elements a value. */
export function isVariableWidth(type: ColumnType): boolean {
  return type.kind === 'string' || type.kind === 'binary'
}

export function wordsPerValue(type: ColumnType): number {
  return type.kind === 'decimal' ? 2 : 1
}

/** Zeroed memory for so many values; for string and binary, so many bytes. */
export function allocateValues(type: ColumnType, count: number): Vector['values'] {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return new Int32Array(count)
    case 'long':
    case 'timestamp':
      return new BigInt64Array(count)
    case 'decimal':
      return new BigInt64Array(count * 2)
    case 'float':
    case 'double':
      return new Float64Array(count)
    case 'boolean':
    case 'string':
    case 'binary':
      return new Uint8Array(count)
  }
}

function concatVectors(column: Column, rowCount: number, parts: readonly Columns[], c: number): Vector {
  const vectors = parts.map((part) => part.vectors[c] as Vector)
  const width = wordsPerValue(column.type)
  const variable = isVariableWidth(column.type)
  const byteCount = vectors.reduce((sum, { offsets }) => sum + (offsets?.at(-1) ?? 0), 0)
  if (byteCount > MAX_BYTES) throw tooLong(column)
  const values = allocateValues(column.type, variable ? byteCount : rowCount)
  const offsets = variable ? new Int32Array(rowCount + 1) : undefined
  const nulls = vectors.some((vector) => vector.nulls) ? new Uint8Array(rowCount) : undefined
  let row = 0
  let byte = 0
  vectors.forEach((vector, p) => {
    const count = parts[p]?.rowCount ?? 0
    if (offsets && vector.offsets) {
      const length = vector.offsets[count] ?? 0
      copyInto(values, vector.values.subarray(0, length), byte)
      for (let i = 1; i <= count; i++) offsets[row + i] = byte + (vector.offsets[i] as number)
      byte += length
    } else {
      copyInto(values, vector.values.subarray(0, count * width), row * width)
    }
    if (vector.nulls) nulls?.set(vector.nulls.subarray(0, count), row)
    row += count
  })
  return { column, values, ...(offsets && { offsets }), ...(nulls && { nulls }) }
}

function takeFromVector(vector: Vector, indices: Int32Array): Vector {
  const { column, offsets } = vector
  const count = indices.length
  const taken = vector.nulls ? gather(vector.nulls, indices, new Uint8Array(count)) : undefined
  const nulls = taken?.includes(1) ? { nulls: taken } : {}
  if (offsets && vector.values instanceof Uint8Array) {
    const takenOffsets = new Int32Array(count + 1)
    let end = 0
    for (let i = 0; i < count; i++) {
      const row = indices[i] as number
      end += (offsets[row + 1] as number) - (offsets[row] as number)
      if (end > MAX_BYTES) throw tooLong(column)
      takenOffsets[i + 1] = end
    }
    const values = new Uint8Array(end)
    for (let i = 0; i < count; i++) {
      const row = indices[i] as number
      copyBytes(vector.values, offsets[row] as number, offsets[row + 1] as number, values, takenOffsets[i] as number)
    }
    return { column, values, offsets: takenOffsets, ...nulls }
  }
  return { column, values: gatherValues(vector.values, indices, wordsPerValue(column.type)), ...nulls }
}

function gatherValues(values: Vector['values'], indices: Int32Array, width: number): Vector['values'] {
  if (values instanceof Int32Array) return gather(values, indices, new Int32Array(indices.length))
  // 64-bit values are moved as doubles' bits would be: two 32-bit halves, without a bigint for each.
  if (values instanceof BigInt64Array) {
    const taken = new BigInt64Array(indices.length * width)
    gatherWords(halvesOf(values), indices, width * 2, halvesOf(taken))
    return taken
  }
  if (values instanceof Float64Array) return gather(values, indices, new Float64Array(indices.length))
  return gather(values, indices, new Uint8Array(indices.length))
}

/** The 32-bit halves of 64-bit values, low half first (both supported systems are little-endian). */
export function halvesOf(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2)
}

function gather<T extends Int32Array | Float64Array | Uint8Array>(from: T, indices: Int32Array, into: T): T {
  for (let i = 0; i < indices.length; i++) into[i] = from[indices[i] as number] as number
  return into
}

function gatherWords(from: Int32Array, indices: Int32Array, width: number, into: Int32Array): void {
  for (let i = 0, at = 0; i < indices.length; i++) {
    const start = (indices[i] as number) * width
    for (let w = 0; w < width; w++) into[at++] = from[start + w] as number
  }
}

function sliceVector(vector: Vector, start: number, end: number): Vector {
  const { column, offsets } = vector
  const width = wordsPerValue(column.type)
  const slicedNulls = vector.nulls?.subarray(start, end)
  const nulls = slicedNulls?.includes(1) ? { nulls: slicedNulls } : {}
  if (!offsets) return { column, values: vector.values.subarray(start * width, end * width), ...nulls }
  const base = offsets[start] as number
  const values = vector.values.subarray(base, offsets[end] as number)
  const ends = offsets.subarray(start, end + 1)
  return { column, values, offsets: base === 0 ? ends : ends.map((byte) => byte - base), ...nulls }
}

function copyInto(target: Vector['values'], source: Vector['values'], at: number): void {
  if (target instanceof BigInt64Array) target.set(source as BigInt64Array, at)
  else target.set(source as Int32Array, at)
}

/** Short values are copied byte by byte: a call into the engine costs more than they do. */
function copyBytes(from: Uint8Array, start: number, end: number, into: Uint8Array, at: number): void {
  if (end - start > 32) return into.set(from.subarray(start, end), at)
  for (let i = start, j = at; i < end; i++, j++) into[j] = from[i] as number
}

/** 32-bit offsets reach this far. */
export const MAX_BYTES = 2 ** 31 - 1

export function tooLong(column: Column): StreamtopError {
  return new StreamtopError('bad-value', `column ${column.name} holds more than 2 GiB in one batch`, { hint: 'take fewer rows in a batch' })
}
