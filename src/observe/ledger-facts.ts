/**
 * What the ledger says of a query and of what it wrote to its table, with the writes of versions that the SQLite log does not have
 * yet: these say in their commitInfo whose they are.
 */
import { attemptOf } from '../store/adopt.js'
import type { LedgerRow } from '../store/ledger.js'
import type { LossySkip, RepeatedWrite, TableWriter } from '../store/ledger-evidence.js'
import type { OverlaidLog, OverlaidVersion } from './overlaid-log.js'
import type { BatchAttempt } from './status.js'

export interface LedgerFacts {
  /** Whether every attempt of this query id is known. */
  readonly isWhole: boolean
  readonly attempts: number
  readonly replays: number
  readonly skips: number
  /** Of the newest batch, oldest first. */
  readonly batchAttempts: readonly BatchAttempt[]
  /** Of its newest attempt: whether its write is on disk and not in the SQLite log. */
  readonly isLinkedOnly: boolean
  /** Writes that a range had more often than once, by write: each list in the order of the versions. */
  readonly repeated: ReadonlyArray<readonly RepeatedWrite[]>
  /** Lives of the query that wrote to the table, in the order of their first versions. */
  readonly writers: readonly TableWriter[]
  /** Other queries that wrote to it. */
  readonly otherQueries: readonly string[]
  readonly lossySkips: readonly LossySkip[]
  /** Rows that this query id wrote to a table of the sink's name that was dropped since. */
  readonly rowsInDroppedTables: number
}

/**
 * The facts of a query by name.
 * @param queryId of its checkpoint, null for none
 * @param batchId its newest batch
 * @param sink the table it writes, null when it cannot be read or is not there
 */
export function ledgerFacts(
  log: OverlaidLog,
  query: string,
  {
    queryId,
    batchId,
    sink,
  }: { readonly queryId: string | null; readonly batchId: number | null; readonly sink: { readonly name: string; readonly tableId: string | null } | null },
): LedgerFacts {
  const { sqlite } = log
  const counts = sqlite !== null && queryId !== null ? sqlite.evidence.attemptCounts(queryId) : null
  const isWhole = counts !== null && counts.adoptedAttempts === 0 && (counts.oldestBatchId === 0 || (counts.attempts === 0 && batchId === null))
  const tableId = sink?.tableId ?? null
  const overlaid = sink === null || tableId === null ? [] : overlaidWrites(log, sink.name)
  const ofQuery = overlaid.filter((write) => write.query === query)
  const ofBatch = queryId === null || batchId === null ? [] : (sqlite?.ledger.attempts(queryId, batchId) ?? [])
  const batchAttempts = attemptsOf(
    log,
    ofBatch,
    ofQuery.filter((write) => write.queryId === queryId && write.batchId === batchId),
    sink?.name ?? null,
  )
  const newest = batchAttempts.at(-1)
  return {
    isWhole,
    attempts: counts?.attempts ?? 0,
    replays: counts ? counts.attempts - counts.batches : 0,
    skips: counts?.skips ?? 0,
    batchAttempts,
    isLinkedOnly:
      sqlite !== null &&
      newest !== undefined &&
      ofQuery.some((write) => write.queryId === queryId && write.batchId === batchId && write.attempt === newest.attempt) &&
      !ofBatch.some((row) => row.attempt === newest.attempt && row.outcome !== 'started'),
    repeated: tableId === null ? [] : repeatedWrites(log, query, tableId, ofQuery),
    writers: tableId === null ? [] : writersOf(log, query, tableId, ofQuery),
    otherQueries:
      tableId === null
        ? []
        : [...new Set([...(sqlite?.evidence.queriesOf(tableId) ?? []), ...overlaid.map((write) => write.query)])].filter((name) => name !== query),
    lossySkips: sqlite !== null && queryId !== null && tableId !== null ? sqlite.evidence.lossySkips(queryId, tableId) : [],
    rowsInDroppedTables: sqlite !== null && queryId !== null && sink !== null ? sqlite.evidence.rowsInDroppedTables(queryId, sink.name, tableId) : 0,
  }
}

interface OverlaidWrite extends RepeatedWrite {
  readonly query: string
  readonly rangeEnd: string
  readonly idempotent: boolean
}

