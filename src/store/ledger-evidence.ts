/**
 * What the ledger says of a query as a whole: sums and exceptions, counted by SQLite, so that a reader does not take every
 * batch's rows into memory.
 */
import type { Database } from '../database.js'

/** The work of one query id. */
export interface AttemptCounts {
  readonly attempts: number
  readonly batches: number
  /** Attempts of which a write was skipped because its table had it. */
  readonly skips: number
  /** The oldest batch that is known; null when none is. */
  readonly oldestBatchId: number | null
  /** Attempts that are known from a version's commitInfo only: how many there were beside them is not known. */
  readonly adoptedAttempts: number
}

/** What one life of a query, from a checkpoint's making to its removal, has written to a table. */
export interface TableWriter {
  readonly queryId: string
  readonly writes: number
  /** Of them, those made with idempotence off. */
  readonly plainWrites: number
  readonly rows: number
  readonly firstVersion: number | null
  readonly newestBatchId: number
  /** Where its newest batch in that table ended. */
  readonly rangeEnd: string
}

/** A write of a batch that is in a table more than once, or that followed another. */
export interface RepeatedWrite {
  readonly queryId: string
  readonly batchId: number
  readonly attempt: number
  readonly writeNumber: number
  readonly rows: number
  readonly appId: string | null
  readonly version: number | null
  /** What the version calls it, null when it is not in the log. */
  readonly operation: string | null
}

/** A write that was skipped although the table does not have its rows from this query. */
export interface LossySkip {
  readonly batchId: number
  readonly rows: number
  readonly appId: string | null
  readonly txnVersion: number | null
  readonly reason: string | null
}

export class LedgerEvidence {
  readonly #statements: ReturnType<typeof prepareAll>

  constructor(database: Database) {
    this.#statements = prepareAll(database)
  }

  attemptCounts(queryId: string): AttemptCounts {
    return this.#statements.attemptCounts.get({ queryId }) as AttemptCounts
  }

  /** The lives of a query that wrote to a table, in the order of their first versions. */
  writersOf(query: string, tableId: string): TableWriter[] {
    return this.#statements.writersOf.all(query, tableId) as TableWriter[]
  }

  /** Names of queries that wrote to a table. */
  queriesOf(tableId: string): string[] {
    return this.#statements.queriesOf.all(tableId) as string[]
  }

  /** Writes of a query that were committed to a table in more than one attempt, all of them in the order of their versions. */
  repeatedWrites(query: string, tableId: string): RepeatedWrite[] {
    return this.#statements.repeatedWrites.all({ query, tableId }) as RepeatedWrite[]
  }

  /** Rows that a query id wrote to tables of this name that are not there any more. */
  rowsInDroppedTables(queryId: string, tableName: string, tableId: string | null): number {
    return this.#statements.rowsInDroppedTables.get(queryId, tableName, tableId) as number
  }

  /** Skips of a query id that left rows out of a table, by batch. */
  lossySkips(queryId: string, tableId: string): LossySkip[] {
    return this.#statements.lossySkips.all(queryId, tableId) as LossySkip[]
  }
}

function prepareAll(database: Database) {
  return {
    attemptCounts: database.prepare(
      `SELECT count(*) AS attempts, count(DISTINCT batch_id) AS batches, coalesce(sum(skips), 0) AS skips, min(batch_id) AS oldestBatchId,
         coalesce(sum(started_ms IS NULL), 0) AS adoptedAttempts
       FROM (SELECT batch_id, attempt, max(outcome = 'already-committed') AS skips, max(started_ms) AS started_ms
             FROM ledger WHERE query_id = @queryId GROUP BY batch_id, attempt)`,
    ),
    writersOf: database.prepare(
      `SELECT query_id AS queryId, count(*) AS writes, sum(idempotent = 0) AS plainWrites, sum(rows) AS rows, min(version) AS firstVersion, max(batch_id) AS newestBatchId,
         (SELECT newest.range_end FROM ledger AS newest WHERE newest.query_id = ledger.query_id AND newest.table_id = ledger.table_id
            AND newest.outcome = 'committed' ORDER BY newest.batch_id DESC LIMIT 1) AS rangeEnd
       FROM ledger WHERE query = ? AND table_id = ? AND outcome = 'committed' GROUP BY query_id ORDER BY min(version)`,
    ),
    queriesOf: database.prepare("SELECT DISTINCT query FROM ledger WHERE table_id = ? AND outcome = 'committed' ORDER BY query").pluck(),
    repeatedWrites: database.prepare(
      `WITH repeated AS (
         SELECT query_id, batch_id, write_number FROM ledger
         WHERE query = @query AND table_id = @tableId AND outcome = 'committed' GROUP BY query_id, batch_id, write_number HAVING count(*) > 1)
       SELECT query_id AS queryId, batch_id AS batchId, attempt, write_number AS writeNumber, rows, app_id AS appId, version,
         (SELECT operation FROM versions JOIN tables USING (table_key)
          WHERE tables.table_id = @tableId AND tables.state = 'live' AND versions.version = ledger.version) AS operation
       FROM ledger JOIN repeated USING (query_id, batch_id, write_number)
       WHERE table_id = @tableId AND outcome = 'committed' ORDER BY version`,
    ),
    rowsInDroppedTables: database
      .prepare("SELECT coalesce(sum(rows), 0) FROM ledger WHERE query_id = ? AND table_name = ? AND table_id IS NOT ? AND outcome = 'committed'")
      .pluck(),
    lossySkips: database.prepare(
      `SELECT batch_id AS batchId, max(left_out_rows) AS rows, app_id AS appId, txn_version AS txnVersion, reason
       FROM ledger WHERE query_id = ? AND table_id = ? AND outcome = 'already-committed' AND left_out_rows > 0 GROUP BY batch_id ORDER BY batch_id`,
    ),
  }
}
