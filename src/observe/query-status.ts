/** A query as the status shows it, made of what was looked up and of its table's counts. */
import { lostOffsetsOf } from '../engine/progress.js'
import { StreamtopError } from '../errors.js'
import { BUILT_IN_QUERIES } from '../queries/built-in.js'
import type { LossySkip } from '../store/ledger-evidence.js'
import { shownOffset } from './checkpoint-facts.js'
import type { FileRows } from './file-rows.js'
import type { QueryFacts } from './query-facts.js'
import type { Comparison, SinkComparison } from './sink-comparison.js'
import type { KnownStep, QueryState, QueryStatus, StatusError, TableStatus } from './status.js'
import { parseStatusError, statusErrorOf } from './status-error.js'
import { judge } from './verdict.js'

const NEWEST_IDS = 5
/** A batch that runs is no news before this. */
const HEALTHY_BATCH_MS = 1_000

export async function queryStatus(
  facts: QueryFacts,
  tables: readonly TableStatus[],
  sinkComparison: SinkComparison,
  fileRows: FileRows,
  nowMs: number,
): Promise<QueryStatus> {
  const { name, definition, checkpoint, holder, run, ledger, sink } = facts
  const { summary } = checkpoint
  const comparison = await compare(facts, sinkComparison, fileRows)
  const counts = countsOf(facts, tables)
  const rejected = rejectedCount(facts, tables)
  const verdict =
    definition === null
      ? { verdict: null, alsoDuplicated: false, writtenTwice: null, reasons: [] }
      : judge({
          query: name,
          table: definition.table,
          rejected: rejected && definition.rejectedTable ? { topic: definition.source.name, rows: rejected, table: definition.rejectedTable } : null,
          holds: definition.holds,
          rows: counts.rows,
          queryId: summary.id,
          comparison,
          ledger,
        })
  const isRun = ledger.batchAttempts.at(-1)
  const idempotent = isRun?.idempotent ?? run?.idempotent ?? definition?.idempotent ?? null
  return {
    name,
    id: summary.id,
    runId: run?.runId ?? null,
    state: stateOf(facts),
    pid: holder?.pid ?? null,
    source: facts.sourceName,
    sink: facts.sinkName === null ? null : { kind: 'table', name: facts.sinkName },
    mode: modeOf(facts, idempotent),
    idempotent,
    appId: definition?.sink.kind === 'foreach-batch' ? (run?.appId ?? definition.appId) : facts.sinkName === null ? null : summary.id,
    batchId: checkpoint.batchId,
    step: stepOf(facts, comparison),
    offsets: newest(summary.offsets),
    commits: newest(summary.commits),
    startOffset: startOffsetOf(facts),
    endOffset: checkpoint.loggedEnd === 'unknown' ? null : sourcesOf(summary.sources),
    sourceLines: summary.sourceLines,
    lag: facts.lag,
    lostOffsets: lostOf(facts),
    attempts: ledger.isWhole ? ledger.attempts : null,
    replays: ledger.isWhole ? ledger.replays : null,
    skips: ledger.isWhole ? ledger.skips : null,
    ...counts,
    rejected,
    rejectedTable: definition?.rejectedTable ?? null,
    missing: comparison.missing,
    ...verdict,
    inFlight: isInFlight(facts, nowMs),
    batchAttempts: ledger.batchAttempts,
    newestTxn: facts.newestTxn && { appId: facts.newestTxn.appId, version: facts.newestTxn.version, queryId: facts.newestTxn.queryId },
    newestOperation: facts.newestOperation,
    mergesWhenIdempotent: definition?.sink.kind === 'foreach-batch' && typeof definition.holds === 'object',
    honoursIdempotence: definition !== null && (definition.sink.kind === 'append' || BUILT_IN_QUERIES.includes(definition)),
    earlierLives: ledger.writers.filter(({ queryId }) => queryId !== summary.id).length,
    leftOut: leftOutOf(ledger.lossySkips),
    lastStumble: ledger.lastStumble,
    orphans: facts.orphans,
    lastError: lastErrorOf(facts, sink),
    lastProgress: progressOf(run?.progress ?? null),
  }
}

async function compare({ definition, source, sink, rejected }: QueryFacts, comparison: SinkComparison, fileRows: FileRows): Promise<Comparison> {
  if (definition === null || source === null) return { missing: null, writtenTwice: null, uncommitted: null, because: 'the query is not known' }
  return comparison.compare({ holds: definition.holds, isFiltered: definition.source.filters.length > 0, source, sink, rejected }, fileRows)
}

/** Whether a batch is logged and not committed, and that is news: nobody runs it, or it takes long. */
export function isInFlight({ checkpoint, holder }: QueryFacts, nowMs: number): boolean {
  return checkpoint.isPending && (holder === null || nowMs - (checkpoint.summary.timestampMs ?? 0) > HEALTHY_BATCH_MS)
}

