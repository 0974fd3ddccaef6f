/**
 * A batch as a foreachBatch function sees it: its number, its time, its rows, and the ways to write them. Each write goes
 * through the same steps as the native sink's.
 */
import { StreamtopError } from '../errors.js'
import { isTrue } from './filter-rows.js'
import { isPromise } from '../is-promise.js'
import type { Columns } from '../store/columns.js'
import type { WriteReport } from '../store/write.js'
import type { MergeSpec } from '../store/merge-spec.js'
import { checkSchema, type Schema } from '../store/schema.js'
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

/** One of the writes of `commitTogether`: the table's name says how it is written. */
export type JointWrite = JointAppend | JointMerge

export interface JointAppend extends AppendOptions {
  /** The table, made when it is not there. */
  readonly append: string
  readonly rows: RowsToWrite
}

export interface JointMerge extends MergeSpec, AppendOptions {
  /** The table, which must be there. */
  readonly merge: string
  readonly rows: RowsToWrite
}

/** A write of a batch, checked. */
export type BatchWrite = { readonly table: string; readonly columns: Columns; readonly idempotence: IdempotenceOptions } & (
  | { readonly kind: 'append' }
  | { readonly kind: 'merge'; readonly spec: MergeSpec }
)

/** What the writes of a batch need, in one place: the sink gives it. */
export interface BatchWriter {
  write(write: BatchWrite): Promise<WriteReport>
  writeTogether(writes: readonly BatchWrite[]): Promise<WriteReport[]>
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
    return this.rows.filter((row) => isTrue(condition(row), 'the condition of a filter'))
  }

  /** Appends rows to a table, made when it is not there. */
  append(table: string, rows: RowsToWrite, options: AppendOptions = {}): Promise<WriteReport> {
    return this.#writer.write(this.#planned({ ...options, append: table, rows }))
  }

  /** Merges rows into a table, which must be there (`createTable`). */
  merge(table: string, rows: RowsToWrite, options: MergeOptions): Promise<WriteReport> {
    return this.#writer.write(this.#planned({ ...options, merge: table, rows }))
  }

  /**
   * Writes to several tables in one commit: after any death, and for every reader of streamtop, all of it is there or nothing.
   *
   *     await batch.commitTogether([
   *       { merge: 'orders', rows: newest, on: 'order_id', whenMatched: 'update', whenNotMatched: 'insert' },
   *       { append: 'audit', rows: batch.columns, txnAppId: 'audit', txnVersion: batch.id },
   *     ])
   *
   * A write with a pair that its table has is skipped, as it would be alone. One without a pair is skipped when another's is
   * there from a commit that wrote its table too, so one pair is enough for all. Whoever reads the Delta files beside streamtop
   * may see one table a moment before the other.
   * @param writes each to another table, at most one of them a MERGE
   * @returns what each came to, in their order
   */
  commitTogether(writes: readonly JointWrite[]): Promise<WriteReport[]> {
    return this.#writer.writeTogether(writes.map((write) => this.#planned(write)))
  }

  /** Makes an empty table, unless there is one of that name. */
  async createTable(table: string, schema: Schema): Promise<void> {
    checkSchema(schema)
    await this.#writer.createTable(table, schema)
  }

  #planned(write: JointWrite): BatchWrite {
    const named = write as Partial<Record<'append' | 'merge', unknown>> | null
    const table = named?.append ?? named?.merge
    if (typeof table !== 'string' || (named?.append !== undefined && named.merge !== undefined)) {
      throw new StreamtopError('usage', 'a write of commitTogether names one table: { append: TABLE, rows } or { merge: TABLE, rows, on, ... }')
    }
    const unknown = Object.keys(write).find((name) => !WRITE_MEMBERS.has(name))
    if (unknown !== undefined) {
      throw new StreamtopError('usage', `a write to ${table} has no option ${unknown}`, { hint: `the options are ${[...WRITE_MEMBERS].slice(3).join(', ')}` })
    }
    const checked = { table, columns: this.#columnsOf(table, write.rows, write.schema), idempotence: checkedPair(write) }
    return 'merge' in write ? { ...checked, kind: 'merge', spec: write } : { ...checked, kind: 'append' }
  }

  #columnsOf(table: string, rows: RowsToWrite, schema: Schema | undefined): Columns {
    checkAreRows(table, rows)
    if (isColumns(rows)) return rows
    if (schema !== undefined) checkSchema(schema)
    return columnsFromRows(schema ?? this.columns.schema, [...rows])
  }
}

/** What a write may say; what it cannot obey is refused, since an option that is misspelled would be one that is not given. */
const WRITE_MEMBERS: ReadonlySet<string> = new Set(['append', 'merge', 'rows', 'txnAppId', 'txnVersion', 'schema', 'on', 'whenMatched', 'whenNotMatched'])

function checkAreRows(table: string, rows: unknown): void {
  if (typeof rows === 'object' && rows !== null && (Symbol.iterator in rows || isColumns(rows as RowsToWrite))) return
  const isWaitedFor = isPromise(rows)
  throw new StreamtopError(
    'bad-value',
    `what is to be written to ${table} is ${isWaitedFor ? 'a promise' : `of type ${rows === null ? 'null' : typeof rows}`}, not rows`,
    {
      hint: isWaitedFor ? 'wait for it first (await)' : "give the batch's columns, or a list of objects",
    },
  )
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
