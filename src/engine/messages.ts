/** What a runner and its child say to each other, as JSON over the child's IPC channel. */
import type { ArmedStep } from './control.js'
import type { QueryEvent } from './events.js'
import type { RunOptions } from './life.js'

/** The first message: what to run. */
export interface ChildTask {
  /** Who sent the task: by the time it is read that process may be gone, and `process.ppid` another's. */
  readonly parentPid: number
  readonly workspace: string
  readonly configFile: string | null
  readonly query: string
  readonly options: RunOptions
  readonly idempotent: boolean | null
  readonly armed: ArmedStep | null
  readonly dwellMs: number
  readonly hasUpstream: boolean
}

export type ToChild =
  | { readonly kind: 'task'; readonly task: ChildTask }
  | { readonly kind: 'stop' }
  | { readonly kind: 'idempotent'; readonly idempotent: boolean }
  | { readonly kind: 'armed'; readonly armed: ArmedStep | null }
  | { readonly kind: 'dwell'; readonly dwellMs: number }
  | { readonly kind: 'upstream-ended' }

export interface ErrorMessage {
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly condition: string | null
  readonly stack: string | null
}

export type FromChild =
  | { readonly kind: 'event'; readonly event: QueryEvent }
  /** The last words before a SIGKILL of itself. */
  | { readonly kind: 'dying' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly error: ErrorMessage }