function leftOutOf(skips: readonly LossySkip[]): NonNullable<QueryStatus['leftOut']> | null {
  const [first, last] = [skips[0], skips.at(-1)]
  if (first === undefined || last === undefined) return null
  return { firstBatchId: first.batchId, lastBatchId: last.batchId, rows: skips.reduce((sum, { rows }) => sum + rows, 0) }
}

/** Of the sink's table; a table that is not there has no rows. */
function countsOf({ sinkName, sink }: QueryFacts, tables: readonly TableStatus[]): Pick<QueryStatus, 'rows' | 'distinct' | 'duplicates'> {
  if (sinkName === null) return { rows: null, distinct: null, duplicates: null }
  const table = tables.find(({ name }) => name === sinkName)
  if (table === undefined && sink === null) return { rows: 0, distinct: 0, duplicates: 0 }
  return { rows: table?.rows ?? null, distinct: table?.distinct ?? null, duplicates: table?.duplicates ?? null }
}

/** Rows of the table of rejected records; one that is not there has none. */
function rejectedCount({ definition, rejected }: QueryFacts, tables: readonly TableStatus[]): number | null {
  if (definition === null) return null
  if (rejected === null) return 0
  return tables.find(({ name }) => name === definition.rejectedTable)?.rows ?? null
}

function stateOf({ checkpoint, holder, run, lag }: QueryFacts): QueryState {
  if (holder !== null) return run?.state === 'waiting' || run?.state === 'paused' ? run.state : 'running'
  if (run?.state === 'failed') return 'failed'
  if (run?.state === 'running' || run?.state === 'waiting' || run?.state === 'paused') return 'killed'
  if (checkpoint.isPending) return run === null ? 'killed' : 'stopped'
  return checkpoint.summary.offsets.length > 0 && (lag ?? 0) > 0 ? 'stopped' : 'idle'
}

/** Steps inside of a write leave nothing that says whose it is before a version is linked. */
function stepOf({ checkpoint, ledger, newestTxn, sinkName }: QueryFacts, comparison: Comparison): KnownStep | null {
  if (checkpoint.batchId === null) return null
  if (!checkpoint.isPending) return 'batch-committed'
  const newest = ledger.batchAttempts.at(-1)
  if (ledger.isLinkedOnly) return 'version-linked'
  if (newest) return newest.outcome === 'started' ? 'offsets-logged' : 'table-committed'
  // Without a record the table tells, unless it was another life of the query that wrote what is there.
  const hadOthers = ledger.writers.some(({ queryId }) => queryId !== checkpoint.summary.id)
  const isOwnTxn = newestTxn?.version === checkpoint.batchId && (newestTxn.queryId === null || newestTxn.queryId === checkpoint.summary.id)
  if (isOwnTxn || (!hadOthers && (comparison.uncommitted ?? 0) > 0)) return 'table-committed'
  // What is still being counted is no proof that nothing was written.
  return sinkName === null || comparison.isCounting === true ? null : 'offsets-logged'
}

function modeOf({ definition, sinkName }: QueryFacts, idempotent: boolean | null): QueryStatus['mode'] {
  if (definition === null) return sinkName === null ? null : 'append'
  if (definition.sink.kind === 'append') return 'append'
  return typeof definition.holds === 'object' && idempotent === true ? 'MERGE' : 'foreachBatch'
}

function startOffsetOf({ checkpoint, definition }: QueryFacts): unknown {
  const { batchId } = checkpoint
  const { sourcesBefore } = checkpoint.summary
  if (checkpoint.loggedEnd === 'unknown') return null
  if (batchId === 0 && checkpoint.initialOffsets !== null && definition !== null) {
    return { [definition.source.name]: Object.fromEntries([...checkpoint.initialOffsets].map(([partition, offset]) => [partition, String(offset)])) }
  }
  return sourcesOf(sourcesBefore)
}

/** One source's offset as it is, those of several as a list. */
function sourcesOf(lines: ReadonlyArray<string | null>): unknown {
  return lines.length > 1 ? lines.map(shownOffset) : shownOffset(lines[0])
}

function lastErrorOf({ run, checkpoint }: QueryFacts, sink: QueryFacts['sink']): StatusError | null {
  const ofRun = run?.state === 'failed' || run?.state === 'waiting' ? parseStatusError(run.error) : null
  if (ofRun) return ofRun
  if (checkpoint.summary.damage) return statusErrorOf(checkpoint.summary.damage)
  return sink instanceof StreamtopError ? statusErrorOf(sink) : null
}

/** A run goes on counting where the one before it stopped; one that is not known may have lost anything. */
function lostOf({ run, checkpoint, sourceName }: QueryFacts): number | null {
  if (sourceName?.kind !== 'topic') return null
  const progress = run?.progress ?? null
  return progress === null ? (checkpoint.summary.offsets.length === 0 ? 0 : null) : lostOffsetsOf(progress)
}

function progressOf(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function newest(ids: readonly number[]): number[] {
  return ids.slice(-NEWEST_IDS).reverse()
}
