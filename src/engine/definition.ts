/**
 * What a query is, as data: a source, a sink, and how people speak of it. The three queries that come with streamtop and a
 * user's own are written with the same functions.
 */
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import type { Columns } from '../store/columns.js'
import type { Schema } from '../store/schema.js'
import type { Row } from '../store/values.js'
import type { RecordBatch } from '../topic/topic.js'
import type { Batch } from './batch.js'

/**
 * Turns a topic's records into rows, and never throws for one. A record that is no row is rejected: the native sink puts it into a
 * table of its own in the same commit; a foreachBatch, which has none, stops.
 */
export interface RecordParser {
  readonly schema: Schema
  parse(records: readonly RecordBatch[], topic: string): ParsedRecords
}

export interface ParsedRecords {
  readonly columns: Columns
  readonly rejected: readonly RejectedRecord[]
}

export interface RejectedRecord {
  readonly partition: number
  readonly offset: bigint
  readonly timestampMs: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly reason: string
}

export type RowFilter = (row: Row) => boolean

interface Filterable<Spec> {
  /** Rows for which it is false do not reach the sink. Several filters hold together. */
  where(filter: RowFilter): Spec
}

export interface TopicSpec extends Filterable<TopicSpec> {
  readonly kind: 'topic'
  readonly name: string
  readonly parser: RecordParser | null
  readonly filters: readonly RowFilter[]
  /** Rows are what the parser makes of the records instead of the records themselves. */
  parse(parser: RecordParser): TopicSpec
}

export interface TableSpec extends Filterable<TableSpec> {
  readonly kind: 'table'
  readonly name: string
  readonly filters: readonly RowFilter[]
}

export type SourceSpec = TopicSpec | TableSpec

/** The native sink: appends each batch to a table, and knows a batch by the query's id. */
export interface AppendSpec {
  readonly kind: 'append'
  readonly table: string
}

/** The user's own function, called with each batch. What it does outside of the tables happens at least once. */
export interface ForeachBatchSpec {
  readonly kind: 'foreach-batch'
  readonly run: (batch: Batch) => void | Promise<void>
}

export type SinkSpec = AppendSpec | ForeachBatchSpec

export interface QueryOptions {
  /** The table that the query is judged by and reported with; of a foreachBatch the query's name unless given. */
  readonly table?: string
  /** Further tables that a foreachBatch writes. */
  readonly alsoWrites?: readonly string[]
  /** Whether idempotence is on unless asked otherwise: on for the native sink, off for a foreachBatch unless given. */
  readonly idempotent?: boolean
  /** What `batch.appId` is unless asked otherwise: the query's name unless given. */
  readonly appId?: string
  /** After a run: a line of counts, or the table sorted by a column. */
  readonly report?: 'counts' | { readonly sortedBy: string }
  /** What the sink's table holds when all is well: every row of the source, or the newest row of each key; `unknown` for anything else. */
  readonly holds?: Holds
}

export type Holds = 'every-row' | 'unknown' | { readonly newestBy: string; readonly of: string }

export interface QueryDefinition {
  readonly name: string
  readonly source: SourceSpec
  readonly sink: SinkSpec
  readonly table: string
  /** Where records go that the parser rejects, made with the first one; null for a query that rejects none. */
  readonly rejectedTable: string | null
  /** Every table that it writes. */
  readonly writes: readonly string[]
  readonly idempotent: boolean
  readonly appId: string
  readonly report: 'counts' | { readonly sortedBy: string }
  readonly holds: Holds
}

/** A topic of the workspace (or of Kafka): rows are key, value, topic, partition, offset, timestamp. */
export function topic(name: string): TopicSpec {
  checkName('topic', name)
  return topicSpec(name, null, [])
}

/** A table of the workspace, read as a stream: what is in it, then each version that adds rows. */
export function table(name: string): TableSpec {
  checkName('table', name)
  return tableSpec(name, [])
}

/** The native sink: appends to a table; with idempotence on, in one commit with a txn of the query's id. */
export function append(name: string): AppendSpec {
  checkName('table', name)
  return { kind: 'append', table: name }
}

/** Calls a function with each batch. It writes with the batch's own functions. */
export function foreachBatch(run: (batch: Batch) => void | Promise<void>): ForeachBatchSpec {
  if (typeof run !== 'function') throw new StreamtopError('bad-config', 'foreachBatch needs a function that takes a batch')
  return { kind: 'foreach-batch', run }
}

/**
 * A query: reads a source, batch by batch, into a sink.
 * @throws bad-name, bad-config
 */
export function query(name: string, source: SourceSpec, sink: SinkSpec, options: QueryOptions = {}): QueryDefinition {
  checkName('query', name)
  if (source?.kind !== 'topic' && source?.kind !== 'table') {
    throw new StreamtopError('bad-config', `query ${name} needs a source: topic(NAME) or table(NAME)`)
  }
  if (sink?.kind !== 'append' && sink?.kind !== 'foreach-batch') {
    throw new StreamtopError('bad-config', `query ${name} needs a sink: append(TABLE) or foreachBatch(batch => ...)`)
  }
  if (options.alsoWrites !== undefined && !Array.isArray(options.alsoWrites)) {
    throw new StreamtopError('bad-config', `alsoWrites of query ${name} is a list of names of tables`)
  }
  const sinkTable = sink.kind === 'append' ? sink.table : (options.table ?? name)
  const rejectedTable = sink.kind === 'append' && source.kind === 'topic' && source.parser ? `${sinkTable}_rejected` : null
  const writes = [sinkTable, ...(rejectedTable === null ? [] : [rejectedTable]), ...(options.alsoWrites ?? [])]
  for (const written of writes) checkName('table', written)
  const copies = sink.kind === 'append' && source.filters.length === 0
  return {
    name,
    source,
    sink,
    table: sinkTable,
    rejectedTable,
    writes,
    idempotent: options.idempotent ?? sink.kind === 'append',
    appId: options.appId ?? name,
    report: options.report ?? 'counts',
    holds: options.holds ?? (copies ? 'every-row' : 'unknown'),
  }
}

function topicSpec(name: string, parser: RecordParser | null, filters: readonly RowFilter[]): TopicSpec {
  return {
    kind: 'topic',
    name,
    parser,
    filters,
    where: (filter) => topicSpec(name, parser, [...filters, filter]),
    parse: (next) => topicSpec(name, next, filters),
  }
}

function tableSpec(name: string, filters: readonly RowFilter[]): TableSpec {
  return { kind: 'table', name, filters, where: (filter) => tableSpec(name, [...filters, filter]) }
}
