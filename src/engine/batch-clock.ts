/** How long each part of a trigger took, under the names of Spark's `durationMs`. Time spent at a step (a pause, a key) is in none. */
import type { Effects } from '../effects.js'

export type BatchPart = 'latestOffset' | 'walCommit' | 'getBatch' | 'addBatch' | 'commitOffsets'

export interface BatchClock {
  /** When the trigger began, milliseconds since the epoch. */
  readonly startedMs: number
  /** Milliseconds by part, those that have been lapped. */
  readonly parts: ReadonlyMap<BatchPart, number>
  /** The time since the last lap or restart was spent on this part. */
  lap(part: BatchPart): void
  restart(): void
  /** The trigger begins only now: what passed was waiting. */
  hasWaited(): void
}

/** @param onWaited called with `hasWaited` */
export function startBatchClock(onWaited: () => void, fx: Effects): BatchClock {
  const parts = new Map<BatchPart, number>()
  let since = fx.monotonicMs()
  let startedMs = fx.nowMs()
  return {
    get startedMs() {
      return startedMs
    },
    parts,
    lap(part) {
      const now = fx.monotonicMs()
      parts.set(part, now - since)
      since = now
    },
    restart() {
      since = fx.monotonicMs()
    },
    hasWaited() {
      since = fx.monotonicMs()
      startedMs = fx.nowMs()
      onWaited()
    },
  }
}
