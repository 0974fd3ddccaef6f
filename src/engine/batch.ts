/**
 * A batch as a foreachBatch function sees it: its number, its time, its rows, and the ways to write them. Each write goes
 * through the same steps as the native sink's.
 */
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { WriteReport } from '../store/write.js'
import type { MergeSpec } from '../store/merge-spec.js'
import type { Schema } from '../store/schema.js'
import { columnsFromRows } from '../store/columns-from-rows.js'
import { type Row, rowsOf } from '../store/values.js'

/** Rows to write: as columns, or as objects in the batch's own columns. */
export type RowsToWrite = Columns | Iterable<Row>

/** Delta's options of the same names: the write is skipped when the table has this number, or a greater one, for the app id. */
export interface IdempotenceOptions {
  readonly txnAppId?: string | undefined
  readonly txnVersion?: number | undefined
}

export interface AppendOptions extends IdempotenceOptions {
  /** The columns of rows given as objects, where they are not the batch's own. */
  readonly schema?: Schema
}

export type MergeOptions = MergeSpec & AppendOptions

/** What the writes of a batch need, in one place: the sink gives it. */
export interface BatchWriter {
  append(table: string, columns: Columns, idempotence: IdempotenceOptions): Promise<WriteReport>
  merge(table: string, columns: Columns, spec: MergeSpec, idempotence: IdempotenceOptions): Promise<WriteReport>
  createTable(table: string, schema: Schema): Promise<void>
}

export interface BatchFacts {
  readonly id: number
  readonly timestampMs: number
  readonly range: { readonly start: string | null; readonly end: string }
  readonly idempotent: boolean
  readonly appId: string
  readonly columns: Columns
}

export class Batch {
  /** The batch's number, from 0; the same when it runs again. */
  readonly id: number
  /** When the batch was planned, in milliseconds since the epoch; the same when it runs again. */
  readonly timestampMs: number
  /** The offsets that it lies between, as the checkpoint has them. */
  readonly range: { readonly start: string | null; readonly end: string }
  /** Whether idempotence is asked for in this attempt (`--idempotent`, or the query's default). */
  readonly idempotent: boolean
  /** The app id to use with it (`--app-id`, or the query's default). */
  readonly appId: string
  readonly columns: Columns
  readonly #writer: BatchWriter

  constructor(facts: BatchFacts, writer: BatchWriter) {
    this.id = facts.id
    this.timestampMs = facts.timestampMs
    this.range = facts.range
    this.idempotent = facts.idempotent
    this.appId = facts.appId
    this.columns = facts.columns
    this.#writer = writer
  }

  get rowCount(): number {
    return this.columns.rowCount
  }

  /** The batch's rows as objects. */
  get rows(): Row[] {
    return [...rowsOf(this.columns)]
  }

  /** The rows for which a condition is true. */
  filter(condition: (row: Row) => boolean): Row[] {
    return this.rows.filter(condition)
  }

  /** Appends rows to a table, made when it is not there. */
  append(table: string, rows: RowsToWrite, options: AppendOptions = {}): Promise<WriteReport> {
    return this.#writer.append(table, this.#columnsOf(rows, options.schema), checkedPair(options))
  }

  /** Merges rows into a table, which must be there (`createTable`). */
  merge(table: string, rows: RowsToWrite, options: MergeOptions): Promise<WriteReport> {
    return this.#writer.merge(table, this.#columnsOf(rows, options.schema), options, checkedPair(options))
  }

  /** Makes an empty table, unless there is one of that name. */
  async createTable(table: string, schema: Schema): Promise<void> {
    await this.#writer.createTable(table, schema)
  }

  #columnsOf(rows: RowsToWrite, schema: Schema | undefined): Columns {
    if (isColumns(rows)) return rows
    return columnsFromRows(schema ?? this.columns.schema, [...rows])
  }
}

function isColumns(rows: RowsToWrite): rows is Columns {
  return 'vectors' in rows && 'schema' in rows
}

/** One of the two alone is an error, as in Delta: the write would look idempotent and not be. */
function checkedPair(options: IdempotenceOptions): IdempotenceOptions {
  const { txnAppId, txnVersion } = options
  if ((txnAppId === undefined) !== (txnVersion === undefined)) {
    const missing = txnAppId === undefined ? 'txnAppId' : 'txnVersion'
    throw new StreamtopError('idempotence-options', `an idempotent write needs txnAppId and txnVersion; ${missing} is missing`, {
      hint: 'give both, or none for a plain write',
      condition: 'DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS',
    })
  }
  if (txnVersion !== undefined && (!Number.isSafeInteger(txnVersion) || txnVersion < 0)) {
    throw new StreamtopError('idempotence-options', `txnVersion must be a whole number from 0 on, not ${String(txnVersion)}`, {
      hint: 'use batch.id',
      condition: 'DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS',
    })
  }
  if (txnAppId !== undefined && (typeof txnAppId !== 'string' || txnAppId === '')) {
    throw new StreamtopError('idempotence-options', 'txnAppId must be a text that is not empty', { condition: 'DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS' })
  }
  return { txnAppId, txnVersion }
}
