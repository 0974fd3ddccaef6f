/**
 * Single values as a person's code sees them, out of columns. Each kind has one JavaScript type that holds it exactly:
 * byte, short, integer, float, double: number; long: bigint; boolean; string; binary: Uint8Array; date: 'YYYY-MM-DD'; decimal:
 * `Decimal`; timestamp: `Timestamp`; and null.
 */
import { formatDays } from './civil-time.js'
import type { Columns, Vector } from './columns.js'
import { Decimal } from './decimal.js'
import { Timestamp } from './timestamp.js'

export type Value = number | bigint | boolean | string | Uint8Array | Decimal | Timestamp | null

/** A row by its columns' names. */
export type Row = Readonly<Record<string, Value>>

/** One value. Binary is a view, not to be changed. */
export function valueAt(vector: Vector, row: number): Value {
  if (vector.nulls?.[row] === 1) return null
  const { type } = vector.column
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'float':
    case 'double':
      return (vector.values as Int32Array | Float64Array)[row] ?? null
    case 'long':
      return (vector.values as BigInt64Array)[row] ?? null
    case 'boolean':
      return vector.values[row] === 1
    case 'string':
      return stringAt(vector, row)
    case 'binary':
      return bytesAt(vector, row)
    case 'date':
      return formatDays((vector.values as Int32Array)[row] ?? 0)
    case 'decimal':
      return new Decimal(unscaledAt(vector, row), type.scale)
    case 'timestamp':
      return new Timestamp((vector.values as BigInt64Array)[row] ?? 0n)
  }
}

/** The text of a string column's value; what it gives for a null is the empty text. */
export function stringAt(vector: Vector, row: number): string {
  const start = vector.offsets?.[row] ?? 0
  const end = vector.offsets?.[row + 1] ?? 0
  const { buffer, byteOffset, byteLength } = vector.values
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('utf8', start, end)
}

/** The bytes of a string or binary column's value, as a view. */
export function bytesAt(vector: Vector, row: number): Uint8Array {
  return (vector.values as Uint8Array).subarray(vector.offsets?.[row] ?? 0, vector.offsets?.[row + 1] ?? 0)
}

/** The whole number that stands for a decimal column's value at its scale. */
export function unscaledAt(vector: Vector, row: number): bigint {
  const words = vector.values as BigInt64Array
  const low = words[row * 2] ?? 0n
  const high = words[row * 2 + 1] ?? 0n
  // The high word is the sign alone for every value of up to 18 digits.
  if (high === low >> 63n) return low
  return (high << 64n) | BigInt.asUintN(64, low)
}

/** One row. */
export function rowAt(columns: Columns, row: number): Row {
  const values: Record<string, Value> = {}
  for (const vector of columns.vectors) setValue(values, vector.column.name, valueAt(vector, row))
  return values
}

/** Every row in order, each decoded when it is asked for: `[...rowsOf(columns)]` is an array of them. */
export function rowsOf(columns: Columns): Iterable<Row> {
  return {
    *[Symbol.iterator]() {
      for (let row = 0; row < columns.rowCount; row++) yield rowAt(columns, row)
    },
  }
}

/** A column called `__proto__` must become a property like any other, and not the row's prototype. */
function setValue(row: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__') Object.defineProperty(row, name, { value, enumerable: true, writable: true, configurable: true })
  else row[name] = value
}
