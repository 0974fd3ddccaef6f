/**
 * What can be changed while a query runs, and the `reach` that obeys it: report, die at the armed step, hold, dwell. One for both
 * runners; how to die is theirs.
 */
import type { Effects } from '../effects.js'
import type { Reach, Step, StepEvent } from './steps.js'

/** Die at this step, when it is reached for the n-th time in an attempt. */
export interface ArmedStep {
  readonly step: Step
  /** From 1. */
  readonly occurrence: number
}

/** Plain data: it crosses to a child process as JSON. */
export interface ControlSettings {
  /** From the next attempt on; null for the query's default. */
  readonly idempotent: boolean | null
  readonly armed: ArmedStep | null
  /** How long each step is held, in milliseconds. */
  readonly dwellMs: number
  /** Between the plans of two batches, in milliseconds; null for a run until it is caught up, which no change turns into the other. */
  readonly intervalMs: number | null
  /** Whether each step is held until it is let go. */
  readonly isHeld: boolean
}

export class Control {
  #settings: ControlSettings
  #changing = new AbortController()
  #stepsToGo = 0
  #isOver = false
  /** Fires when no running query writes the source any more. */
  readonly upstreamEnded: AbortSignal

  constructor(settings: ControlSettings, upstreamEnded: AbortSignal, stop: AbortSignal) {
    this.#settings = settings
    this.upstreamEnded = upstreamEnded
    stop.addEventListener('abort', () => this.#wake(), { once: true })
  }

  get settings(): ControlSettings {
    return this.#settings
  }

  /** Fires at the next change, or when the run is asked to stop; ask for it anew before each wait. */
  get changed(): AbortSignal {
    return this.#changing.signal
  }

  change(change: Partial<ControlSettings>): void {
    this.#settings = { ...this.#settings, ...change }
    if (!this.#settings.isHeld) this.#stepsToGo = 0
    this.#wake()
  }

  /** Lets a held query go on to its next step. Asked for several times before that is reached, it goes as many steps. */
  step(): void {
    this.#stepsToGo += 1
    this.#wake()
  }

  /** Whether it may leave a step at which it is held. */
  takeStep(): boolean {
    if (this.#stepsToGo === 0) return false
    this.#stepsToGo -= 1
    return true
  }

  /** The life is over, at whatever it was: a step that it reaches, or dwells at, is never left. Only for a life that no process ends with. */
  end(): void {
    this.#isOver = true
  }

  get isOver(): boolean {
    return this.#isOver
  }

  #wake(): void {
    const changing = this.#changing
    this.#changing = new AbortController()
    changing.abort()
  }
}

export interface ReachOptions {
  /** Told of every step before anything else happens, with the milliseconds of work since the step before was left. */
  readonly report: (event: StepEvent, tookMs: number) => void
  /** Told when a step is held, and when it is let go. */
  readonly onHeld: (event: StepEvent, isHeld: boolean) => void
  /** Ends this life; never returns. */
  readonly die: (event: StepEvent) => Promise<never>
  /** Lets a held query go: it ends after its batch. */
  readonly stop: AbortSignal
}

/** A `reach`, and a way to say that what passed until now was waiting and no work. */
export interface Reaching {
  readonly reach: Reach
  hasRested(): void
}

export function reachUnder(control: Control, { report, onHeld, die, stop }: ReachOptions, fx: Effects): Reaching {
  let leftMs = fx.monotonicMs()
  return {
    hasRested() {
      leftMs = fx.monotonicMs()
    },
    reach,
  }

  async function reach(event: StepEvent, syncHalf?: () => void): Promise<void> {
    if (control.isOver) await new Promise<never>(() => {})
    const reachedMs = fx.monotonicMs()
    report(event, reachedMs - leftMs)
    const { armed, isHeld, dwellMs } = control.settings
    if (armed && armed.step === event.step && armed.occurrence === event.occurrence) {
      syncHalf?.()
      await die(event)
    }
    if (isHeld || dwellMs > 0) {
      syncHalf?.()
      await dwell(event, reachedMs)
    }
    if (control.isOver) await new Promise<never>(() => {})
    leftMs = fx.monotonicMs()
  }

  async function dwell(event: StepEvent, reachedMs: number): Promise<void> {
    let wasHeld = false
    while (!stop.aborted) {
      const { isHeld, dwellMs } = control.settings
      if (isHeld && control.takeStep()) break
      if (isHeld !== wasHeld) onHeld(event, isHeld)
      wasHeld = isHeld
      const waitMs = isHeld ? LONGEST_SLEEP_MS : dwellMs - (fx.monotonicMs() - reachedMs)
      if (waitMs <= 0) break
      await fx.sleep(waitMs, control.changed)
    }
    if (wasHeld) onHeld(event, false)
  }
}

const LONGEST_SLEEP_MS = 60_000
