/**
 * What can be changed while a query runs, and the `reach` that obeys it: report, die at the armed step, dwell. One for both
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

export interface Control {
  /** From the next attempt on; null for the query's default. */
  idempotent: boolean | null
  armed: ArmedStep | null
  /** How long each step is held, in milliseconds. */
  dwellMs: number
  /** Fires when no running query writes the source any more. */
  readonly upstreamEnded: AbortSignal
}

/**
 * @param report told of every step before anything else happens
 * @param die ends this life; never returns
 */
export function reachUnder(
  control: Control,
  report: (event: StepEvent) => void,
  die: (event: StepEvent) => Promise<never>,
  stop: AbortSignal,
  fx: Effects,
): Reach {
  return async (event, syncHalf) => {
    report(event)
    const { armed } = control
    if (armed && armed.step === event.step && armed.occurrence === event.occurrence) {
      syncHalf?.()
      await die(event)
    }
    if (control.dwellMs > 0) {
      syncHalf?.()
      await fx.sleep(control.dwellMs, stop)
    }
  }
}
