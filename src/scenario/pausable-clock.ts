/**
 * A clock that stands still while somebody has paused a play: what is slept and waited for then is not over any sooner, and no line of
 * a scenario fails because the audience had a question.
 */
import type { Effects } from '../effects.js'

export interface PausableClock {
  /** The world with this clock in it. */
  readonly fx: Effects
  pause(): void
  goOn(): void
}

export function pausableClock(real: Effects): PausableClock {
  let stoodStillMs = 0
  let pausedAtMs: number | null = null
  /** Fires when it is paused or goes on. */
  let changed = new AbortController()

  const monotonicMs = () => (pausedAtMs ?? real.monotonicMs()) - stoodStillMs
  const change = (nextPausedAtMs: number | null) => {
    pausedAtMs = nextPausedAtMs
    const before = changed
    changed = new AbortController()
    before.abort()
  }

  async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = monotonicMs() + durationMs
    while (!signal?.aborted) {
      const leftMs = endMs - monotonicMs()
      if (pausedAtMs === null && leftMs <= 0) return
      const either = signal === undefined ? changed.signal : AbortSignal.any([changed.signal, signal])
      if (pausedAtMs === null) await real.sleep(leftMs, either)
      else await fired(either)
    }
  }

  return {
    fx: { ...real, monotonicMs, sleep },
    pause() {
      if (pausedAtMs === null) change(real.monotonicMs())
    },
    goOn() {
      if (pausedAtMs === null) return
      stoodStillMs += real.monotonicMs() - pausedAtMs
      change(null)
    },
  }
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
