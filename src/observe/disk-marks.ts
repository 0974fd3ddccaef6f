/**
 * Whether something on disk is as it was at an earlier look, told from sizes and times alone. Times have a grain, so a file that was
 * written a moment ago could be written again and look the same: such marks are not settled, and nobody goes by them.
 */
import type { Effects } from '../effects.js'

/** Far above the grain of times on local file systems: 4 ms on Linux where the kernel's tick is long. */
const SETTLED_MS = 100

export class DiskMarks {
  readonly #fx: Effects
  readonly #nowMs: number
  readonly #marks: string[] = []
  #isSettled = true

  /** Made before anything is read that the marks are to stand for. */
  constructor(fx: Effects) {
    this.#fx = fx
    this.#nowMs = fx.nowMs()
  }

  /** Takes note of files and folders; a folder's time tells what was made in it and removed from it. */
  add(...paths: readonly string[]): this {
    for (const path of paths) {
      const status = this.#fx.files.status(path)
      this.#marks.push(status === null ? '-' : `${status.size} ${status.modifiedMs}`)
      if (status !== null && status.modifiedMs > this.#nowMs - SETTLED_MS) this.#isSettled = false
    }
    return this
  }

  /** Takes note of what was found otherwise. */
  addText(text: string): this {
    this.#marks.push(text)
    return this
  }

  /** The marks as a text to be compared with an earlier one; null when they are not settled. */
  text(): string | null {
    return this.#isSettled ? this.#marks.join('|') : null
  }
}

/** A value that is made again only when its marks have changed or are not settled. */
export class MarkedValue<T> {
  #known: { readonly mark: string; readonly value: T } | null = null

  get(mark: string | null, make: () => T): T {
    if (mark !== null && this.#known?.mark === mark) return this.#known.value
    const value = make()
    this.#known = mark === null ? null : { mark, value }
    return value
  }
}
