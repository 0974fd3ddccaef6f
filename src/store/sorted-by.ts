/** Rows in ascending order of one column, nulls first, as Spark's `orderBy` has them; equal ones stay as they were. */
import { type Columns, takeRows } from './columns.js'
import { vectorNamed } from './vector-named.js'
import { isNull, orderOf } from './vector-order.js'

export function sortedBy(columns: Columns, name: string): Columns {
  const vector = vectorNamed(columns, name)
  const compare = orderOf(vector, vector)
  const rows = Int32Array.from({ length: columns.rowCount }, (_, row) => row).sort((left, right) => {
    const [isLeftNull, isRightNull] = [isNull(vector, left), isNull(vector, right)]
    if (isLeftNull || isRightNull) return isLeftNull === isRightNull ? left - right : isLeftNull ? -1 : 1
    return compare(left, right) || left - right
  })
  return takeRows(columns, rows)
}
