/** The time of a recording: that of the screen, without what is longer than a pause in which nothing happens on it. Pure. */
import { readingMs } from '../scenario/reading-time.js'

/** Longer than this nobody looks at a screen on which nothing happens. */
export const LONGEST_PAUSE_MS = 2_000

export class RecordingClock {
  #seenMs: number | null = null
  #recordedMs = 0
  /** Until then time goes on, of the same clock as `seenMs`. */
  #goesOnUntilMs = 0

  /** How long the recording is so far, in milliseconds. */
  get lengthMs(): number {
    return this.#recordedMs
  }

  /** How long the recording is at a moment, in milliseconds. Moments come in order; a clock that was set back stands still. */
  at(nowMs: number): number {
    const seenMs = this.#seenMs ?? nowMs
    if (nowMs < seenMs) this.#goesOnUntilMs -= seenMs - nowMs
    else this.#recordedMs += Math.max(0, Math.min(nowMs, this.#goesOnUntilMs) - seenMs)
    this.#seenMs = nowMs
    return this.#recordedMs
  }

  /** Something has happened on the screen. */
  happened(nowMs: number): void {
    this.#goOn(nowMs, LONGEST_PAUSE_MS)
  }

  /** A text is shown that people need their time for. */
  read(text: string, nowMs: number): void {
    this.#goOn(nowMs, Math.max(LONGEST_PAUSE_MS, readingMs(text, 1)))
  }

  #goOn(nowMs: number, durationMs: number): void {
    this.at(nowMs)
    this.#goesOnUntilMs = Math.max(this.#goesOnUntilMs, nowMs + durationMs)
  }
}
