/** The `.where` of a source: rows that pass every filter. */
import { StreamtopError } from '../errors.js'
import { isPromise } from '../is-promise.js'
import { type Columns, takeRows } from '../store/columns.js'
import { rowAt } from '../store/values.js'
import type { RowFilter } from './definition.js'

/** The rows for which all filters are true. An error thrown in a filter is the query's. */
export function filterRows(columns: Columns, filters: readonly RowFilter[]): Columns {
  if (filters.length === 0 || columns.rowCount === 0) return columns
  const kept = new Int32Array(columns.rowCount)
  let count = 0
  for (let row = 0; row < columns.rowCount; row++) {
    const value = rowAt(columns, row)
    if (filters.every((filter) => passes(filter, value))) kept[count++] = row
  }
  return count === columns.rowCount ? columns : takeRows(columns, kept.subarray(0, count))
}

function passes(filter: RowFilter, row: Parameters<RowFilter>[0]): boolean {
  let answer: unknown
  try {
    answer = filter(row)
  } catch (cause) {
    throw new StreamtopError('foreach-batch-failed', `a where function failed: ${(cause as Error)?.message ?? String(cause)}`, {
      hint: 'mend the function and start the query again: the batch runs again whole, with the same rows',
      cause,
    })
  }
  return isTrue(answer, 'a where function')
}

/**
 * Whether a condition of a person's holds, as JavaScript takes an answer.
 * @throws foreach-batch-failed for a promise, which would hold for every row
 */
export function isTrue(answer: unknown, who: string): boolean {
  if (!isPromise(answer)) return Boolean(answer)
  throw new StreamtopError('foreach-batch-failed', `${who} answered with a promise; it has to answer true or false at once`, {
    hint: 'leave the async out, and look up what it needs before, in a foreachBatch',
  })
}
