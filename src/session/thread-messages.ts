/** What the main thread and the workspace's thread say to each other. */
import type { ErrorMessage } from '../engine/messages.js'
import type { WorkspaceService } from './workspace-service.js'

export type ServiceCall = keyof WorkspaceService

/** Calls by name and number, their arguments as they are. */
export interface ToThread {
  readonly number: number
  readonly call: ServiceCall
  readonly parameters: readonly unknown[]
}

export type FromThread =
  | { readonly number: number; readonly kind: 'done'; readonly result: unknown }
  | { readonly number: number; readonly kind: 'failed'; readonly error: ErrorMessage }
  /** The process is about to end. Its first number is set to 1 and notified once that is said, for the thread waits. */
  | { readonly kind: 'sync-failed'; readonly error: ErrorMessage; readonly isSaid: Int32Array }
