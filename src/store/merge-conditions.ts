/** The conditions of a MERGE's clauses, bound to the columns they judge: the first clause whose condition is true acts. */
import { StreamtopError } from '../errors.js'
import type { Columns } from './columns.js'
import type { MatchedAction, MatchedCondition, MergeClauses } from './merge-spec.js'
import { type Row, rowAt } from './values.js'
import { vectorNamed } from './vector-named.js'
import { isNull, orderOf } from './vector-order.js'

/** What is done with a pair of rows, or null: it stays. */
export function bindMatched(
  clauses: MergeClauses['matched'],
  source: Columns,
  target: Columns,
): (sourceRow: number, targetRow: number) => MatchedAction | null {
  const sourceRowAt = lastRowOf(source)
  const targetRowAt = lastRowOf(target)
  const bound = clauses.map((clause) => ({ action: clause.action, holds: bindCondition(clause.when) }))
  const only = bound[0]
  if (only !== undefined && bound.length === 1) return (sourceRow, targetRow) => (only.holds(sourceRow, targetRow) ? only.action : null)
  return (sourceRow, targetRow) => {
    for (const clause of bound) if (clause.holds(sourceRow, targetRow)) return clause.action
    return null
  }

  function bindCondition(condition: MatchedCondition | null): (sourceRow: number, targetRow: number) => boolean {
    if (condition === null) return () => true
    if (typeof condition === 'function') return (sourceRow, targetRow) => answer(condition(sourceRowAt(sourceRow), targetRowAt(targetRow)))
    const sourceVector = vectorNamed(source, condition.newer)
    const targetVector = vectorNamed(target, condition.newer)
    const order = orderOf(sourceVector, targetVector)
    return (sourceRow, targetRow) => !isNull(sourceVector, sourceRow) && !isNull(targetVector, targetRow) && order(sourceRow, targetRow) > 0
  }
}

/** Whether a source row without a match is inserted. */
export function bindNotMatched(clauses: MergeClauses['notMatched'], source: Columns): (sourceRow: number) => boolean {
  const sourceRowAt = lastRowOf(source)
  return (sourceRow) => clauses.some(({ when }) => when === null || answer(when(sourceRowAt(sourceRow))))
}

/** Null is not true, as in SQL. A promise would be taken for true for every row, so it is refused with everything else. */
function answer(result: unknown): boolean {
  if (typeof result === 'boolean') return result
  if (result === null || result === undefined) return false
  throw new StreamtopError('usage', `a condition of the MERGE answered with a value of type ${typeof result}; it has to answer true or false`)
}

/** Rows as objects, built once for the clauses of a pair. */
function lastRowOf(columns: Columns): (row: number) => Row {
  let lastRow = -1
  let last: Row = {}
  return (row) => {
    if (row !== lastRow) {
      last = rowAt(columns, row)
      lastRow = row
    }
    return last
  }
}
