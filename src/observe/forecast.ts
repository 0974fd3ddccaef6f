/**
 * What running the newest batch again will come to, told from what is on disk before it starts. Pure, and the one place that
 * decides it: the sentence and the hints are its words. The rules are those of the store: a write is skipped when the table has
 * its number or a greater one for its app id, a MERGE finds its rows there, a plain write asks nobody.
 */
import type { BatchAttempt, QueryStatus } from './status.js'

/** What a session knows and the disk does not: how the next attempt will be made. Null for what is not decided yet. */
export interface NextAttempt {
  readonly idempotentNext: boolean | null
  /** Where it is not the app id of the newest run. */
  readonly appIdNext?: string | null
  /** False: nothing is said of what it will come to, for people are to guess. */
  readonly isForetold?: boolean
}

export interface RememberedTxn {
  readonly appId: string
  readonly version: number
}

export type Forecast =
  /** The table does not have the batch: it is written once. */
  | { readonly kind: 'written' }
  /** The table has the batch and will know it; not sure of a function of which nobody knows whether it asks. */
  | { readonly kind: 'skipped'; readonly txn: RememberedTxn; readonly isSure: boolean }
  /** The table has that number of somebody else's: the rows are left out. */
  | { readonly kind: 'left-out'; readonly txn: RememberedTxn; readonly isSure: boolean }
  /** The rows come to the table once more; null when it is not known how many. */
  | { readonly kind: 'duplicated'; readonly rows: number | null; readonly because: WhyDuplicated; readonly txn: RememberedTxn | null }
  /** A MERGE of what was merged. */
  | { readonly kind: 'unchanged' }
  /** A MERGE of what was inserted: rows may change, none is added. */
  | { readonly kind: 'adds-none' }

/**
 * `untagged`: written without a txn, so nothing tells the table. `not-asked`: the table remembers, and the next attempt is a plain
 * write. `other-app-id`: it asks by another app id. `inserted-after-merge`: it was merged, and is now inserted.
 */
export type WhyDuplicated = 'untagged' | 'not-asked' | 'other-app-id' | 'inserted-after-merge'

const NOT_DECIDED: NextAttempt = { idempotentNext: null }

/** Of a query whose newest batch is logged and not committed; of any other query it says what a second run of that batch would be. */
export function forecastOf(query: QueryStatus, next: NextAttempt = NOT_DECIDED): Forecast {
  const written = query.batchAttempts.filter(isCommitted)
  const appId = next.appIdNext ?? query.appId
  const way = wayOf(query, next)
  if (way === 'merge') {
    if (written.some((attempt) => attempt.operation !== 'MERGE')) return { kind: 'adds-none' }
    return written.length > 0 || query.batchAttempts.some(({ outcome }) => outcome === 'unchanged') || isThereUnrecorded(query)
      ? { kind: 'unchanged' }
      : { kind: 'written' }
  }
  const txn = way === 'plain' ? null : rememberedFor(query, appId)
  if (txn !== null) return { kind: isOfThisBatch(query, txn) ? 'skipped' : 'left-out', txn, isSure: way === 'tagged' && next.idempotentNext !== null }
  return afterPlainWrites(query, way, appId)
}

/** Nothing in the table holds the next attempt back. */
function afterPlainWrites(query: QueryStatus, way: Way, appId: string | null): Forecast {
  const last = query.batchAttempts.filter(isCommitted).at(-1)
  if (last === undefined) return withoutRecord(query)
  const { rows } = last
  if (last.operation === 'MERGE') return { kind: 'duplicated', rows, because: 'inserted-after-merge', txn: null }
  const tagged = query.batchAttempts.findLast((attempt) => isCommitted(attempt) && attempt.appId !== null)
  if (!tagged || tagged.appId === null || tagged.txnVersion === null) return { kind: 'duplicated', rows, because: 'untagged', txn: null }
  const because = way !== 'plain' && tagged.appId !== appId ? 'other-app-id' : 'not-asked'
  return { kind: 'duplicated', rows, because, txn: { appId: tagged.appId, version: tagged.txnVersion } }
}

/** The ledger has no write of the batch: the data may have its rows all the same. */
function withoutRecord(query: QueryStatus): Forecast {
  if (!isThereUnrecorded(query)) return { kind: 'written' }
  const { newestTxn, batchId } = query
  if (newestTxn?.version === batchId) return { kind: 'duplicated', rows: null, because: 'not-asked', txn: newestTxn }
  return { kind: 'duplicated', rows: null, because: 'untagged', txn: null }
}

/** Somebody wrote the batch of whom the ledger knows nothing: another tool, or we before the log was lost. */
function isThereUnrecorded(query: QueryStatus): boolean {
  return query.step === 'table-committed' && query.batchAttempts.length === 0
}

/** `perhaps-tagged`: a user's function that has not shown what it does when idempotence is asked for, or is not. */
type Way = 'merge' | 'tagged' | 'perhaps-tagged' | 'plain'

/** How the next attempt writes; where that is not decided, as what is there was written, and else as it was last run. */
function wayOf(query: QueryStatus, { idempotentNext }: NextAttempt): Way {
  const committed = query.batchAttempts.filter(isCommitted)
  const last = committed.at(-1)
  if (idempotentNext === null) {
    if (last !== undefined) return last.operation === 'MERGE' ? 'merge' : last.appId !== null ? 'tagged' : 'plain'
    if (isThereUnrecorded(query)) return query.newestTxn?.version === query.batchId ? 'tagged' : query.newestOperation === 'MERGE' ? 'merge' : 'plain'
  }
  const isOn = idempotentNext ?? query.idempotent ?? false
  if (query.mode === 'MERGE' || query.mergesWhenIdempotent) return isOn ? 'merge' : 'plain'
  // A function that merged, or that wrote in one way whatever was asked, will do so again.
  if (last?.operation === 'MERGE') return 'merge'
  const same = committed.findLast((attempt) => attempt.idempotent === isOn)
  if (same) return same.appId === null ? 'plain' : 'tagged'
  if (query.honoursIdempotence === false) return 'perhaps-tagged'
  return isOn ? 'tagged' : 'plain'
}

/** The table's newest txn of an app id, when it is at or above the batch: then a write with that app id is skipped. */
function rememberedFor(query: QueryStatus, appId: string | null): RememberedTxn | null {
  const { newestTxn, batchId, batchAttempts } = query
  if (batchId === null) return null
  if (newestTxn !== null && (newestTxn.appId === appId || isThereUnrecorded(query))) return newestTxn.version >= batchId ? newestTxn : null
  const own = batchAttempts.findLast((attempt) => isCommitted(attempt) && attempt.appId === appId && attempt.txnVersion === batchId)
  return own && own.appId !== null ? { appId: own.appId, version: batchId } : null
}

/** Whether the rows are there when the table says that it has the number. */
function isOfThisBatch(query: QueryStatus, txn: RememberedTxn): boolean {
  if (query.batchAttempts.some(isCommitted)) return true
  const writer = query.newestTxn?.queryId ?? null
  // Nobody is known to have written it: a start takes the very number of the batch for the batch.
  return writer === null ? txn.version === query.batchId : writer === query.id
}

export function isCommitted(attempt: BatchAttempt): boolean {
  return attempt.outcome === 'committed'
}
