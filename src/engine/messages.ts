/** What a runner and its child say to each other, as JSON over the child's IPC channel. */
import { type ErrorCode, StreamtopError } from '../errors.js'
import type { ControlSettings } from './control.js'
import type { QueryEvent } from './events.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { RunOptions } from './run-options.js'

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
  /** Null: topics are the workspace's own. */
  readonly kafka: KafkaChoice | null
  /** Read instead of topic orders; null for none. */
  readonly topic: string | null
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

/** The error that was told, as one that can be thrown here. */
export function errorFrom(message: ErrorMessage): StreamtopError {
  const error = new StreamtopError(message.code as ErrorCode, message.message, {
    ...(message.hint === null ? {} : { hint: message.hint }),
    ...(message.condition === null ? {} : { condition: message.condition }),
  })
  if (message.stack !== null) error.stack = message.stack
  return error
}
