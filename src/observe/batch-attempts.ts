/** The attempts of one batch as the status shows them: one entry an attempt, whatever it wrote where. Pure. */
import type { LedgerRow } from '../store/ledger.js'
import { timesThere } from './expectation.js'
import type { OverlaidWrite } from './ledger-facts.js'
import type { BatchAttempt } from './status.js'

/** The table that a query is judged by. */
export interface SinkTable {
  readonly name: string
  /** Null when it is not there, or cannot be read. */
  readonly tableId: string | null
  /** It is not there, which is another thing than one that cannot be read. */
  readonly isAbsent: boolean
}

/**
 * The attempts, oldest first. What was written to a table that was dropped since is not there any more, so for the batch it is as if it
 * had not been written.
 * @param rows the ledger's, of one batch of a query id
 * @param overlaid writes to the sink that the ledger does not have yet
 */
export function attemptsOf(
  rows: readonly LedgerRow[],
  overlaid: readonly OverlaidWrite[],
  sink: SinkTable | null,
  operationOf: (row: LedgerRow) => string | null,
): BatchAttempt[] {
  const byAttempt = new Map<number, BatchAttempt>()
  // A function that never writes the table it is judged by is told of by what it does write.
  const isJudged = sink !== null && !sink.isAbsent
  for (const row of rows) {
    const before = byAttempt.get(row.attempt)
    const isOfSink = sink === null || row.tableName === null || row.tableName === sink.name
    const isElsewhere = isJudged && !isOfSink
    const isGone =
      sink !== null && row.tableName === sink.name && row.outcome !== 'started' && (sink.isAbsent || (sink.tableId !== null && row.tableId !== sink.tableId))
    const alsoWrote = [...(before?.alsoWrote ?? []), ...(isElsewhere && row.outcome === 'committed' && row.tableName !== null ? [row.tableName] : [])]
    const entry = isElsewhere || isGone ? (before ?? begun(row)) : together(before, written(row, operationOf))
    byAttempt.set(row.attempt, alsoWrote.length === 0 ? entry : { ...entry, alsoWrote })
  }
  for (const write of overlaid) {
    const { attempt, idempotent, operation, appId, rows: count } = write
    const txnVersion = appId === null ? null : write.batchId
    byAttempt.set(attempt, { attempt, idempotent, outcome: 'committed', operation, rows: count, leftOutRows: null, appId, txnVersion })
  }
  return [...byAttempt.values()].sort((a, b) => a.attempt - b.attempt)
}

/** Whether rows are there more than once, or left out, because of these attempts. */
export function harmOf(attempts: readonly BatchAttempt[]): boolean {
  return timesThere({ batchAttempts: attempts }) > 1 || attempts.some(({ leftOutRows }) => (leftOutRows ?? 0) > 0)
}

/** Several writes of an attempt to one table. */
function together(before: BatchAttempt | undefined, write: BatchAttempt): BatchAttempt {
  if (before === undefined || before.outcome === 'started') return write
  if (write.outcome === before.outcome) return { ...write, rows: (before.rows ?? 0) + (write.rows ?? 0) }
  return before.outcome === 'committed' ? before : write
}

function begun({ attempt, idempotent }: LedgerRow): BatchAttempt {
  return { attempt, idempotent: idempotent === 1, outcome: 'started', operation: null, rows: null, leftOutRows: null, appId: null, txnVersion: null }
}

function written(row: LedgerRow, operationOf: (row: LedgerRow) => string | null): BatchAttempt {
  return {
    attempt: row.attempt,
    idempotent: row.idempotent === 1,
    outcome: row.outcome,
    operation: operationOf(row),
    rows: row.rows,
    leftOutRows: row.leftOutRows,
    appId: row.appId,
    txnVersion: row.txnVersion,
  }
}
