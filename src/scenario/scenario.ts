/** A scenario as data: what `parse-scenario.ts` makes of a file and the player plays. */
import type { ArmedStep } from '../engine/control.js'
import type { Step } from '../engine/steps.js'
import type { ErrorCode } from '../errors.js'
import type { QueryState, VerdictName } from '../observe/status.js'
import type { Scalar } from './shape.js'

export interface Scenario {
  /** As it was named, for errors. */
  readonly file: string
  readonly title: string
  /** What it is about, in a sentence or two. */
  readonly about: string | null
  /** A file of queries beside the scenario, by its name alone. */
  readonly config: string | null
  /** The line that names it. */
  readonly configLine: number | null
  readonly script: readonly ScriptLine[]
}

export interface ScriptLine {
  /** In the file, from 1. */
  readonly line: number
  /** As YAML on one line: `run: { query: events_copy, kill: table-committed }`. */
  readonly text: string
  /** Of records that are sent, each on its own; then `text` says how many. */
  readonly details: readonly string[]
  readonly action: ScriptAction
}

export type ScriptAction =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'produce'; readonly parts: readonly number[] }
  | { readonly kind: 'produce-records'; readonly records: readonly ScriptRecord[] }
  | { readonly kind: 'generate'; readonly ratePerSecond: number }
  | ScriptRun
  | { readonly kind: 'start' | 'stop' | 'kill' | 'step' | 'replay' | 'reset' | 'drop'; readonly query: string }
  | { readonly kind: 'arm'; readonly query: string; readonly step: Step }
  | { readonly kind: 'idempotent'; readonly query: string; readonly isOn: boolean }
  | { readonly kind: 'rest'; readonly seconds: number }
  | ScriptWait
  | { readonly kind: 'pause'; readonly isOn: boolean }
  | { readonly kind: 'pace'; readonly pace: string }
  /** A file of a query's checkpoint goes: `metadata`, `offsets/0`. */
  | { readonly kind: 'lose'; readonly query: string; readonly file: string }
  | { readonly kind: 'expect'; readonly expectation: Expectation }

export interface ScriptRun {
  readonly kind: 'run'
  readonly query: string
  readonly armed: ArmedStep | null
  readonly idempotent: boolean | null
  readonly appId: string | null
  /** `KEY=VALUE`. */
  readonly sourceOptions: readonly string[]
  readonly acceptGap: boolean
}

export const WAITED_FOR = ['caught-up', 'held', 'waiting', 'killed', 'failed', 'stopped'] as const

export interface ScriptWait {
  readonly kind: 'wait'
  readonly query: string
  readonly until: (typeof WAITED_FOR)[number]
  readonly withinSeconds: number
}

/** An order as JSON, a text as it is, or a record without a value. */
export type ScriptRecord = Readonly<Record<string, Scalar>> | string | null

export type Expectation = QueryExpectation | TableExpectation | CheckpointExpectation | ErrorExpectation | TopicExpectation

export interface QueryExpectation {
  readonly kind: 'query'
  readonly query: string
  readonly fields: QueryFields
}

export interface QueryFields {
  readonly rows?: number
  readonly distinct?: number
  readonly duplicates?: number
  readonly rejected?: number
  readonly missing?: number
  readonly verdict?: VerdictName
  readonly state?: QueryState
  readonly attempts?: number
  readonly replays?: number
  readonly skips?: number
}

export interface TableExpectation {
  readonly kind: 'table'
  readonly table: string
  /** The rows that are meant; all unless given. */
  readonly where: Readonly<Record<string, Scalar>> | null
  readonly fields: {
    readonly exists?: boolean
    readonly rows?: number
    readonly distinct?: number
    readonly duplicates?: number
    /** Every row that is meant has these, and there is one. */
    readonly values?: Readonly<Record<string, Scalar>>
    /** How many there are, or what each is, oldest first. */
    readonly versions?: number | readonly VersionExpectation[]
  }
}

export interface VersionExpectation {
  readonly operation?: string
  readonly query?: string
  readonly batch?: number
  /** Rows that it adds. */
  readonly rows?: number
  /** Null: it has none. A number: of whatever app id. */
  readonly txn?: number | null | { readonly 'app-id': string; readonly version: number }
}

export interface CheckpointExpectation {
  readonly kind: 'checkpoint'
  readonly query: string
  readonly fields: { readonly offsets?: readonly number[]; readonly commits?: readonly number[]; readonly metadata?: boolean }
}

/** That the line before is refused or fails. */
export interface ErrorExpectation {
  readonly kind: 'error'
  readonly fields: { readonly error: ErrorCode; readonly condition?: string; readonly says?: string }
}

export interface TopicExpectation {
  readonly kind: 'topic'
  readonly topic: string
  readonly fields: { readonly records?: number; readonly 'end-offsets'?: Readonly<Record<string, number>> }
}
