/** Where a query's newest batch is, step by step: as its process told it, or as much as the disk tells. Pure. */
import { type Step, STEPS } from '../engine/steps.js'
import type { LiveAttempt, LiveQuery, ReachedStep } from '../session/session-state.js'
import type { StepShape } from './glyphs.js'
import { isAlive, type Subject } from './subject.js'

export interface BatchSteps {
  /** Null when there was no batch yet. */
  readonly batchId: number | null
  /** From 1; null when it is not known. */
  readonly attempt: number | null
  readonly steps: Readonly<Record<Step, ShownStep>>
  /** The last step that was reached. */
  readonly last: Step | null
  /** Of an attempt that writes more than once: which write the writing steps are of. */
  readonly write: { readonly number: number; readonly table: string | null } | null
  /** How it ended, of a step at which it died. */
  readonly death: 'KILLED' | 'DIED' | 'FAILED'
  /** Milliseconds of work of the whole attempt; null when nobody measured it. */
  readonly tookMs: number | null
  /** Whether a process told it, or the disk. */
  readonly isSeenLive: boolean
}

export interface ShownStep {
  readonly shape: StepShape
  readonly tookMs: number | null
}

export function batchStepsOf(subject: Subject): BatchSteps {
  const { live, status } = subject
  const { attempt } = live
  if (attempt !== null && isNewest(attempt, subject)) return stepsOfAttempt(attempt, subject)
  const last = status?.step ?? null
  // Of a batch whose rows nobody has counted yet it is known that it is logged, and not where it died.
  const known = last ?? (status === null || status.batchId === null ? null : 'offsets-logged')
  const reached = known === null ? -1 : STEPS.indexOf(known)
  const isDead = last !== null && !isAlive(subject) && (status?.state === 'killed' || status?.state === 'failed') && last !== 'batch-committed'
  return {
    batchId: status?.batchId ?? null,
    attempt: status?.batchAttempts.at(-1)?.attempt ?? null,
    steps: shownSteps((step, index) => {
      if (index > reached) return { shape: live.armed?.step === step ? 'armed' : 'unreached', tookMs: null }
      return { shape: index === reached && isDead ? 'died' : 'reached', tookMs: null }
    }),
    last,
    write: null,
    death: status?.state === 'failed' ? 'FAILED' : 'KILLED',
    tookMs: null,
    isSeenLive: false,
  }
}

/** An attempt that this session saw is passed over when the disk has something newer: another process ran it, or its commit was taken away. */
function isNewest({ batchId, steps, isDead }: LiveAttempt, { live, status, isNewerThanView }: Subject): boolean {
  if (live.process !== 'none' || status === null || isNewerThanView) return true
  if (live.heldByPid !== null || status.batchId === null || status.batchId > batchId) return false
  const isCommitted = steps.at(-1)?.event.step === 'batch-committed'
  return !(status.batchId === batchId && isCommitted && !isDead && status.step !== 'batch-committed')
}

function stepsOfAttempt({ batchId, attempt, steps, isDead }: LiveAttempt, { live }: Subject): BatchSteps {
  const { reached, number, count } = ofNewestWrite(steps)
  const last = steps.at(-1)?.event ?? null
  const lastIndex = last === null ? -1 : STEPS.indexOf(last.step)
  const { armed, heldAt } = live
  return {
    batchId,
    attempt,
    steps: shownSteps((step, index) => {
      const tookMs = reached.get(step) ?? null
      if (index === lastIndex) return { shape: isDead ? 'died' : heldAt?.step === step ? 'held' : 'reached', tookMs }
      if (index < lastIndex) return { shape: reached.has(step) ? 'reached' : 'passed', tookMs }
      return { shape: armed?.step === step && !isDead ? 'armed' : 'unreached', tookMs }
    }),
    last: last?.step ?? null,
    write: count > 1 || (count === 1 && mayWriteAgain(live, last?.step ?? null)) ? { number, table: lastTable(steps) } : null,
    death: live.ending?.kind === 'failed' ? 'FAILED' : live.ending?.kind === 'died' ? 'DIED' : 'KILLED',
    tookMs: steps.length === 0 ? null : steps.reduce((sum, { tookMs }) => sum + tookMs, 0),
    isSeenLive: true,
  }
}

/** The native sink writes once, rejected records with it; a batch that is committed has written all it writes. */
function mayWriteAgain({ info }: LiveQuery, last: Step | null): boolean {
  return info.mode !== 'append' && info.writes.length > 1 && last !== 'batch-committed'
}

/** The writing steps are reached again with each write, which ends at `table-committed`: those of the newest write count. */
function ofNewestWrite(steps: readonly ReachedStep[]): { reached: Map<Step, number>; number: number; count: number } {
  const reached = new Map<Step, number>()
  let number = 1
  let count = 0
  let isOver = false
  for (const { event, tookMs } of steps) {
    if (event.table !== undefined) {
      if (isOver) {
        for (const step of WRITING) reached.delete(step)
        number += 1
        isOver = false
      }
      count = number
      isOver = event.step === 'table-committed'
    }
    reached.set(event.step, tookMs)
  }
  return { reached, number, count }
}

const WRITING: readonly Step[] = ['mid-write', 'files-written', 'version-linked', 'table-committed']

function lastTable(steps: readonly ReachedStep[]): string | null {
  return steps.findLast(({ event }) => event.table !== undefined)?.event.table ?? null
}

function shownSteps(show: (step: Step, index: number) => ShownStep): Record<Step, ShownStep> {
  return Object.fromEntries(STEPS.map((step, index) => [step, show(step, index)])) as Record<Step, ShownStep>
}