function overlaidWrites(log: OverlaidLog, table: string): OverlaidWrite[] {
  return log.overlaid(table).flatMap(({ version, actions }: OverlaidVersion): OverlaidWrite[] => {
    const by = attemptOf(actions)
    if (by === null) return []
    const { operation, operationMetrics } = actions.commitInfo ?? {}
    const metrics = typeof operationMetrics === 'object' && operationMetrics !== null ? (operationMetrics as Record<string, unknown>) : {}
    return [
      {
        ...by.attempt,
        writeNumber: by.writeNumber,
        rows: Number(metrics['numSourceRows'] ?? metrics['numOutputRows'] ?? 0),
        appId: actions.txns[0]?.appId ?? null,
        version,
        operation: typeof operation === 'string' ? operation : null,
      },
    ]
  })
}

function repeatedWrites(log: OverlaidLog, query: string, tableId: string, overlaid: readonly OverlaidWrite[]): (readonly RepeatedWrite[])[] {
  const byWrite = new Map<string, RepeatedWrite[]>()
  const keyOf = (write: RepeatedWrite) => `${write.queryId} ${write.batchId} ${write.writeNumber}`
  const put = (write: RepeatedWrite) => {
    const list = byWrite.get(keyOf(write))
    if (list) list.push(write)
    else byWrite.set(keyOf(write), [write])
  }
  for (const write of log.sqlite?.evidence.repeatedWrites(query, tableId) ?? []) put(write)
  for (const write of overlaid) {
    // A write that the ledger knows once is repeated by one that it does not know yet.
    if (!byWrite.has(keyOf(write))) {
      for (const row of log.sqlite?.ledger.attempts(write.queryId, write.batchId) ?? []) {
        if (row.outcome === 'committed' && row.writeNumber === write.writeNumber && row.tableId === tableId) put(fromLedger(log, row))
      }
    }
    put(write)
  }
  return [...byWrite.values()].filter((writes) => writes.length > 1)
}

function writersOf(log: OverlaidLog, query: string, tableId: string, overlaid: readonly OverlaidWrite[]): TableWriter[] {
  const writers = new Map((log.sqlite?.evidence.writersOf(query, tableId) ?? []).map((writer) => [writer.queryId, writer]))
  for (const write of overlaid) {
    const before = writers.get(write.queryId)
    const isNewest = before === undefined || write.batchId >= before.newestBatchId
    writers.set(write.queryId, {
      queryId: write.queryId,
      writes: (before?.writes ?? 0) + 1,
      plainWrites: (before?.plainWrites ?? 0) + (write.idempotent ? 0 : 1),
      rows: (before?.rows ?? 0) + write.rows,
      firstVersion: before?.firstVersion ?? write.version,
      newestBatchId: isNewest ? write.batchId : before.newestBatchId,
      rangeEnd: isNewest ? write.rangeEnd : before.rangeEnd,
    })
  }
  return [...writers.values()]
}

/** One entry an attempt: of several writes the one to the query's own table, else the last. */
function attemptsOf(log: OverlaidLog, rows: readonly LedgerRow[], overlaid: readonly OverlaidWrite[], sink: string | null): BatchAttempt[] {
  const byAttempt = new Map<number, BatchAttempt & { readonly isOfSink: boolean }>()
  for (const row of rows) {
    const before = byAttempt.get(row.attempt)
    if (before?.isOfSink && row.tableName !== sink) continue
    byAttempt.set(row.attempt, {
      attempt: row.attempt,
      idempotent: row.idempotent === 1,
      outcome: row.outcome,
      operation: operationOf(log, row),
      rows: row.rows,
      leftOutRows: row.leftOutRows,
      appId: row.appId,
      txnVersion: row.txnVersion,
      isOfSink: row.tableName === sink,
    })
  }
  for (const write of overlaid) {
    const { attempt, idempotent, operation, appId } = write
    const txnVersion = appId === null ? null : write.batchId
    byAttempt.set(attempt, { attempt, idempotent, outcome: 'committed', operation, rows: write.rows, leftOutRows: null, appId, txnVersion, isOfSink: true })
  }
  return [...byAttempt.values()].sort((a, b) => a.attempt - b.attempt).map(({ isOfSink: _, ...attempt }) => attempt)
}

function fromLedger(log: OverlaidLog, row: LedgerRow): RepeatedWrite {
  const { queryId, batchId, attempt, writeNumber, appId, version } = row
  return { queryId, batchId, attempt, writeNumber, rows: row.rows ?? 0, appId, version, operation: operationOf(log, row) }
}

/** What a version calls itself; null for a write that left none, or whose table is gone. */
function operationOf(log: OverlaidLog, row: LedgerRow): string | null {
  if (row.version === null || row.tableName === null || log.sqlite?.table(row.tableName)?.tableId !== row.tableId) return null
  if (log.errorOf(row.tableName) !== null) return null
  const operation = log.changes(row.tableName, row.version).commitInfo?.['operation']
  return typeof operation === 'string' ? operation : null
}
