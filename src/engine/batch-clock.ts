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
}

export function startBatchClock(fx: Effects): BatchClock {
  const parts = new Map<BatchPart, number>()
  let since = fx.monotonicMs()
  return {
    startedMs: fx.nowMs(),
    parts,
    lap(part) {
      const now = fx.monotonicMs()
      parts.set(part, now - since)
      since = now
    },
    restart() {
      since = fx.monotonicMs()
    },
  }
}
