/** What a runner and its child say to each other, as JSON over the child's IPC channel. */
import type { ControlSettings } from './control.js'
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
  readonly settings: ControlSettings
  readonly hasUpstream: boolean
}

export type ToChild =
  | { readonly kind: 'task'; readonly task: ChildTask }
  | { readonly kind: 'stop' }
  | { readonly kind: 'change'; readonly change: Partial<ControlSettings> }
  | { readonly kind: 'step' }
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
