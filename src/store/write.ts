/** A write to a table as its caller sees it: what it is part of, and what it came to. */
import type { Txn, VersionActions } from './actions.js'
import type { Attempt, WriteOutcome } from './attempt.js'
import type { OnMoment } from './moments.js'

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

/** The txn that makes a write be skipped. */
export interface SeenTxn {
  readonly table: string
  readonly txn: Txn
  /** The actions of the version that set exactly the number asked for, when there is one. */
  readonly written: VersionActions | null
  readonly rowCount: number
}

export interface SkipJudgement {
  readonly leftOutRows: number | null
  readonly reason: string | null
}

export interface WriteReport {
  readonly outcome: WriteOutcome
  readonly version: number | null
  readonly rowCount: number
  /** Of a skip: rows that are now left out, null when unknown. */
  readonly leftOutRows: number | null
  readonly reason: string | null
}
