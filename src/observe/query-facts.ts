/** Everything that is looked up of a query, before any row is counted. */
import type { QueryDefinition } from '../engine/definition.js'
import type { LockHolder } from '../engine/lock.js'
import { parseTopicOffsets, readTopics } from '../engine/topic-offset.js'
import { StreamtopError } from '../errors.js'
import type { Txn } from '../store/actions.js'
import { attemptOf } from '../store/adopt.js'
import type { OffsetRange } from '../store/offset-ranges.js'
import type { Run } from '../store/runs.js'
import type { PartitionOffsets } from '../topic/topic.js'
import type { CheckpointFacts } from './checkpoint-facts.js'
import { type LedgerFacts, ledgerFacts } from './ledger-facts.js'
import { LedgerMemory } from './ledger-memory.js'
import type { OverlaidLog } from './overlaid-log.js'
import type { TopicSourceFacts } from './sink-comparison.js'
import { type TableSourceFacts, TableSourceMemory } from './source-facts.js'
import type { TopicStatus } from './status.js'
import type { TableFacts } from './table-status.js'
import type { TableView } from './table-view.js'

export interface QueryFacts {
  readonly name: string
  /** Null for a checkpoint whose query is not known. */
  readonly definition: QueryDefinition | null
  readonly checkpoint: CheckpointFacts
  readonly holder: LockHolder | null
  /** Of the life that the checkpoint belongs to; null when the newest run was of another, or is not known. */
  readonly run: Run | null
  readonly ledger: LedgerFacts
  readonly source: TableSourceFacts | TopicSourceFacts | null
  /** What the source is, as far as the offsets of an unknown query tell. */
  readonly sourceName: { readonly kind: 'topic' | 'table'; readonly name: string } | null
  /** The table that it writes; of an unknown query the one that has a txn of its id. */
  readonly sinkName: string | null
  /** Null when the table is not there, or is not known. */
  readonly sink: TableView | StreamtopError | null
  /** The table of the records that it rejects; null when it is not there. */
  readonly rejected: TableView | StreamtopError | null
  /** The table's newest txn of this query's app id, and the query id that wrote it where its version says so. */
  readonly newestTxn: (Txn & { readonly queryId: string | null }) | null
  /** What the table's newest version calls itself. */
  readonly newestOperation: string | null
  /** Of the sink's table. */
  readonly orphans: number | null
  readonly lag: number | null
}

export interface FoundQuery {
  readonly name: string
  readonly definition: QueryDefinition | null
  readonly checkpoint: CheckpointFacts
  readonly holder: LockHolder | null
  readonly run: Run | null
  readonly tables: readonly TableFacts[]
  readonly topics: readonly TopicStatus[]
}

/** What is remembered of a query from look to look. */
export class QueryMemory {
  readonly ledger = new LedgerMemory()
  readonly source = new TableSourceMemory()
}

