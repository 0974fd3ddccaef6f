/**
 * What the ledger says of a query and of what it wrote to its table, with the writes of versions that the SQLite log does not have
 * yet: these say in their commitInfo whose they are.
 */
import { attemptOf } from '../store/adopt.js'
import type { LedgerRow } from '../store/ledger.js'
import type { LossySkip, RepeatedWrite, TableWriter } from '../store/ledger-evidence.js'
import { attemptsOf, harmOf, type SinkTable } from './batch-attempts.js'
import { LedgerMemory } from './ledger-memory.js'
import { allSums, writeOf } from './ledger-sums.js'
import type { OverlaidLog, OverlaidVersion } from './overlaid-log.js'
import type { BatchAttempt, Stumble } from './status.js'

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
  /** The newest batch before that one with something to tell; harmless ones are told for a few batches only. */
  readonly lastStumble: Stumble | null
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

export interface LedgerQuestion {
  /** Of the checkpoint, null for none. */
  readonly queryId: string | null
  /** Its newest batch. */
  readonly batchId: number | null
  /** Null when it is not known which table it writes. */
  readonly sink: SinkTable | null
}

/** The facts of a query by name; `memory` is of earlier looks at the same query. */
export function ledgerFacts(log: OverlaidLog, query: string, { queryId, batchId, sink }: LedgerQuestion, memory = new LedgerMemory()): LedgerFacts {
  const { sqlite } = log
  const tableId = sink?.tableId ?? null
  const operation = (row: LedgerRow) => operationOf(log, row)
  const scope = { query, sink: sink && { name: sink.name, tableId } }
  const sums =
    queryId !== null && batchId !== null && sqlite !== null ? memory.sums(log, { ...scope, queryId }, batchId, operation) : allSums(log, { ...scope, queryId })
  const { counts } = sums
  const isWhole =
    sqlite !== null && queryId !== null && counts.adoptedAttempts === 0 && (counts.oldestBatchId === 0 || (counts.attempts === 0 && batchId === null))
  const overlaid = sink === null || tableId === null ? [] : overlaidWrites(log, sink.name)
  const ofQuery = overlaid.filter((write) => write.query === query)
  const ofBatch = queryId === null || batchId === null ? [] : (sqlite?.ledger.attempts(queryId, batchId) ?? [])
  const overlaidHere = ofQuery.filter((write) => write.queryId === queryId && write.batchId === batchId)
  const batchAttempts = attemptsOf(ofBatch, overlaidHere, sink, operation)
  const newest = batchAttempts.at(-1)
  const writers = tableId === null || sink === null ? [] : memory.writersOf(log, sink.name, tableId)
  return {
    isWhole,
    attempts: counts.attempts,
    replays: counts.attempts - counts.batches,
    skips: counts.skips,
    batchAttempts,
    isLinkedOnly:
      sqlite !== null &&
      newest !== undefined &&
      overlaidHere.some((write) => write.attempt === newest.attempt) &&
      !ofBatch.some((row) => row.attempt === newest.attempt && row.outcome !== 'started'),
    lastStumble: queryId === null || batchId === null ? null : lastStumble(log, queryId, batchId, sink, sums.repeated, operation),
    repeated: tableId === null ? [] : withOverlaid(log, sums.repeated, tableId, ofQuery),
    writers: tableId === null ? [] : writersWith(sums.writers, ofQuery),
    otherQueries: [...new Set([...writers, ...overlaid.map((write) => write.query)])].filter((name) => name !== query),
    lossySkips: sums.lossySkips,
    rowsInDroppedTables: sums.rowsInDroppedTables,
  }
}

/** A batch that did no harm is told of as long as it is one of the newest. */
const NEWS_BATCHES = 5

function lastStumble(
  log: OverlaidLog,
  queryId: string,
  batchId: number,
  sink: SinkTable | null,
  repeated: readonly RepeatedWrite[],
  operation: (row: LedgerRow) => string | null,
): Stumble | null {
  const attemptsAt = (at: number) => attemptsOf(log.sqlite?.ledger.attempts(queryId, at) ?? [], [], sink, operation)
  for (let at = batchId - 1; at >= Math.max(0, batchId - NEWS_BATCHES); at--) {
    const attempts = attemptsAt(at)
    if (attempts.length > 1 || attempts.some(({ outcome }) => outcome === 'already-committed')) return { batchId: at, attempts }
  }
  const harmed = repeated.findLast((write) => write.queryId === queryId && write.batchId < batchId)
  const attempts = harmed ? attemptsAt(harmed.batchId) : []
  return harmed && harmOf(attempts) ? { batchId: harmed.batchId, attempts } : null
}

export interface OverlaidWrite extends RepeatedWrite {
  readonly query: string
  readonly rangeEnd: string
  readonly idempotent: boolean
}

/** Writes of streamtop's in versions that the SQLite log does not have. */
export function overlaidWrites(log: OverlaidLog, table: string): OverlaidWrite[] {
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

/** The repeated writes with those of versions that the log lacks, by write. */
function withOverlaid(log: OverlaidLog, repeated: readonly RepeatedWrite[], tableId: string, overlaid: readonly OverlaidWrite[]): (readonly RepeatedWrite[])[] {
  const byWrite = new Map<string, RepeatedWrite[]>()
  const keyOf = (write: RepeatedWrite) => `${write.queryId} ${write.batchId} ${write.writeNumber}`
  const put = (write: RepeatedWrite) => {
    const list = byWrite.get(keyOf(write))
    if (list) list.push(write)
    else byWrite.set(keyOf(write), [write])
  }
  for (const write of repeated) put(write)
  for (const write of overlaid) {
    // A write that the ledger knows once is repeated by one that it does not know yet.
    if (!byWrite.has(keyOf(write))) {
      for (const row of log.sqlite?.ledger.attempts(write.queryId, write.batchId) ?? []) {
        if (row.outcome === 'committed' && row.writeNumber === write.writeNumber && row.tableId === tableId) put(writeOf(row, (one) => operationOf(log, one)))
      }
    }
    put(write)
  }
  return [...byWrite.values()].filter((writes) => writes.length > 1)
}

function writersWith(known: readonly TableWriter[], overlaid: readonly OverlaidWrite[]): TableWriter[] {
  const writers = new Map(known.map((writer) => [writer.queryId, writer]))
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

/** What a version calls itself; null for a write that left none, or whose table is gone. */
function operationOf(log: OverlaidLog, row: LedgerRow): string | null {
  if (row.version === null || row.tableName === null || log.sqlite?.table(row.tableName)?.tableId !== row.tableId) return null
  if (log.errorOf(row.tableName) !== null) return null
  const operation = log.changes(row.tableName, row.version).commitInfo?.['operation']
  return typeof operation === 'string' ? operation : null
}
