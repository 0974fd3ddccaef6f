/** What arrives at the topic by itself: the four parts of a first start, and then the generator. */
import type { Effects } from '../effects.js'
import type { WorkspaceService } from './workspace-service.js'

const PARTS = [1, 2, 3, 4]
/** Many records a second go in few sends. */
const SHORTEST_PAUSE_MS = 50
/** How often a generator that has nothing to do looks whether it has. */
const LONGEST_PAUSE_MS = 60_000
const RECORDS_OF_SEND = 5_000
/** What is due longer than that is not made up for: the machine is too slow, or was asleep. */
const LONGEST_DEBT_MS = 1_000

/** A broker that is down is asked again so often. */
const PAUSE_AFTER_FAILURE_MS = 1_000

export interface OrderFlow {
  readonly isOn: boolean
  readonly ratePerSecond: number
  readonly isPaused: boolean
}

/** Sends generated orders while it is on, at a rate that may change, until the signal fires. */
export class Generator {
  readonly #service: WorkspaceService
  readonly #onError: (error: unknown) => boolean
  readonly #onSent: () => void
  readonly #fx: Effects
  #flow: OrderFlow
  #change = new AbortController()

  /** @param onError told why something could not be sent; whether it is to be tried again */
  constructor(service: WorkspaceService, flow: OrderFlow, onSent: () => void, onError: (error: unknown) => boolean, fx: Effects) {
    this.#service = service
    this.#flow = flow
    this.#onSent = onSent
    this.#onError = onError
    this.#fx = fx
  }

  set(flow: OrderFlow): void {
    this.#flow = flow
    this.#change.abort()
  }

  async run(end: AbortSignal): Promise<void> {
    end.addEventListener('abort', () => this.#change.abort(), { once: true })
    while (!end.aborted) {
      if (this.#change.signal.aborted) this.#change = new AbortController()
      const { isOn, isPaused, ratePerSecond } = this.#flow
      if (isOn && !isPaused && ratePerSecond > 0) await this.#sendAt(ratePerSecond, this.#change.signal)
      else await this.#fx.sleep(LONGEST_PAUSE_MS, this.#change.signal)
    }
  }

  /** Until something is changed, or cannot be sent. */
  async #sendAt(ratePerSecond: number, changed: AbortSignal): Promise<void> {
    let sinceMs = this.#fx.monotonicMs()
    while (!changed.aborted) {
      const waitMs = Math.max(SHORTEST_PAUSE_MS, sinceMs + 1_000 / ratePerSecond - this.#fx.monotonicMs())
      await this.#fx.sleep(Math.min(waitMs, LONGEST_PAUSE_MS), changed)
      if (changed.aborted) return
      const nowMs = this.#fx.monotonicMs()
      const due = Math.floor(((nowMs - sinceMs) / 1_000) * ratePerSecond + 1e-6)
      if (due === 0) continue
      sinceMs = nowMs - sinceMs > LONGEST_DEBT_MS + 1_000 / ratePerSecond ? nowMs : sinceMs + (due / ratePerSecond) * 1_000
      try {
        await this.#service.generate(Math.min(due, RECORDS_OF_SEND))
        this.#onSent()
      } catch (error) {
        if (!this.#onError(error)) return
        await this.#fx.sleep(PAUSE_AFTER_FAILURE_MS, changed)
        // What was due meanwhile is not made up for.
        sinceMs = this.#fx.monotonicMs()
      }
    }
  }
}

/**
 * Sends the four parts one after the other.
 * @param wasSent whether a part was sent by somebody else meanwhile
 * @param send sends a part
 * @param untilTaken resolves when the part was taken out of the topic, or when it is time for the next all the same
 */
export async function sendParts(
  wasSent: (part: number) => boolean,
  send: (part: number) => Promise<unknown>,
  untilTaken: () => Promise<void>,
  end: AbortSignal,
): Promise<void> {
  for (const part of PARTS) {
    if (end.aborted) return
    if (wasSent(part)) continue
    await send(part)
    await untilTaken()
  }
}
