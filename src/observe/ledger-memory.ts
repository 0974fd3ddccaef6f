/**
 * The ledger of one query from look to look: the sums of its older batches are remembered, and only the newest batches are looked at.
 * Below the newest two batches nothing changes while the checkpoint goes forward; wherever that is not so, all is summed anew.
 */
import { attemptOf } from '../store/adopt.js'
import type { LedgerRow } from '../store/ledger.js'
import { allSums, type LedgerScope, type LedgerSums, sumBefore, sumOf, sumsOfRows } from './ledger-sums.js'
import type { OverlaidLog } from './overlaid-log.js'

/** So many batches are looked at one by one; behind more of them all is summed anew. */
const FEW_BATCHES = 64

interface Remembered {
  readonly scope: string
  /** Of all batches before `openBatchId`. */
  readonly sums: LedgerSums
  readonly openBatchId: number
  /** The ledger's rows of the batch before that one: while they are there it is the same ledger. */
  readonly witness: string
}

export class LedgerMemory {
  #remembered: Remembered | null = null
  /** Names of the queries that wrote to a table, up to a version. */
  #writers: { readonly tableId: string; readonly version: number; readonly names: ReadonlySet<string> } | null = null

  /**
   * The sums over all batches of a query id.
   * @param newestBatchId of its checkpoint
   */
  sums(log: OverlaidLog, scope: LedgerScope, newestBatchId: number, operationOf: (row: LedgerRow) => string | null): LedgerSums {
    const rowsFrom = (from: number) => rowsOfBatches(log, scope.queryId, from, newestBatchId)
    const open = Math.max(0, newestBatchId - 1)
    const before = this.#stillHolds(log, scope, newestBatchId) ?? this.#anew(log, scope, open, rowsFrom(open), operationOf)
    if (before === null) return allSums(log, scope)
    const newer = rowsFrom(before.openBatchId)
    const closed = newer.filter(({ batchId }) => batchId < open)
    const closedSums = closed.length === 0 ? before.sums : sumOf(before.sums, sumsOfRows(closed, scope, operationOf))
    this.#remembered = { scope: before.scope, sums: closedSums, openBatchId: open, witness: witnessOf(log, scope.queryId, open) }
    return sumOf(
      closedSums,
      sumsOfRows(
        newer.filter(({ batchId }) => batchId >= open),
        scope,
        operationOf,
      ),
    )
  }

  /** Names of queries that wrote to a table, sorted. */
  writersOf(log: OverlaidLog, table: string, tableId: string): readonly string[] {
    const version = log.newestVersion(table) ?? 0
    const known = this.#writers
    const names = known?.tableId === tableId && known.version <= version && version - known.version <= FEW_BATCHES ? new Set(known.names) : null
    if (names === null || known === null) {
      this.#writers = { tableId, version, names: new Set(log.sqlite?.evidence.queriesOf(tableId) ?? []) }
    } else {
      for (let next = known.version + 1; next <= version; next++) {
        const by = attemptOf(log.changes(table, next))
        if (by !== null) names.add(by.attempt.query)
      }
      this.#writers = { tableId, version, names }
    }
    return [...(this.#writers?.names ?? [])].sort()
  }

  #stillHolds(log: OverlaidLog, scope: LedgerScope, newestBatchId: number): Remembered | null {
    const known = this.#remembered
    if (known === null || known.scope !== JSON.stringify(scope)) return null
    if (newestBatchId < known.openBatchId || newestBatchId - known.openBatchId > FEW_BATCHES) return null
    return known.witness === witnessOf(log, scope.queryId, known.openBatchId) ? known : null
  }

  /** Null when the ledger has batches beyond the checkpoint's newest: an older copy of the checkpoint, whose batches run again. */
  #anew(log: OverlaidLog, scope: LedgerScope, open: number, openRows: readonly LedgerRow[], operationOf: (row: LedgerRow) => string | null): Remembered | null {
    this.#remembered = null
    const all = allSums(log, scope)
    const beyond = log.sqlite?.ledger.attemptCount(scope.queryId, open + 2) ?? 0
    const writer = all.writers.find(({ queryId }) => queryId === scope.queryId)
    if (beyond > 0 || (writer && writer.newestBatchId > open + 1)) return null
    const sums = sumBefore(all, sumsOfRows(openRows, scope, operationOf), scope, open)
    return { scope: JSON.stringify(scope), sums, openBatchId: open, witness: '' }
  }
}

function rowsOfBatches(log: OverlaidLog, queryId: string, from: number, to: number): LedgerRow[] {
  const rows: LedgerRow[] = []
  for (let batchId = from; batchId <= to; batchId++) rows.push(...(log.sqlite?.ledger.attempts(queryId, batchId) ?? []))
  return rows
}

function witnessOf(log: OverlaidLog, queryId: string, openBatchId: number): string {
  return openBatchId === 0 ? '' : JSON.stringify(log.sqlite?.ledger.attempts(queryId, openBatchId - 1) ?? [])
}
