/** What a running query tells: plain data, the same from this process and from a child. */
import type { WriteReport } from '../store/write.js'
import type { QueryProgress } from './progress.js'
import type { StepEvent } from './steps.js'

export type QueryEvent =
  | { readonly kind: 'started'; readonly runId: string }
  | { readonly kind: 'began'; readonly queryId: string }
  /** `reason`: why the source cannot be reached; absent when it is only not there yet. */
  | { readonly kind: 'waiting'; readonly reason?: string }
  | { readonly kind: 'working' }
  /** `tookMs`: of work since the step before was left, without what a runner dwelt there. */
  | { readonly kind: 'step'; readonly event: StepEvent; readonly tookMs: number }
  /** The step is held until somebody lets it go, or was let go. */
  | { readonly kind: 'held'; readonly at: StepEvent; readonly isHeld: boolean }
  /** Something that people should read: what was passed over on purpose. */
  | { readonly kind: 'note'; readonly batchId: number; readonly text: string }
  | {
      readonly kind: 'batch'
      readonly batchId: number
      readonly attempt: number
      readonly writes: readonly (WriteReport & { readonly table: string })[]
      readonly progress: QueryProgress
    }

export type EventListener = (event: QueryEvent) => void
