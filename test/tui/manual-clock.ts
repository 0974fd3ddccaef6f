/** A clock and timers that only a test moves. */
import type { Effects } from '../../src/effects.js'

interface Timer {
  readonly dueMs: number
  readonly fire: () => void
}

export class ManualClock {
  nowMs = 0
  #timers: Timer[] = []

  get timerCount(): number {
    return this.#timers.length
  }

  effects(base: Effects): Effects {
    return {
      ...base,
      nowMs: () => this.nowMs,
      monotonicMs: () => this.nowMs,
      timeZoneOffsetMinutes: () => 0,
      sleep: (durationMs, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          const forget = () => {
            this.#timers = this.#timers.filter((other) => other !== timer)
            resolve()
          }
          const fire = () => {
            signal?.removeEventListener('abort', forget)
            resolve()
          }
          const timer: Timer = { dueMs: this.nowMs + durationMs, fire }
          this.#timers.push(timer)
          signal?.addEventListener('abort', forget)
        }),
    }
  }

  /** Lets so much time go by, firing what falls due at its moment. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.nowMs + durationMs
    for (;;) {
      await settled()
      const next = this.#timers.filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (!next) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.nowMs = Math.max(this.nowMs, next.dueMs)
      next.fire()
    }
    this.nowMs = endMs
    await settled()
  }
}

/** Everything that was promised has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
