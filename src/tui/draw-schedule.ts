/** When to draw: at once when it was quiet, and never more often than people can see or a processor should be asked for. */
import type { Effects } from '../effects.js'

/** Between two frames that events asked for: seven a second. */
export const EVENT_FRAME_MS = 143
/** Between two frames when a key was pressed: thirty a second. */
export const KEY_FRAME_MS = 33

export class DrawSchedule {
  readonly #draw: () => void
  readonly #fx: Effects
  #drawnMs = Number.NEGATIVE_INFINITY
  #dueMs = Number.POSITIVE_INFINITY
  #waiting: AbortController | null = null

  constructor(draw: () => void, fx: Effects) {
    this.#draw = draw
    this.#fx = fx
  }

  /** Asks for a frame; several that are asked for in a while become one. No timer runs while nobody asks. */
  ask(why: 'event' | 'key'): void {
    const dueMs = this.#drawnMs + (why === 'key' ? KEY_FRAME_MS : EVENT_FRAME_MS)
    if (dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    this.#waiting?.abort()
    this.#waiting = null
    const waitMs = dueMs - this.#fx.monotonicMs()
    if (waitMs <= 0) return this.#now()
    const waiting = new AbortController()
    this.#waiting = waiting
    void this.#fx.sleep(waitMs, waiting.signal).then(() => {
      if (!waiting.signal.aborted) this.#now()
    })
  }

  /** Forgets what was asked for. */
  stop(): void {
    this.#waiting?.abort()
    this.#waiting = null
    this.#dueMs = Number.POSITIVE_INFINITY
  }

  #now(): void {
    this.stop()
    this.#drawnMs = this.#fx.monotonicMs()
    this.#draw()
  }
}
