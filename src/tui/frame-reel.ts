/** Frames of a recording, no more of them and no closer to each other than a picture that moves has use for. Pure. */
import type { TimedFrame } from './animated-svg.js'

/** Three a second show what happens; people cannot read more. */
export const LEAST_GAP_MS = 333
/** So many of them are a story of three minutes. */
const MOST_FRAMES = 600

export class FrameReel {
  #frames: TimedFrame[] = []
  #gapMs = LEAST_GAP_MS

  get frames(): readonly TimedFrame[] {
    return this.#frames
  }

  /** Between two frames. */
  get gapMs(): number {
    return this.#gapMs
  }

  /** Takes the next frame. It stands in for one that was shown only a moment, so that the newest is always there. */
  add(frame: TimedFrame): void {
    const last = this.#frames.at(-1)
    if (last !== undefined && frame.atMs - last.atMs < this.#gapMs) this.#frames[this.#frames.length - 1] = { ...frame, atMs: last.atMs }
    else this.#frames.push(frame)
    if (this.#frames.length > MOST_FRAMES) this.thin()
  }

  /** Leaves frames out: they are twice as far from each other then. */
  thin(): void {
    this.#gapMs *= 2
    const frames = this.#frames
    this.#frames = []
    for (const frame of frames) this.add(frame)
  }
}