/** Never throws: what cannot be read is null or an error. */
export function queryFacts(log: OverlaidLog, found: FoundQuery, memory = new QueryMemory()): QueryFacts {
  const { name, definition, checkpoint, holder, tables, topics } = found
  const { batchId } = checkpoint
  const queryId = checkpoint.summary.id
  const run = found.run !== null && (found.run.queryId === null || found.run.queryId === queryId) ? found.run : null
  const sinkName = definition?.table ?? guessSink(queryId, tables)
  const viewOf = (table: string | null) => tables.find(({ name: other }) => other === table)?.view ?? null
  const sink = viewOf(sinkName)
  const snapshot = sink === null || sink instanceof StreamtopError ? null : sink.snapshot
  const sinkTable = sinkName === null ? null : { name: sinkName, tableId: snapshot?.tableId ?? null, isAbsent: sink === null }
  const ledger = ledgerFacts(log, name, { queryId, batchId, sink: sinkTable }, memory.ledger)
  const written = ledger.writers.map((writer) => writer.rangeEnd)
  let source: QueryFacts['source'] = null
  let lag: number | null = null
  if (definition?.source.kind === 'table') {
    source = memory.source.facts(log, definition.source.name, checkpoint, written)
    lag = source.lagRows
  } else if (definition) {
    source = { kind: 'topic', name: definition.source.name, committed: committedRecords(definition.source.name, checkpoint) }
    lag = topicLag(definition.source.name, checkpoint, topics)
  }
  const appIds = definition?.sink.kind === 'foreach-batch' ? [run?.appId, definition.appId] : [queryId]
  const txn = appIds.map((appId) => snapshot?.txns.get(appId ?? '')).find((one) => one !== undefined) ?? null
  return {
    name,
    definition,
    checkpoint,
    holder,
    run,
    ledger,
    source,
    sourceName: definition ? { kind: definition.source.kind, name: definition.source.name } : guessSource(checkpoint, tables),
    sinkName,
    sink,
    rejected: viewOf(definition?.rejectedTable ?? null),
    newestTxn: txn && { ...txn, queryId: sinkName === null ? null : writerOfTxn(log, sinkName, txn.appId) },
    orphans: tables.find((table) => table.name === sinkName)?.orphans ?? null,
    newestOperation: snapshot === null || sinkName === null ? null : (log.history(sinkName, 1)[0]?.operation ?? null),
    lag,
  }
}

/** The records that the checkpoint has as committed; null when it does not say where it began or ended. */
function committedRecords(topic: string, checkpoint: CheckpointFacts): OffsetRange[] | null {
  const { committedEnd, initialOffsets, path } = checkpoint
  if (committedEnd === null) return []
  if (committedEnd === 'unknown') return null
  const end = offsetsOf(committedEnd, topic, path)
  if (end === null) return null
  // Without a record of where it began the earliest offset is meant: partitions that came later begin there too.
  return [...end].map(([partition, offset]) => ({ partition, start: initialOffsets?.get(partition) ?? 0n, end: offset }))
}

function topicLag(topic: string, checkpoint: CheckpointFacts, topics: readonly TopicStatus[]): number | null {
  const known = topics.find((one) => one.name === topic)
  if (known === undefined) return checkpoint.summary.offsets.length === 0 ? 0 : null
  const { committedEnd, initialOffsets, path } = checkpoint
  if (committedEnd === 'unknown') return null
  const committed = committedEnd === null ? initialOffsets : offsetsOf(committedEnd, topic, path)
  if (committedEnd !== null && committed === null) return null
  let lag = 0n
  for (const [partition, end] of Object.entries(known.endOffsets)) {
    const behind = BigInt(end) - (committed?.get(Number(partition)) ?? initialOffsets?.get(Number(partition)) ?? 0n)
    if (behind > 0n) lag += behind
  }
  return Number(lag)
}

function offsetsOf(line: string, topic: string, path: string): PartitionOffsets | null {
  try {
    return parseTopicOffsets(line, topic, path)
  } catch {
    return null
  }
}

function writerOfTxn(log: OverlaidLog, table: string, appId: string): string | null {
  const version = log.versionOfNewestTxn(table, appId)
  return version === null ? null : (attemptOf(log.changes(table, version))?.attempt.queryId ?? null)
}

/** Delta's own sink has the query's id as its app id. */
function guessSink(queryId: string | null, tables: readonly TableFacts[]): string | null {
  if (queryId === null) return null
  return tables.find(({ view }) => !(view instanceof StreamtopError) && view.snapshot.txns.has(queryId))?.name ?? null
}

function guessSource(checkpoint: CheckpointFacts, tables: readonly TableFacts[]): QueryFacts['sourceName'] {
  const line = checkpoint.summary.sources[0] ?? null
  if (line === null || checkpoint.summary.sources.length !== 1) return null
  const topic = [...(readTopics(line)?.keys() ?? [])][0]
  if (topic !== undefined) return { kind: 'topic', name: topic }
  const tableId = /"reservoirId":"([^"]*)"/.exec(line)?.[1]
  const table = tables.find(({ id }) => id !== null && id === tableId)
  return table ? { kind: 'table', name: table.name } : null
}
