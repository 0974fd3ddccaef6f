/**
 * What the ledger says of a query in sums and exceptions, over all batches or some: two of them can be added, so that a reader who has
 * the sums of the older batches looks at the newest ones only. Pure but for `allSums`, which asks SQLite for all.
 */
import type { LedgerRow } from '../store/ledger.js'
import type { AttemptCounts, LossySkip, RepeatedWrite, TableWriter } from '../store/ledger-evidence.js'
import type { OverlaidLog } from './overlaid-log.js'

export interface LedgerSums {
  readonly counts: AttemptCounts
  /** In the order of their first versions. */
  readonly writers: readonly TableWriter[]
  /** Writes that are there more than once, those of a batch one after the other. */
  readonly repeated: readonly RepeatedWrite[]
  /** By batch. */
  readonly lossySkips: readonly LossySkip[]
  readonly rowsInDroppedTables: number
}

/** Whose sums: a query by name, the id of its checkpoint, the table it writes. */
export interface LedgerScope {
  readonly query: string
  readonly queryId: string
  readonly sink: { readonly name: string; readonly tableId: string | null } | null
}

const NO_COUNTS: AttemptCounts = { attempts: 0, batches: 0, skips: 0, oldestBatchId: null, adoptedAttempts: 0 }
export const NO_SUMS: LedgerSums = { counts: NO_COUNTS, writers: [], repeated: [], lossySkips: [], rowsInDroppedTables: 0 }

/** Of every batch; without a query id of what earlier lives wrote. */
export function allSums(log: OverlaidLog, { query, queryId, sink }: Omit<LedgerScope, 'queryId'> & { readonly queryId: string | null }): LedgerSums {
  const evidence = log.sqlite?.evidence
  if (!evidence) return NO_SUMS
  const tableId = sink?.tableId ?? null
  return {
    counts: queryId === null ? NO_COUNTS : evidence.attemptCounts(queryId),
    writers: tableId === null ? [] : evidence.writersOf(query, tableId),
    repeated: tableId === null ? [] : evidence.repeatedWrites(query, tableId),
    lossySkips: queryId === null || tableId === null ? [] : evidence.lossySkips(queryId, tableId),
    rowsInDroppedTables: queryId === null || sink === null ? 0 : evidence.rowsInDroppedTables(queryId, sink.name, tableId),
  }
}

/** Of the batches whose rows these are, all of one query id, each batch with all its rows. */
export function sumsOfRows(rows: readonly LedgerRow[], { queryId, sink }: LedgerScope, operationOf: (row: LedgerRow) => string | null): LedgerSums {
  const tableId = sink?.tableId ?? null
  const committed = rows.filter((row) => row.outcome === 'committed')
  const inTable = tableId === null ? [] : committed.filter((row) => row.tableId === tableId)
  const dropped = sink === null ? [] : committed.filter((row) => row.tableName === sink.name && row.tableId !== tableId)
  return {
    counts: countsOf(rows),
    writers: inTable.length === 0 ? [] : [writerOf(queryId, inTable)],
    repeated: [...groups(inTable, (row) => `${row.batchId} ${row.writeNumber}`)]
      .filter((writes) => writes.length > 1)
      .flatMap((writes) => writes.map((row) => writeOf(row, operationOf))),
    lossySkips: tableId === null ? [] : lossySkipsOf(rows.filter((row) => row.tableId === tableId)),
    rowsInDroppedTables: total(dropped.map(({ rows: count }) => count ?? 0)),
  }
}

/** Both together; the batches of `newer` are not in `older`. */
export function sumOf(older: LedgerSums, newer: LedgerSums): LedgerSums {
  return {
    counts: {
      attempts: older.counts.attempts + newer.counts.attempts,
      batches: older.counts.batches + newer.counts.batches,
      skips: older.counts.skips + newer.counts.skips,
      oldestBatchId: older.counts.oldestBatchId ?? newer.counts.oldestBatchId,
      adoptedAttempts: older.counts.adoptedAttempts + newer.counts.adoptedAttempts,
    },
    writers: newer.writers.reduce(withWriter, older.writers),
    repeated: newer.repeated.length === 0 ? older.repeated : [...older.repeated, ...newer.repeated],
    lossySkips: newer.lossySkips.length === 0 ? older.lossySkips : [...older.lossySkips, ...newer.lossySkips],
    rowsInDroppedTables: older.rowsInDroppedTables + newer.rowsInDroppedTables,
  }
}

