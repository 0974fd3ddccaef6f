/** The newest row of each key of a batch, as a MERGE needs it: one row a key. */
import { type Columns, takeRows } from './columns.js'
import { indexByKey } from './key-index.js'
import { vectorNamed } from './vector-named.js'
import { isNull, orderOf, type RowOrder } from './vector-order.js'

/**
 * The rows with the greatest `orderBy` of their key, in row order. Among equals the greatest first tie-breaker wins, then the next one,
 * at last the later row. Null comes before every value. A row with a null in its key is kept: it is the same as no other.
 */
export function newestOfEach(columns: Columns, keyNames: readonly string[], orderBy: string, ...tieBreakers: readonly string[]): Columns {
  const index = indexByKey(columns, keyNames)
  const orders = [orderBy, ...tieBreakers].map((name) => nullsFirst(columns, name))
  const keys = keyNames.map((name) => vectorNamed(columns, name))
  const kept = new Uint8Array(columns.rowCount)
  for (const first of index.firstRows) {
    let newest = first
    for (let row = index.nextRows[first] as number; row >= 0; row = index.nextRows[row] as number) {
      if (isAtLeast(orders, row, newest)) newest = row
    }
    kept[newest] = 1
  }
  for (let row = 0; row < columns.rowCount; row++) if (keys.some((key) => isNull(key, row))) kept[row] = 1
  const rows = rowsMarked(kept)
  return rows.length === columns.rowCount ? columns : takeRows(columns, rows)
}

function isAtLeast(orders: readonly RowOrder[], row: number, other: number): boolean {
  for (const order of orders) {
    const difference = order(row, other)
    if (difference !== 0) return difference > 0
  }
  return true
}

function nullsFirst(columns: Columns, name: string): RowOrder {
  const vector = vectorNamed(columns, name)
  const order = orderOf(vector, vector)
  if (vector.nulls === undefined) return order
  return (left, right) => {
    const leftIsNull = isNull(vector, left)
    const rightIsNull = isNull(vector, right)
    if (leftIsNull || rightIsNull) return (leftIsNull ? 0 : 1) - (rightIsNull ? 0 : 1)
    return order(left, right)
  }
}

function rowsMarked(marks: Uint8Array): Int32Array {
  const rows = new Int32Array(marks.length)
  let count = 0
  for (let row = 0; row < marks.length; row++) if (marks[row] === 1) rows[count++] = row
  return rows.slice(0, count)
}
