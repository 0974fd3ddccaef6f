/**
 * What a MERGE is to do, in Delta's words: rows match by equal keys; for a match, and for a source row without one, the first clause whose
 * condition is true acts. What the clauses say is checked here, before a row is looked at.
 */
import { StreamtopError } from '../errors.js'
import type { Row } from './values.js'

export interface MergeSpec {
  /** Columns that source and target have in common; rows match where all are equal. Null equals nothing. */
  readonly on: string | readonly string[]
  /** Tried in order; only the last may have no condition. */
  readonly whenMatched?: MatchedClause | readonly MatchedClause[]
  readonly whenNotMatched?: NotMatchedClause | readonly NotMatchedClause[]
}

export type MatchedAction = 'update' | 'delete'

export type MatchedClause =
  | MatchedAction
  | {
      readonly when?: MatchedCondition
      readonly act: MatchedAction
      /** The condition in words, for the table's history. */
      readonly text?: string
    }

export type NotMatchedClause = 'insert' | { readonly when?: (source: Row) => boolean; readonly act: 'insert'; readonly text?: string }

export type MatchedCondition = Newer | ((source: Row, target: Row) => boolean)

/** True where the source's value of this column is greater than the target's; not true where one is null. */
export interface Newer {
  readonly newer: string
}

/** A condition of a matched clause that is judged on the columns themselves, without a row being built: `s.column > t.column`. */
export function newer(column: string): Newer {
  return { newer: column }
}

/** A spec in one shape. */
export interface MergeClauses {
  readonly on: readonly string[]
  readonly matched: readonly Clause<MatchedAction, MatchedCondition>[]
  readonly notMatched: readonly Clause<'insert', (source: Row) => boolean>[]
}

export interface Clause<Action, Condition> {
  readonly action: Action
  /** Null: always. */
  readonly when: Condition | null
  readonly text: string | null
}

/** Brings a spec into one shape; `usage` when it says nothing or a clause can never be reached. */
export function clausesOf(spec: MergeSpec): MergeClauses {
  const on = typeof spec.on === 'string' ? [spec.on] : (spec.on ?? [])
  if (on.length === 0) throw new StreamtopError('usage', 'a MERGE needs at least one column to match on', { hint: "for example { on: 'order_id', ... }" })
  const matched = listOf(spec.whenMatched).map((clause) => clauseOf<MatchedAction, MatchedCondition>(clause, 'whenMatched', ['update', 'delete']))
  const notMatched = listOf(spec.whenNotMatched).map((clause) => clauseOf<'insert', (source: Row) => boolean>(clause, 'whenNotMatched', ['insert']))
  if (matched.length + notMatched.length === 0) {
    throw new StreamtopError('usage', 'a MERGE needs whenMatched or whenNotMatched', { condition: 'DELTA_MERGE_MISSING_WHEN' })
  }
  requireConditions(matched, 'whenMatched', 'DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION')
  requireConditions(notMatched, 'whenNotMatched', 'DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION')
  return { on, matched, notMatched }
}

function listOf<T>(clauses: T | readonly T[] | undefined): readonly T[] {
  if (clauses === undefined) return []
  return Array.isArray(clauses) ? clauses : [clauses as T]
}

/** A clause that says something else than the type has would act all the same: on every match, as a delete. */
function clauseOf<Action extends string, Condition>(
  clause: Action | { readonly when?: Condition; readonly act: Action; readonly text?: string },
  name: string,
  actions: readonly Action[],
): Clause<Action, Condition> {
  const { act, when = null, text = null, ...others } = typeof clause === 'string' ? { act: clause } : (clause ?? { act: null })
  const choice = actions.map((action) => `"${action}"`).join(' or ')
  if (!actions.includes(act as Action)) {
    throw new StreamtopError('usage', `a clause of ${name} acts with ${choice}, not ${typeof act === 'string' ? `"${act}"` : String(act)}`, {
      hint: `give ${choice}, or { when: (source) => …, act: "${actions[0]}" }`,
    })
  }
  const [other] = Object.keys(others)
  if (other !== undefined) throw new StreamtopError('usage', `a clause of ${name} has when, act and text, and no ${other}`)
  const mayBeNewer = name === 'whenMatched'
  if (when !== null && typeof when !== 'function' && !(mayBeNewer && typeof (when as Partial<Newer>).newer === 'string')) {
    throw new StreamtopError('usage', `the condition of a clause of ${name} is a function${mayBeNewer ? ' or newer(COLUMN)' : ''}, not of type ${typeof when}`)
  }
  return { action: act as Action, when: when as Condition | null, text: text as string | null }
}

function requireConditions(clauses: readonly Clause<unknown, unknown>[], name: string, condition: string): void {
  const at = clauses.findIndex((clause) => clause.when === null)
  if (at < 0 || at === clauses.length - 1) return
  throw new StreamtopError('usage', `clause ${at + 1} of ${name} has no condition, so those after it can never act`, {
    hint: 'only the last clause may be without a condition',
    condition,
  })
}
