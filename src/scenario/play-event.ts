/** What a play tells, in order: plain data, without anything that differs from one play to the next (times, process ids, random ids). */
import type { Scalar } from './shape.js'

export type PlayEvent =
  | { readonly kind: 'scenario'; readonly file: string; readonly title: string; readonly about: string | null }
  | { readonly kind: 'caption'; readonly line: number; readonly text: string }
  /** An action begins; as the scenario writes it, records that are sent one by one. */
  | { readonly kind: 'action'; readonly line: number; readonly text: string; readonly details: readonly string[] }
  /** What came of it, a sentence each. With an error it was refused or has failed. */
  | { readonly kind: 'outcome'; readonly line: number; readonly texts: readonly string[]; readonly error: PlayError | null }
  | { readonly kind: 'expectation'; readonly line: number; readonly subject: string; readonly isMet: boolean; readonly checks: readonly Check[] }
  | PlayEnd

export interface PlayError {
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly condition: string | null
}

/** One thing that was expected, and what was found instead. */
export interface Check {
  readonly field: string
  readonly expected: CheckValue
  readonly found: CheckValue
  readonly isMet: boolean
}

export type CheckValue = Scalar | readonly CheckValue[] | { readonly [field: string]: CheckValue }

export interface PlayEnd {
  readonly kind: 'end'
  /** Every expectation was met, and nothing failed that was not expected to. */
  readonly isMet: boolean
  readonly expectations: number
  readonly unmet: number
  /** The line that failed although nobody expected it; null for none. */
  readonly failedLine: number | null
}
