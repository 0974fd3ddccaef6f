/** What the checker is told: which records were sent, and what is promised of each query. */

/** A record that a producer has sent. No two have the same value. */
export interface Sent {
  readonly value: string
  readonly order_id: number
  readonly customer_id: string
  readonly status: string
  /** With two decimals. */
  readonly amount: string
  /** Microseconds since the epoch. */
  readonly event_time_us: number
}

export interface QueryPromise {
  readonly name: string
  readonly source: { readonly topic: string } | { readonly table: string }
  /** The sink's. */
  readonly table: string
  readonly holds: 'every-row' | 'newest-of-each-order'
  /** Every attempt was made with idempotence on, so no row may be there twice. */
  readonly exactlyOnce: boolean
  /** It has ended by itself: its newest batch is committed, and everything that was there is taken. */
  readonly caughtUp?: boolean
}

export interface Promised {
  readonly topic: string
  readonly sent: readonly Sent[]
  readonly queries: readonly QueryPromise[]
  /** Counts that streamtop told. */
  readonly said?: readonly { readonly table: string; readonly rows: number; readonly distinct: number }[]
}

/** Checks a workspace once. Gives the violations as sentences, none when all is well. */
export function checkWorkspace(folder: string, promised: Promised): Promise<string[]>

/** A checker that remembers what it saw, so that it also notices files that change once written. */
export function openChecker(folder: string): Promise<{ check(promised: Promised): Promise<string[]>; close(): void }>
