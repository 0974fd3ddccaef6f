/**
 * When a query plans its next batch: until it is caught up (Spark's availableNow), or for ever at an interval (processing time).
 */
import type { Effects } from '../effects.js'
import type { Control } from './control.js'
import type { Source } from './source.js'

export interface Trigger {
  /** Resolves when the source is there; throws when it is not and nobody is going to make it. */
  sourceIsThere(): Promise<void>
  /** The end of the next batch, or null when this run is over. `onPlan` is called each time before it plans: what passed was waiting. */
  next(start: string | null, onPlan: () => void): Promise<string | null>
}

const WAIT_FOR_SOURCE_MS = 50

/**
 * Goes on until what was there is done. While queries that write the source are running (`control.upstreamEnded`), what they add is
 * waited for.
 */
export function availableNow(
  source: Source,
  control: Pick<Control, 'upstreamEnded'>,
  stop: AbortSignal,
  onWaiting: (isWaiting: boolean) => void,
  fx: Effects,
): Trigger {
  let endIsFixed = false
  /** Whether nobody wrote the source any more when the end was fixed: then what is beyond the end is another run's. */
  let endIsLast = false
  const woken = AbortSignal.any([stop, control.upstreamEnded])
  const someoneWrites = () => !control.upstreamEnded.aborted
  return {
    async sourceIsThere() {
      while (!(await source.isThere())) {
        if (stop.aborted) return
        if (!someoneWrites()) throw source.missing()
        onWaiting(true)
        await fx.sleep(WAIT_FOR_SOURCE_MS, woken)
      }
      onWaiting(false)
    },
    async next(start, onPlan) {
      for (;;) {
        onPlan()
        if (!endIsFixed) {
          // Looked at before the end is fixed: what a writer added before it ended is then within the end.
          endIsLast = !someoneWrites()
          await source.fixEnd()
          endIsFixed = true
        }
        const end = await source.plan(start)
        if (end !== null || endIsLast || stop.aborted) return end
        if (someoneWrites()) await source.waitForMore(start, woken)
        endIsFixed = false
      }
    },
  }
}

/** Plans at multiples of the interval since the epoch, as Spark does; with 0 as soon as there is something new. The interval may change meanwhile. */
export function everyInterval(
  source: Source,
  control: Pick<Control, 'settings' | 'changed'>,
  stop: AbortSignal,
  onWaiting: (isWaiting: boolean) => void,
  fx: Effects,
): Trigger {
  let isFirst = true
  return {
    async sourceIsThere() {
      while (!(await source.isThere()) && !stop.aborted) {
        onWaiting(true)
        await fx.sleep(WAIT_FOR_SOURCE_MS, stop)
      }
      onWaiting(false)
    },
    async next(start, onPlan) {
      while (!stop.aborted) {
        if (!isFirst) await untilDue()
        isFirst = false
        if (stop.aborted) return null
        onPlan()
        const end = await source.plan(start)
        if (end !== null) return end
        await source.waitForMore(start, stop)
      }
      return null
    },
  }

  async function untilDue(): Promise<void> {
    const fromMs = fx.nowMs()
    while (!stop.aborted) {
      const intervalMs = control.settings.intervalMs ?? 0
      const waitMs = intervalMs > 0 ? intervalMs - (fromMs % intervalMs) - (fx.nowMs() - fromMs) : 0
      if (waitMs <= 0) return
      await fx.sleep(waitMs, control.changed)
    }
  }
}
