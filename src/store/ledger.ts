/**
 * The ledger: each attempt of a batch, and what it wrote. An attempt is begun when its range is fixed (not synced: losing that
 * row loses a count and nothing else) and filled in by the commit, in the commit's own transaction.
 */
import { type Database, synced } from '../database.js'
import type { Attempt, WriteOutcome } from './attempt.js'

/** What one write of an attempt came to. */
export interface WriteResult {
  readonly attempt: Attempt
  /** From 1, in the order of the writes of the attempt. */
  readonly writeNumber: number
  readonly rows: number
  readonly appId: string | null
  readonly txnVersion: number | null
  readonly outcome: WriteOutcome
  /** Of a skip: rows that the table does not get, when it was not this batch that was written before. */
  readonly leftOutRows: number | null
  /** Of a skip: why, in a sentence. */
  readonly reason: string | null
  readonly nowMs: number
}

interface FilledWrite extends WriteResult {
  readonly tableName: string
  readonly tableId: string
  readonly version: number | null
}

export interface LedgerRow {
  readonly query: string
  readonly queryId: string
  readonly batchId: number
  readonly attempt: number
  readonly writeNumber: number
  readonly rangeStart: string | null
  readonly rangeEnd: string
  readonly idempotent: 0 | 1
  readonly tableName: string | null
  readonly tableId: string | null
  readonly rows: number | null
  readonly appId: string | null
  readonly txnVersion: number | null
  readonly outcome: 'started' | WriteOutcome
  readonly version: number | null
  readonly leftOutRows: number | null
  readonly reason: string | null
  readonly startedMs: number | null
  readonly finishedMs: number | null
}

const ROW_COLUMNS = `query, query_id AS queryId, batch_id AS batchId, attempt, write_number AS writeNumber, range_start AS rangeStart, range_end AS rangeEnd,
  idempotent, table_name AS tableName, table_id AS tableId, rows, app_id AS appId, txn_version AS txnVersion, outcome, version,
  left_out_rows AS leftOutRows, reason, started_ms AS startedMs, finished_ms AS finishedMs`

export class Ledger {
  readonly #database: Database
  readonly #statements: ReturnType<typeof prepareAll>

  constructor(database: Database) {
    this.#database = database
    this.#statements = prepareAll(database)
  }

  /** How many attempts of a batch are known. */
  attemptCount(queryId: string, batchId: number): number {
    return this.#statements.attemptCount.get(queryId, batchId) as number
  }

  /** The attempts of a batch with their writes, oldest first. */
  attempts(queryId: string, batchId: number): LedgerRow[] {
    return this.#statements.attempts.all(queryId, batchId) as LedgerRow[]
  }

  /** The attempts of a batch of that number that a query of this name made under other ids. */
  attemptsUnderOtherIds(query: string, queryId: string, batchId: number): LedgerRow[] {
    return this.#statements.attemptsUnderOtherIds.all(query, batchId, queryId) as LedgerRow[]
  }

  /** Every row of a query by name, over all its lives, oldest batch first. */
  rowsOfQuery(query: string): LedgerRow[] {
    return this.#statements.rowsOfQuery.all(query) as LedgerRow[]
  }

  /** Notes that an attempt has begun. Not synced. */
  begin(attempt: Attempt, nowMs: number): void {
    this.#unsynced(() => this.#statements.begin.run({ ...named(attempt), nowMs }))
  }

  /** Fills in a write that left no version: a skip, or a MERGE that changed nothing. Synced. */
  fillAlone(result: WriteResult, tableName: string, tableId: string): void {
    synced(this.#database, () => this.#database.transaction(() => this.fill({ ...result, tableName, tableId, version: null })).immediate())
  }

  /** Fills in a write, inside the caller's transaction. */
  fill(write: FilledWrite): void {
    this.#statements.fill.run({
      ...named(write.attempt),
      writeNumber: write.writeNumber,
      tableName: write.tableName,
      tableId: write.tableId,
      rows: write.rows,
      appId: write.appId,
      txnVersion: write.txnVersion,
      outcome: write.outcome,
      version: write.version,
      leftOutRows: write.leftOutRows,
      reason: write.reason,
      nowMs: write.nowMs,
    })
  }

  /** In WAL mode a commit under NORMAL appends without a sync; the next synced commit takes it along. */
  #unsynced(write: () => void): void {
    this.#database.pragma('synchronous = NORMAL')
    try {
      // The first write after the log was moved syncs its new beginning.
      synced(this.#database, write)
    } finally {
      this.#database.pragma('synchronous = FULL')
    }
  }
}

function named(attempt: Attempt) {
  return { ...attempt, idempotent: attempt.idempotent ? 1 : 0 }
}

function prepareAll(database: Database) {
  const columns = 'query_id, batch_id, attempt, write_number, query, range_start, range_end, idempotent'
  const values = '@queryId, @batchId, @attempt'
  return {
    attemptCount: database.prepare('SELECT coalesce(max(attempt), 0) FROM ledger WHERE query_id = ? AND batch_id = ?').pluck(),
    attempts: database.prepare(`SELECT ${ROW_COLUMNS} FROM ledger WHERE query_id = ? AND batch_id = ? ORDER BY attempt, write_number`),
    attemptsUnderOtherIds: database.prepare(
      `SELECT ${ROW_COLUMNS} FROM ledger WHERE query = ? AND batch_id = ? AND query_id <> ? ORDER BY attempt, write_number`,
    ),
    rowsOfQuery: database.prepare(`SELECT ${ROW_COLUMNS} FROM ledger WHERE query = ? ORDER BY query_id, batch_id, attempt, write_number`),
    begin: database.prepare(
      `INSERT INTO ledger (${columns}, outcome, started_ms) VALUES (${values}, 1, @query, @rangeStart, @rangeEnd, @idempotent, 'started', @nowMs)
       ON CONFLICT DO NOTHING`,
    ),
    fill: database.prepare(
      `INSERT INTO ledger (${columns}, table_name, table_id, rows, app_id, txn_version, outcome, version, left_out_rows, reason, finished_ms)
       VALUES (${values}, @writeNumber, @query, @rangeStart, @rangeEnd, @idempotent, @tableName, @tableId, @rows, @appId, @txnVersion, @outcome, @version,
         @leftOutRows, @reason, @nowMs)
       ON CONFLICT DO UPDATE SET idempotent = excluded.idempotent, table_name = excluded.table_name, table_id = excluded.table_id, rows = excluded.rows,
         app_id = excluded.app_id, txn_version = excluded.txn_version, outcome = excluded.outcome, version = excluded.version,
         left_out_rows = excluded.left_out_rows, reason = excluded.reason, finished_ms = excluded.finished_ms`,
    ),
  }
}
