/**
 * The eight moments of an attempt, in order: the protocol, and the only progress there is. Each is reached after a durable
 * effect, so that "died at STEP" says exactly what lies on disk. Tests loop over this list, the dashboard draws it.
 */
import type { WriteKind } from '../store/moments.js'

export const STEPS = ['planned', 'offsets-logged', 'rows-read', 'mid-write', 'files-written', 'version-linked', 'table-committed', 'batch-committed'] as const

export type Step = (typeof STEPS)[number]

/** Where a batch is. */
export interface StepEvent {
  readonly step: Step
  readonly batchId: number
  readonly attempt: number
  /** The table of a write step. */
  readonly table?: string
  /** Of a write step: how it writes. */
  readonly kind?: WriteKind
  /** 1 for the first time this attempt reaches the step, 2 for the second write, and so on. */
  readonly occurrence: number
  /** Of `table-committed`: what the write came to. */
  readonly outcome?: 'committed' | 'already-committed' | 'unchanged'
}

/**
 * Called after each durable effect. It may report, dwell, wait for a key, or never return because the process was killed.
 * `syncHalf` is given at `mid-write` alone: it syncs the half file for a runner that means to stop there.
 */
export type Reach = (event: StepEvent, syncHalf?: () => void) => Promise<void>
