/** Rows as keys and moments, for comparing a table of the newest rows with what it was made from. */
import type { Columns, Vector } from '../store/columns.js'
import { hashColumns, WORDS_PER_HASH } from '../store/row-hash.js'
import { vectorNamed } from '../store/vector-named.js'
import { isNull } from '../store/vector-order.js'
import type { KeyedRows } from './newest-by-key.js'

/**
 * Keys and moments of rows; rows whose key is null are left out, for no row is the same as another by it.
 * @returns null when the moments are of a type that is no whole number: text, decimals, fractions
 */
export function keyedRowsOf(columns: Columns, key: string, moment: string): KeyedRows | null {
  const moments = wholeNumbers(vectorNamed(columns, moment), columns.rowCount)
  if (moments === null) return null
  const keys = hashColumns(columns, [key])
  const vector = vectorNamed(columns, key)
  if (vector.nulls === undefined) return { keys, moments }
  let kept = 0
  for (let row = 0; row < columns.rowCount; row++) {
    if (isNull(vector, row)) continue
    keys.copyWithin(kept * WORDS_PER_HASH, row * WORDS_PER_HASH, (row + 1) * WORDS_PER_HASH)
    moments[kept] = moments[row] as bigint
    kept++
  }
  return { keys: keys.subarray(0, kept * WORDS_PER_HASH), moments: moments.subarray(0, kept) }
}

/** A null moment is before all others. */
const BEFORE_ALL = -(2n ** 63n)

function wholeNumbers(vector: Vector, rowCount: number): BigInt64Array | null {
  const { values } = vector
  const isWhole = vector.column.type.kind !== 'decimal' && (values instanceof Int32Array || values instanceof BigInt64Array)
  if (!isWhole) return null
  const moments = new BigInt64Array(rowCount)
  for (let row = 0; row < rowCount; row++) moments[row] = isNull(vector, row) ? BEFORE_ALL : BigInt(values[row] as number | bigint)
  return moments
}
