/** Who plays a scenario beside the dashboard: takes its next line when the model asks for it, and tells what came of it. */
import type { PlayEnd, PlayEvent } from '../scenario/play-event.js'
import type { PausableClock } from '../scenario/pausable-clock.js'

export class PlayConductor {
  readonly #events: AsyncGenerator<PlayEvent, PlayEnd>
  readonly #clock: PausableClock
  readonly #end: () => void
  #tell: (event: PlayEvent) => void = () => {}
  #fail: (error: unknown) => void = () => {}
  #waiting: AbortController | null = null
  #isUnderWay = false
  #isOver = false

  /**
   * @param events of the play, which runs on the clock
   * @param end ends the line that is under way
   */
  constructor(events: AsyncGenerator<PlayEvent, PlayEnd>, clock: PausableClock, end: () => void) {
    this.#events = events
    this.#clock = clock
    this.#end = end
  }

  /** Tells the first event, and from then on what `next` asks for. Never resolves; rejects with what the play cannot go on from. */
  begin(tell: (event: PlayEvent) => void): Promise<never> {
    this.#tell = tell
    void this.#take()
    return new Promise((_, reject) => {
      this.#fail = reject
    })
  }

  /** The next event after so many milliseconds, or sooner when it is asked for again. */
  next(afterMs: number): void {
    if (this.#isUnderWay || this.#isOver) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    void this.#clock.fx.sleep(afterMs, waiting.signal).then(() => {
      if (!waiting.signal.aborted) return this.#take()
    })
  }

  /** Nothing goes on until `goOn`. */
  pause(): void {
    this.#clock.pause()
  }

  goOn(): void {
    this.#clock.goOn()
  }

  /** For good. What the line under way has begun goes on by itself: a query that was started runs. */
  stop(): void {
    this.#isOver = true
    this.#waiting?.abort()
    this.#end()
  }

  async #take(): Promise<void> {
    this.#isUnderWay = true
    try {
      const { value, done } = await this.#events.next()
      this.#isUnderWay = false
      if (!done && !this.#isOver) this.#tell(value)
    } catch (error) {
      if (!this.#isOver) this.#fail(error)
    }
  }
}
