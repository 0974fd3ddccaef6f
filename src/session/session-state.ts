/**
 * What a session is, as plain data: which queries it runs and how, what was asked of them, where their batches are. A new object
 * at each change, so that whoever draws it compares by identity.
 */
import type { ArmedStep } from '../engine/control.js'
import type { ErrorMessage } from '../engine/messages.js'
import type { Step, StepEvent } from '../engine/steps.js'
import type { HistoryLine } from '../observe/table-history.js'
import type { BatchLine } from '../observe/batch-lines.js'
import type { Status } from '../observe/status.js'

/**
 * What a session may do with its workspace. `owner`: everything. `viewer`: another dashboard runs its queries. `foreign`: another
 * tool made it. `read-only`: it was asked for.
 */
export type Access = 'owner' | 'viewer' | 'foreign' | 'read-only'

export interface SessionState {
  /** Absolute path. */
  readonly workspace: string
  readonly access: Access
  /** Of a viewer: the process whose queries these are. */
  readonly holderPid: number | null
  /** Of a viewer: that process holds the workspace no more, and nobody else does. */
  readonly hasHolderEnded?: boolean
  /** In the order in which the screen lists them. */
  readonly queries: readonly LiveQuery[]
  readonly pace: Pace
  readonly isPaused: boolean
  readonly generator: { readonly isOn: boolean; readonly ratePerSecond: number }
  /** The workspace was empty when the session began. */
  readonly isFirstStart: boolean
}

/** How long each step is held and how often batches are planned, both in milliseconds. */
export interface Pace {
  readonly name: string
  readonly dwellMs: number
  readonly intervalMs: number
}

/** From slow to full speed; `[` and `]` move in it. */
export const PACES: readonly Pace[] = [
  { name: 'slowest', dwellMs: 600, intervalMs: 6_000 },
  { name: 'slower', dwellMs: 300, intervalMs: 4_000 },
  { name: 'slow', dwellMs: 150, intervalMs: 3_000 },
  { name: 'brisk', dwellMs: 50, intervalMs: 1_000 },
  { name: 'fast', dwellMs: 10, intervalMs: 250 },
  { name: 'full', dwellMs: 0, intervalMs: 0 },
]

/** What is known of a query without looking at the workspace. */
export interface QueryInfo {
  readonly name: string
  readonly source: { readonly kind: 'topic' | 'table'; readonly name: string } | null
  /** The table that it is judged by; null when the query is not known (a checkpoint of another tool). */
  readonly table: string | null
  /** Every table that it writes. */
  readonly writes: readonly string[]
  readonly mode: 'append' | 'foreachBatch' | null
  readonly idempotentByDefault: boolean
}

/** A query of this session. Everything on disk about it is in the status object. */
export interface LiveQuery {
  readonly info: QueryInfo
  /**
   * Of its process, if this session has one: `starting` until it has its lock, `stopping` once it was asked to stop; `none` when it
   * is not run, or another process runs it.
   */
  readonly process: 'none' | 'starting' | 'running' | 'stopping'
  readonly pid: number | null
  /** Another process that runs it, as the last look saw it; null for nobody else. */
  readonly heldByPid: number | null
  /** Whether its source is not there yet, or cannot be reached. */
  readonly isWaitingForSource: boolean
  /** Why its source cannot be reached; null when it can, or is only not there yet. */
  readonly unreachable: string | null
  /** Whether each of its steps is held; with all queries paused, or when it is single-stepped. */
  readonly isHeld: boolean
  /** The step at which it is held at this moment. */
  readonly heldAt: StepEvent | null
  /** Where `x` kills: chosen with `X`. */
  readonly killStep: Step
  /** Armed: it dies there the next time. */
  readonly armed: ArmedStep | null
  /** What the next attempt is to be. */
  readonly idempotent: boolean
  /** The newest attempt that this session saw. */
  readonly attempt: LiveAttempt | null
  /** How its last process ended, if it has none now. */
  readonly ending: LiveEnding | null
}

/** An attempt of a batch as it was seen: which steps it reached. */
export interface LiveAttempt {
  readonly batchId: number
  readonly attempt: number
  readonly steps: readonly ReachedStep[]
  /** The process died in it, after the last of `steps`. */
  readonly isDead: boolean
  readonly beganAtMs: number
}

export interface ReachedStep {
  readonly event: StepEvent
  /** Milliseconds of work since the step before was left. */
  readonly tookMs: number
  readonly atMs: number
}

export interface LiveEnding {
  /** `killed`: at the armed step or by `K`, both a SIGKILL; `died`: by a signal that nobody here sent. */
  readonly kind: 'stopped' | 'killed' | 'died' | 'failed'
  readonly atMs: number
  readonly pid: number | null
  /** Of a kill: the last step that was reached in the batch; null between batches. */
  readonly at: StepEvent | null
  /** Who asked for a kill or a stop, as the log says it: the key or the command. */
  readonly by: string | null
  readonly error: Omit<ErrorMessage, 'stack'> | null
}

/** One look at what is on disk. */
export interface WorkspaceView {
  readonly takenAtMs: number
  /** False while rows are still being counted: the next looks go on with it. */
  readonly isCounted?: boolean
  readonly status: Status
  /** Of a viewer: the process that holds the workspace now; null for none. */
  readonly holderPid?: number | null
  /** Of the query that was asked for: its newest batches, and the newest versions of its table, newest first. */
  readonly detail: QueryDetail | null
}

export interface QueryDetail {
  readonly query: string
  readonly batches: readonly BatchLine[]
  readonly table: string | null
  readonly versions: readonly HistoryLine[]
}

/** A line of the event log. */
export interface LogEntry {
  readonly atMs: number
  /** A query's name, `you` for what was asked for, `topic`, `streamtop`. */
  readonly who: string
  readonly kind: 'asked' | 'committed' | 'skipped' | 'killed' | 'failed' | 'waiting' | 'note' | 'started' | 'stopped'
  /** Not yet safe to print: it may hold foreign text. The most important comes first, so that it can be cut. */
  readonly text: string
}

/** What a session tells whoever watches it. */
export type SessionMessage =
  | { readonly kind: 'state'; readonly state: SessionState }
  | { readonly kind: 'view'; readonly view: WorkspaceView }
  | { readonly kind: 'log'; readonly entry: LogEntry }
