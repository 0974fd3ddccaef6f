/**
 * Which files of a table may hold a row with one of a batch's keys, told from their statistics alone. Each key is looked for, not only the
 * span of all of them, so that a batch of scattered keys leaves out files too. When in doubt a file is a candidate.
 */
import type { AddFile } from './actions.js'
import type { Vector } from './columns.js'
import type { KeyIndex } from './key-index.js'
import { type FileStatistics, parseStatistics } from './parse-statistics.js'
import type { Schema } from './schema.js'
import { type Comparable, compareValues } from './statistics.js'
import { stringAt, unscaledAt } from './values.js'

/**
 * The files that may hold a row whose key is in the index, in their order. A key of several columns is looked for column by column.
 * A key with a null matches no row, so no file is read for its sake.
 */
export function candidateFiles(files: readonly AddFile[], keys: KeyIndex, schema: Schema): AddFile[] {
  if (keys.firstRows.length === 0) return []
  const columns = keys.vectors.map((vector) => ({ name: vector.column.name, sorted: sortedValues(vector, keys.firstRows) }))
  return files.filter(({ statistics }) => {
    const known = parseStatistics(statistics, schema)
    return columns.every(({ name, sorted }) => mayHoldOne(known, name, sorted))
  })
}

/** `sorted`: the values looked for, or null when they have no order that statistics follow. */
function mayHoldOne(known: FileStatistics, name: string, sorted: ArrayLike<Comparable> | null): boolean {
  if (known.rowCount !== null && known.nullCount(name) === known.rowCount) return false
  if (sorted === null) return true
  const min = known.min(name)
  const max = known.max(name)
  // The least value that is not below the minimum is within the file's range, or none is.
  const least = sorted[min === null ? 0 : firstNotBelow(sorted, min)]
  return least !== undefined && (max === null || compareValues(least, max) <= 0)
}

function firstNotBelow(sorted: ArrayLike<Comparable>, bound: Comparable): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareValues(sorted[middle] as Comparable, bound) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** A NaN sorts last and compares as equal to every bound, which only ever makes a file a candidate. */
function sortedValues(vector: Vector, rows: Int32Array): ArrayLike<Comparable> | null {
  const { values } = vector
  switch (vector.column.type.kind) {
    case 'boolean':
    case 'binary':
      return null
    case 'string':
      return Array.from(rows, (row) => stringAt(vector, row)).sort(compareValues)
    case 'decimal':
      return Array.from(rows, (row) => unscaledAt(vector, row)).sort(compareValues)
    case 'long':
    case 'timestamp':
      return takeLongs(values as BigInt64Array, rows).sort()
    default:
      return Float64Array.from(rows, (row) => values[row] as number).sort()
  }
}

function takeLongs(values: BigInt64Array, rows: Int32Array): BigInt64Array {
  const taken = new BigInt64Array(rows.length)
  for (let at = 0; at < rows.length; at++) taken[at] = values[rows[at] as number] as bigint
  return taken
}