/** All without some: the sums of the older batches, given those of every batch from `batchId` on. */
export function sumBefore(all: LedgerSums, newer: LedgerSums, { queryId }: LedgerScope, batchId: number): LedgerSums {
  const isOlder = (one: { readonly queryId?: string; readonly batchId: number }) => (one.queryId ?? queryId) !== queryId || one.batchId < batchId
  return {
    counts: {
      attempts: all.counts.attempts - newer.counts.attempts,
      batches: all.counts.batches - newer.counts.batches,
      skips: all.counts.skips - newer.counts.skips,
      oldestBatchId: (all.counts.oldestBatchId ?? batchId) < batchId ? all.counts.oldestBatchId : null,
      adoptedAttempts: all.counts.adoptedAttempts - newer.counts.adoptedAttempts,
    },
    writers: all.writers.map((writer) => withoutWrites(writer, newer.writers)).filter(({ writes }) => writes > 0),
    repeated: all.repeated.filter(isOlder),
    lossySkips: all.lossySkips.filter(isOlder),
    rowsInDroppedTables: all.rowsInDroppedTables - newer.rowsInDroppedTables,
  }
}

export function writeOf(row: LedgerRow, operationOf: (row: LedgerRow) => string | null): RepeatedWrite {
  const { queryId, batchId, attempt, writeNumber, appId, version } = row
  return { queryId, batchId, attempt, writeNumber, rows: row.rows ?? 0, appId, version, operation: operationOf(row) }
}

function countsOf(rows: readonly LedgerRow[]): AttemptCounts {
  const attempts = [...groups(rows, (row) => `${row.batchId} ${row.attempt}`)]
  return {
    attempts: attempts.length,
    batches: new Set(rows.map(({ batchId }) => batchId)).size,
    skips: attempts.filter((writes) => writes.some(({ outcome }) => outcome === 'already-committed')).length,
    oldestBatchId: rows.length === 0 ? null : Math.min(...rows.map(({ batchId }) => batchId)),
    adoptedAttempts: attempts.filter((writes) => writes.every(({ startedMs }) => startedMs === null)).length,
  }
}

function writerOf(queryId: string, rows: readonly LedgerRow[]): TableWriter {
  const versions = rows.flatMap(({ version }) => (version === null ? [] : [version]))
  const newest = rows.reduce((one, other) => (other.batchId >= one.batchId ? other : one))
  return {
    queryId,
    writes: rows.length,
    plainWrites: rows.filter(({ idempotent }) => idempotent === 0).length,
    rows: total(rows.map((row) => row.rows ?? 0)),
    firstVersion: versions.length === 0 ? null : Math.min(...versions),
    newestBatchId: newest.batchId,
    rangeEnd: newest.rangeEnd,
  }
}

function withWriter(writers: readonly TableWriter[], newer: TableWriter): readonly TableWriter[] {
  const before = writers.find(({ queryId }) => queryId === newer.queryId)
  if (before === undefined) return [...writers, newer]
  const both = {
    ...newer,
    writes: before.writes + newer.writes,
    plainWrites: before.plainWrites + newer.plainWrites,
    rows: before.rows + newer.rows,
    firstVersion: before.firstVersion ?? newer.firstVersion,
  }
  return writers.map((writer) => (writer === before ? both : writer))
}

function withoutWrites(writer: TableWriter, newer: readonly TableWriter[]): TableWriter {
  const gone = newer.find(({ queryId }) => queryId === writer.queryId)
  if (gone === undefined) return writer
  return { ...writer, writes: writer.writes - gone.writes, plainWrites: writer.plainWrites - gone.plainWrites, rows: writer.rows - gone.rows }
}

function lossySkipsOf(rows: readonly LedgerRow[]): LossySkip[] {
  const lossy = rows.filter((row) => row.outcome === 'already-committed' && (row.leftOutRows ?? 0) > 0)
  return [...groups(lossy, ({ batchId }) => String(batchId))].map((skips) => {
    const most = skips.reduce((one, other) => ((other.leftOutRows ?? 0) > (one.leftOutRows ?? 0) ? other : one))
    return { batchId: most.batchId, rows: most.leftOutRows ?? 0, appId: most.appId, txnVersion: most.txnVersion, reason: most.reason }
  })
}

function groups(rows: readonly LedgerRow[], keyOf: (row: LedgerRow) => string): Iterable<LedgerRow[]> {
  const byKey = new Map<string, LedgerRow[]>()
  for (const row of rows) {
    const group = byKey.get(keyOf(row))
    if (group) group.push(row)
    else byKey.set(keyOf(row), [row])
  }
  return byKey.values()
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
