/** What the checker is told: which records were sent, what is promised of each query, and what another engine did. */

/** A record that a producer has sent. No two have the same value. */
export interface Sent {
  readonly value: string
  readonly order_id: number
  readonly customer_id: string | null
  readonly status: string
  /** With two decimals. */
  readonly amount: string | null
  /** Microseconds since the epoch. */
  readonly event_time_us: number | bigint
}

/** A record that is no order: it must lie beside the table of each query that reads the topic, byte for byte. Several may be the same. */
export interface SentBad {
  readonly value: Uint8Array | null
}

export interface QueryPromise {
  readonly name: string
  readonly source: { readonly topic: string } | { readonly table: string }
  /** Of a source that is a table: the version whose rows the stream began with, when it did not begin with the whole table. */
  readonly startingVersion?: number
  /** The sink's. */
  readonly table: string
  /** A condition in SQL on the rows of the source: the sink takes those for which it is true. */
  readonly where?: string
  /** Of `unknown` only the checkpoint and the ledger are judged. */
  readonly holds: 'every-row' | 'newest-of-each-order' | 'unknown'
  /** Every attempt was made with idempotence on, so no row may be there twice. */
  readonly exactlyOnce: boolean
  /** It has ended by itself: its newest batch is committed, and everything that was there is taken. */
  readonly caughtUp?: boolean
  /**
   * Its newest run died or was another engine's, and streamtop has not been at work here since: its log may lack the newest
   * versions, and its lock may name a process that is dead.
   */
  readonly isUnhealed?: boolean
  /** Its newest run died: its checkpoint may have a temp file until it is started again. */
  readonly hasDied?: boolean
  /** It ended with more to do than at the last check: it has committed a further batch since. */
  readonly hasGoneOn?: boolean
  /** Where `exactlyOnce` is not promised: attempts with idempotence on know a batch by its id, so together they write it once. */
  readonly skipsWhatItHas?: boolean
  /** Files of its checkpoint that the test itself took away or damaged, as `offsets/0`. */
  readonly damaged?: readonly string[]
  /** Further tables that it writes, each with what differs there; else they are promised as the first is. */
  readonly alsoWrites?: readonly (Pick<QueryPromise, 'table'> & Partial<Pick<QueryPromise, 'where' | 'holds' | 'exactlyOnce' | 'skipsWhatItHas'>>)[]
  readonly other?: OtherEngine
}

/** What another engine did in a query. */
export interface OtherEngine {
  /** The versions of the table that it wrote, each with the batch whose rows it has; null for one without rows of a batch. */
  readonly versions: ReadonlyMap<number, number | null>
  /** The batches that it committed: streamtop's ledger need not know a write of them. */
  readonly commits: readonly number[]
}

export interface Promised {
  /** The topic that the records were sent to; absent where there is none. */
  readonly topic?: string
  readonly sent?: readonly Sent[]
  readonly bad?: readonly SentBad[]
  readonly queries: readonly QueryPromise[]
  /** Counts that streamtop told; orphans are data files that no version names. */
  readonly said?: readonly { readonly table: string; readonly rows: number; readonly distinct: number; readonly orphans?: number }[]
  /** What readers beside saw since the last check, in the order of their looks. */
  readonly looks?: readonly Look[]
  /** Since the last check everything was started that had nothing to do, and nothing else happened. */
  readonly isQuiet?: boolean
  /** Processes that were at work here and must be gone. */
  readonly pids?: readonly number[]
}

/** The tables that a reader saw in one look, by name. */
export type Look = Readonly<Record<string, { readonly id: string; readonly version: number; readonly files: readonly string[] }>>

/** Checks a workspace once. Gives the violations as sentences, none when all is well. */
export function checkWorkspace(folder: string, promised: Promised): Promise<string[]>

/** A checker that remembers what it saw, so that it also notices files that change once written. */
export function openChecker(folder: string): Promise<{ check(promised: Promised): Promise<string[]>; close(): void }>
