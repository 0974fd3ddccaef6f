/**
 * When a session looks at its workspace: soon after something changed on disk, at most every 150 ms, and every second otherwise, so
 * that the work of other processes is seen. One look at a time. A look that saw nothing new is told every few seconds, for its time.
 */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { WorkspaceView } from './session-state.js'

const SHORTEST_PAUSE_MS = 150
const LONGEST_PAUSE_MS = 1_000
/** A look that saw nothing new is told after so long all the same: how old the picture is can be seen. */
const TOLD_AGAIN_MS = 5_000

export class Looks {
  readonly #take: () => Promise<WorkspaceView>
  readonly #tell: (view: WorkspaceView, isNew: boolean) => void
  readonly #fail: (error: Error) => void
  readonly #fx: Effects
  readonly #end = new AbortController()
  #wake = new AbortController()
  #isWanted = false
  #waiting: { resolve(view: WorkspaceView): void; reject(error: Error): void }[] = []
  #newest: { readonly view: WorkspaceView; readonly text: string } | null = null
  #toldAtMs = Number.NEGATIVE_INFINITY
  #failure: string | null = null

  /** @param tell hears of every look, and whether it is to be told: it differs from the one before, or that was told long ago */
  constructor(take: () => Promise<WorkspaceView>, tell: (view: WorkspaceView, isNew: boolean) => void, fail: (error: Error) => void, fx: Effects) {
    this.#take = take
    this.#tell = tell
    this.#fail = fail
    this.#fx = fx
  }

  get newest(): WorkspaceView | null {
    return this.#newest?.view ?? null
  }

  /** Looks until `end`. */
  async run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const beganMs = this.#fx.monotonicMs()
      await this.#look()
      const tookMs = this.#fx.monotonicMs() - beganMs
      // A large workspace is looked at less often, so that half of the time is left for other requests.
      await this.#sleep(Math.max(SHORTEST_PAUSE_MS - tookMs, tookMs), this.#end.signal)
      if (!this.#isWanted) await this.#sleep(LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS, this.#wake.signal)
    }
    for (const { reject } of this.#waiting.splice(0)) reject(sessionHasEnded())
  }

  /** Something has changed. */
  request(): void {
    this.#isWanted = true
    this.#wake.abort()
  }

  /** A look that begins after now. */
  fresh(): Promise<WorkspaceView> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.request()
    })
  }

  end(): void {
    this.#end.abort()
    this.#wake.abort()
  }

  async #look(): Promise<void> {
    this.#isWanted = false
    if (!this.#end.signal.aborted) this.#wake = new AbortController()
    const waiting = this.#waiting.splice(0)
    try {
      const view = await this.#take()
      const text = JSON.stringify({ ...view, takenAtMs: 0 })
      const isNew = text !== this.#newest?.text || view.takenAtMs - this.#toldAtMs >= TOLD_AGAIN_MS
      if (isNew) this.#toldAtMs = view.takenAtMs
      this.#newest = { view, text }
      this.#failure = null
      this.#tell(view, isNew)
      for (const { resolve } of waiting) resolve(view)
    } catch (error) {
      // Said once, not every second.
      if (this.#failure !== (error as Error).message && !this.#end.signal.aborted) this.#fail(error as Error)
      this.#failure = (error as Error).message
      for (const { reject } of waiting) reject(error as Error)
    }
  }

  async #sleep(durationMs: number, signal: AbortSignal): Promise<void> {
    if (durationMs > 0) await this.#fx.sleep(durationMs, signal)
  }
}

export function sessionHasEnded(): StreamtopError {
  return new StreamtopError('usage', 'this session has ended: nothing more is done in it')
}
