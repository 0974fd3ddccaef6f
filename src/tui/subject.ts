/** One query with everything that is known of it in one place: what the session knows and what the last look at the disk found. */
import type { BatchLine } from '../observe/batch-lines.js'
import type { HistoryLine } from '../observe/table-history.js'
import type { QueryStatus, TableStatus } from '../observe/status.js'
import type { LiveQuery } from '../session/session-state.js'
import type { Model } from './model.js'
import { type Condition, conditionOf } from './query-condition.js'

export interface Subject {
  readonly live: LiveQuery
  readonly name: string
  /** Its number on the screen, from 1. */
  readonly number: number
  readonly isSelected: boolean
  readonly condition: Condition
  readonly status: QueryStatus | null
  readonly tableName: string | null
  readonly table: TableStatus | null
  /** Newest first; null until somebody looked closely. */
  readonly batches: readonly BatchLine[] | null
  readonly versions: readonly HistoryLine[] | null
  /** Its process ended after the last look at the disk. */
  readonly isNewerThanView: boolean
}

/** Every query, in the session's order. */
export function subjectsOf({ state, view, selected }: Model): Subject[] {
  return (state?.queries ?? []).map((live, index) => {
    const { name } = live.info
    const status = view?.status.queries.find((one) => one.name === name) ?? null
    const tableName = status?.sink?.name ?? live.info.table
    const detail = view?.detail?.query === name ? view.detail : null
    return {
      live,
      name,
      number: index + 1,
      isSelected: name === selected,
      condition: conditionOf(live, status, state?.isPaused ?? false),
      status,
      tableName,
      table: view?.status.tables.find((one) => one.name === tableName) ?? null,
      batches: detail?.batches ?? null,
      versions: detail?.versions ?? null,
      isNewerThanView: live.ending !== null && view !== null && live.ending.atMs > view.takenAtMs,
    }
  })
}

/** Whether a process runs it, here or elsewhere. */
export function isAlive({ live, condition }: Subject): boolean {
  return live.process !== 'none' || condition.name === 'elsewhere'
}

/** Whether its newest batch is logged, not committed, and nobody is at work on it. */
export function isLeftPending(subject: Subject): boolean {
  const { status } = subject
  return !isAlive(subject) && status !== null && status.batchId !== null && status.step !== 'batch-committed'
}
