/** One live workspace: the queries that run in it, and what can be asked of them. Knows no screen. */
import type { ArmedStep } from '../engine/control.js'
import type { Step } from '../engine/steps.js'
import type { SessionMessage, SessionState } from './session-state.js'

/** What can be asked of a session, whoever asks: a key, a `:` command, a scenario's line. */
export type SessionAction =
  | { readonly name: 'start' | 'stop' | 'kill' | 'step' | 'replay' | 'reset' | 'drop'; readonly query: string }
  /** Runs it until it is caught up: done when that has ended, or died at the armed step. Rejects with what it failed with. */
  | ({ readonly name: 'run'; readonly query: string } & RunOnce)
  /** Die at the step; without one at the query's `killStep`. */
  | { readonly name: 'arm'; readonly query: string; readonly step?: Step }
  | { readonly name: 'disarm'; readonly query: string }
  /** Chooses where `arm` kills. */
  | { readonly name: 'kill-step'; readonly query: string; readonly step: Step }
  /** Without a value the other one. */
  | { readonly name: 'idempotent'; readonly query: string; readonly isOn?: boolean }
  | { readonly name: 'pause' | 'resume' }
  | { readonly name: 'pace'; readonly pace: string }
  | { readonly name: 'send'; readonly part?: number }
  | { readonly name: 'generate'; readonly isOn?: boolean; readonly ratePerSecond?: number }

/** How a query is run until it is caught up. */
export interface RunOnce {
  readonly armed?: ArmedStep | null
  /** For this run alone; what the query is to be at its next attempt unless given. */
  readonly idempotent?: boolean | null
  /** The query's own unless given. */
  readonly appId?: string | null
  /** `KEY=VALUE`, as Spark's `.option` on the source. */
  readonly sourceOptions?: readonly string[]
  readonly acceptGap?: boolean
}

export interface Session {
  readonly state: SessionState
  /** Hears of everything from now on, the state at once. @returns stops it */
  subscribe(listener: (message: SessionMessage) => void): () => void
  /** Which query is looked at closely, and how many of its batches. */
  watch(query: string | null, batchLimit: number): void
  /**
   * Does it, after what was asked of the same query before. Resolves when it is done to one line that says what happened; rejects with
   * a StreamtopError when it cannot be done now. `by` is who asked, for the log: `x`, `:kill`.
   */
  perform(action: SessionAction, by: string): Promise<string>
  /** Stops every query at a clean place, kills what hangs, and lets the workspace go. */
  close(): Promise<void>
  /** Kills every process that is still there, for whoever does not want to wait for a `close` that is under way. */
  hurry(): void
}
