/** Chunks of a keyboard to keys, with the timer that tells an escape from the beginning of a sequence. */
import type { Effects } from '../effects.js'
import { KeyDecoder } from './decode-keys.js'
import type { KeyPress } from './keys.js'

export class KeyReader {
  readonly #decoder = new KeyDecoder()
  readonly #press: (key: KeyPress) => void
  readonly #fx: Effects
  #silence = new AbortController()

  constructor(press: (key: KeyPress) => void, fx: Effects) {
    this.#press = press
    this.#fx = fx
  }

  take(chunk: Uint8Array | string): void {
    this.#give(this.#decoder.push(chunk))
  }

  /** What is held back is never given. */
  stop(): void {
    this.#silence.abort()
  }

  #give(keys: readonly KeyPress[]): void {
    this.#silence.abort()
    for (const key of keys) this.#press(key)
    const { waitMs } = this.#decoder
    if (waitMs === null) return
    const silence = new AbortController()
    this.#silence = silence
    void this.#fx.sleep(waitMs, silence.signal).then(() => {
      if (!silence.signal.aborted) this.#give(this.#decoder.flush())
    })
  }
}
