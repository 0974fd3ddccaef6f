/**
 * The ways of writing that the matrix tries, as plain data: which query, asked for idempotence or not, and what its one batch of the
 * nine events comes to. Loaded at every start, for help lists them.
 */

export interface WayOfWriting {
  /** As after `--way`. */
  readonly name: string
  /** For a narrow column. */
  readonly title: string
  readonly about: string
  /** One of streamtop's own, or of `matrix-queries.ts`. */
  readonly query: string
  /**
   * Whether idempotence is asked for. Each of these queries then writes so that its table, or each of its tables, knows a batch that
   * comes again: by a txn, or by MERGE. Without it none does.
   */
  readonly isIdempotent: boolean
  /** Every table that it writes, in the order of the writes. */
  readonly tables: readonly string[]
  /** Whether its tables are written in one commit, so that a write's steps come once for all of them. */
  readonly isTogether: boolean
  /** What a table has of the batch when it is written once. */
  readonly rows: number
}

const EVENTS = 9
/** Of nine events two are of one order. */
const ORDERS = 8

export const WAYS: readonly WayOfWriting[] = [
  {
    name: 'native',
    title: 'native sink',
    about: 'the sink of bronze_orders, which knows a batch by its txn',
    ...{ query: 'bronze_orders', isIdempotent: true, tables: ['bronze_orders'], isTogether: false, rows: EVENTS },
  },
  {
    name: 'append',
    title: 'append',
    about: 'foreachBatch appends: events_copy',
    ...{ query: 'events_copy', isIdempotent: false, tables: ['events_copy'], isTogether: false, rows: EVENTS },
  },
  {
    name: 'append-txn',
    title: 'append, txn',
    about: 'foreachBatch appends with txnAppId and txnVersion: events_copy --idempotent',
    ...{ query: 'events_copy', isIdempotent: true, tables: ['events_copy'], isTogether: false, rows: EVENTS },
  },
  {
    name: 'merge',
    title: 'MERGE',
    about: 'foreachBatch merges on the key: orders',
    ...{ query: 'orders', isIdempotent: true, tables: ['orders'], isTogether: false, rows: ORDERS },
  },
  {
    name: 'insert',
    title: 'plain insert',
    about: 'foreachBatch inserts what it would merge: orders --no-idempotent',
    ...{ query: 'orders', isIdempotent: false, tables: ['orders'], isTogether: false, rows: ORDERS },
  },
  {
    name: 'apart',
    title: 'two apart',
    about: 'foreachBatch appends to two tables, one after the other',
    ...{ query: 'two_apart', isIdempotent: false, tables: ['apart', 'apart_audit'], isTogether: false, rows: EVENTS },
  },
  {
    name: 'apart-txn',
    title: 'two apart, txn',
    about: 'the same, each write with a txn',
    ...{ query: 'two_apart', isIdempotent: true, tables: ['apart', 'apart_audit'], isTogether: false, rows: EVENTS },
  },
  {
    name: 'together',
    title: 'two together',
    about: 'foreachBatch appends to two tables in one commit',
    ...{ query: 'two_together', isIdempotent: false, tables: ['together', 'together_audit'], isTogether: true, rows: EVENTS },
  },
  {
    name: 'together-txn',
    title: 'two together, txn',
    about: 'the same, with a txn',
    ...{ query: 'two_together', isIdempotent: true, tables: ['together', 'together_audit'], isTogether: true, rows: EVENTS },
  },
]
