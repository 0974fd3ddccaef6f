/** A write to a table as its caller sees it: what it is part of, and what it came to. */
import type { Txn, VersionActions } from './actions.js'
import type { Attempt, WriteOutcome } from './attempt.js'
import type { Columns } from './columns.js'
import type { MergeSpec } from './merge-spec.js'
import type { OnMoment } from './moments.js'

/** How an append calls itself in the table's history: Delta's streaming sink, or a plain write. */
export type AppendOperation = { readonly kind: 'streaming-update'; readonly queryId: string; readonly epochId: number } | { readonly kind: 'write' }

/** What a write to a table is part of, and who wants to know. */
export interface WriteOptions {
  /** With it, a write whose number the table has for that app id is skipped. */
  readonly txn?: { readonly appId: string; readonly version: number } | undefined
  /** The attempt that the ledger and commitInfo name. */
  readonly source?: { readonly attempt: Attempt; readonly writeNumber: number } | undefined
  readonly onMoment?: OnMoment | undefined
  /** Judges a skip before it is written down: what it leaves out, or a refusal thrown. */
  readonly onSkip?: ((seen: SeenTxn) => SkipJudgement) | undefined
}

/** A write to one table, as the store takes it. */
export type TableWrite = { readonly table: string; readonly columns: Columns; readonly options?: WriteOptions | undefined } & (
  | { readonly kind: 'append'; readonly operation: AppendOperation }
  | { readonly kind: 'merge'; readonly spec: MergeSpec }
)

/** The txn that makes a write be skipped. */
export interface SeenTxn {
  readonly table: string
  /** The table that has the txn: the same one, or another that was written together with it. */
  readonly heldBy: string
  readonly txn: Txn
  /** The actions of the version that was written with exactly the number asked for, when there is one. */
  readonly written: VersionActions | null
  readonly rowCount: number
}

export interface SkipJudgement {
  readonly leftOutRows: number | null
  readonly reason: string | null
}

/** What a MERGE did to its table's rows. */
export interface MergeEffect {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  /** Rows given that changed nothing. */
  readonly ignored: number
  /** Whether these are known to be not newer than what the table has: no other clause could have left them out. */
  readonly isIgnoredLate: boolean
}

export interface WriteReport {
  readonly outcome: WriteOutcome
  readonly version: number | null
  readonly rowCount: number
  /** Of a skip: rows that are now left out, null when unknown. */
  readonly leftOutRows: number | null
  readonly reason: string | null
  /** Of a MERGE that left a version. */
  readonly counts?: MergeEffect
}
