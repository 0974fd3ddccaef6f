/** A query of a session as plain data, and how it changes with what its process tells. Pure. */
import type { QueryEvent } from '../engine/events.js'
import type { Ending } from '../engine/runner.js'
import type { StepEvent } from '../engine/steps.js'
import { statusErrorOf } from '../observe/status-error.js'
import type { QueryStatus } from '../observe/status.js'
import type { LiveEnding, LiveQuery, QueryInfo } from './session-state.js'

/** A query that nobody has started yet. */
export function newLiveQuery(info: QueryInfo): LiveQuery {
  return {
    info,
    process: 'none',
    pid: null,
    heldByPid: null,
    isWaitingForSource: false,
    unreachable: null,
    isHeld: false,
    heldAt: null,
    killStep: 'table-committed',
    armed: null,
    idempotent: info.idempotentByDefault,
    attempt: null,
    ending: null,
  }
}

/** After an event of its process. */
export function afterEvent(query: LiveQuery, event: QueryEvent, nowMs: number): LiveQuery {
  switch (event.kind) {
    case 'started':
      return query.process === 'starting' ? { ...query, process: 'running' } : query
    case 'waiting':
      return { ...query, isWaitingForSource: true, unreachable: event.reason ?? null }
    case 'working':
      return query.isWaitingForSource ? { ...query, isWaitingForSource: false, unreachable: null } : query
    case 'held':
      return { ...query, heldAt: event.isHeld ? event.at : null }
    case 'step':
      return afterStep(query, event.event, event.tookMs, nowMs)
    default:
      return query
  }
}

function afterStep(query: LiveQuery, event: StepEvent, tookMs: number, nowMs: number): LiveQuery {
  const { attempt } = query
  const isSame = attempt !== null && !attempt.isDead && attempt.batchId === event.batchId && attempt.attempt === event.attempt && event.step !== 'planned'
  const steps = [...(isSame ? attempt.steps : []), { event, tookMs, atMs: nowMs }]
  const beganAtMs = isSame ? attempt.beganAtMs : nowMs
  return { ...query, attempt: { batchId: event.batchId, attempt: event.attempt, steps, isDead: false, beganAtMs } }
}

/** Who asked for an end: for a kill at the armed step, for one now, for a stop. Null is nobody. */
export interface AskedBy {
  readonly arm: string | null
  readonly kill: string | null
  readonly stop: string | null
}

/** After its process has ended. */
export function afterEnding(query: LiveQuery, ending: Ending, askedBy: AskedBy, nowMs: number): LiveQuery {
  const pending = pendingStep(query)
  const isDead = ending.kind !== 'ended' && pending !== null
  return {
    ...query,
    process: 'none',
    pid: null,
    isWaitingForSource: false,
    unreachable: null,
    heldAt: null,
    armed: null,
    attempt: isDead && query.attempt !== null ? { ...query.attempt, isDead } : query.attempt,
    ending: endingOf(ending, pending, askedBy, query.pid, nowMs),
  }
}

function endingOf(ending: Ending, pending: StepEvent | null, askedBy: AskedBy, pid: number | null, atMs: number): LiveEnding {
  const none = { atMs, pid, at: pending, by: null, error: null }
  switch (ending.kind) {
    case 'ended':
      return { ...none, kind: 'stopped', at: null, by: askedBy.stop }
    case 'killed':
      return { ...none, kind: 'killed', at: ending.at, by: askedBy.arm }
    case 'died':
      return { ...none, kind: askedBy.kill === null ? 'died' : 'killed', by: askedBy.kill }
    case 'failed':
      return { ...none, kind: 'failed', error: statusErrorOf(ending.error) }
  }
}

/** The last step that its process reached in a batch that it has not finished; null between two batches. */
export function pendingStep({ process, attempt }: LiveQuery): StepEvent | null {
  const last = process === 'none' || attempt === null || attempt.isDead ? undefined : attempt.steps.at(-1)?.event
  return last === undefined || last.step === 'batch-committed' ? null : last
}

/** With what the newest look says of who else runs it. `ownPid`: of a process of this session that the look may still have seen. */
export function afterLook(query: LiveQuery, status: QueryStatus | null, ownPid: number | null): LiveQuery {
  const isOwn = query.process !== 'none' || status === null || status.pid === ownPid
  const heldByPid = isOwn ? null : status.pid
  const info = query.info.mode === null && status !== null ? unknownInfo(query.info, status) : query.info
  return heldByPid === query.heldByPid && info === query.info ? query : { ...query, heldByPid, info }
}

/** Of a checkpoint whose query is not known: what its offsets and its table tell. */
function unknownInfo(info: QueryInfo, { source, sink }: QueryStatus): QueryInfo {
  const table = sink?.name ?? null
  const isSame = info.table === table && info.source?.kind === source?.kind && info.source?.name === source?.name
  return isSame ? info : { ...info, source, table }
}
