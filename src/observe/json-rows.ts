/** Rows as JSON that loses nothing: what a double cannot hold is a text. */
import { castToString, floatText, hexText } from '../store/cast-to-string.js'
import type { Columns, Vector } from '../store/columns.js'
import { valueAt } from '../store/values.js'

export type JsonValue = string | number | boolean | null

/**
 * The first rows by column name: numbers of up to 32 bits and finite doubles are numbers, floats with as few digits as tell them apart,
 * booleans booleans; longs, decimals, dates and timestamps (UTC) texts as Spark casts them, NaN, infinities and a negative zero too,
 * binary its hexadecimal digits.
 */
export function jsonRows(columns: Columns, limit: number): Readonly<Record<string, JsonValue>>[] {
  const rows: Record<string, JsonValue>[] = []
  for (let row = 0; row < Math.min(columns.rowCount, limit); row++) {
    // From entries, so that a column called __proto__ is a property like any other.
    rows.push(Object.fromEntries(columns.vectors.map((vector) => [vector.column.name, jsonValue(vector, row)])))
  }
  return rows
}

function jsonValue(vector: Vector, row: number): JsonValue {
  const value = valueAt(vector, row)
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  // JSON has no infinities and would lose the sign of a negative zero.
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) {
    // As a double a float has digits that it never had: 1.1 would be 1.100000023841858.
    return vector.column.type.kind === 'float' ? Number(floatText(value)) : value
  }
  return value instanceof Uint8Array ? hexText(value) : castToString(vector.column.type, value)
}
