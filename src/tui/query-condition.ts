/** What a query is doing, for people: of its process if the session has one or saw it end, else of what is on disk. */
import type { LiveQuery } from '../session/session-state.js'
import type { QueryState, QueryStatus } from '../observe/status.js'
import type { Tone } from './line.js'

export type ConditionName =
  | 'unknown'
  | 'starting'
  | 'running'
  | 'armed'
  | 'waiting'
  | 'paused'
  | 'held'
  | 'stopping'
  | 'killed'
  | 'failed'
  | 'stopped'
  | 'idle'
  /** Another process runs it. */
  | 'elsewhere'

export interface Condition {
  readonly name: ConditionName
  readonly word: string
  /** For where the word has no room. */
  readonly letter: string
  readonly tone: Tone
}

/** @param status null when nobody has looked yet, or the query is not on disk */
export function conditionOf(live: LiveQuery, status: QueryStatus | null, isPaused: boolean): Condition {
  if (live.process === 'starting') return CONDITIONS.starting
  if (live.process === 'stopping') return CONDITIONS.stopping
  if (live.process === 'running') {
    if (live.isWaitingForSource) return CONDITIONS.waiting
    if (live.isHeld) return isPaused ? CONDITIONS.paused : CONDITIONS.held
    return live.armed === null ? CONDITIONS.running : CONDITIONS.armed
  }
  const holderPid = live.heldByPid ?? status?.pid ?? null
  if (live.heldByPid !== null || (live.ending === null && holderPid !== null)) return { ...CONDITIONS.elsewhere, word: `pid ${holderPid}` }
  if (live.ending === null) return status === null ? CONDITIONS.unknown : CONDITIONS[OF_STATUS[status.state]]
  if (live.ending.kind === 'killed') return CONDITIONS.killed
  if (live.ending.kind === 'died') return { ...CONDITIONS.killed, word: 'DIED', letter: 'D' }
  if (live.ending.kind === 'failed') return CONDITIONS.failed
  return status?.state === 'idle' ? CONDITIONS.idle : CONDITIONS.stopped
}

const CONDITIONS: Readonly<Record<ConditionName, Condition>> = {
  unknown: { name: 'unknown', word: 'looking', letter: '-', tone: 'text' },
  starting: { name: 'starting', word: 'starts', letter: 'R', tone: 'flight' },
  running: { name: 'running', word: 'running', letter: 'R', tone: 'alive' },
  armed: { name: 'armed', word: 'armed', letter: 'A', tone: 'flight' },
  waiting: { name: 'waiting', word: 'waiting', letter: 'W', tone: 'flight' },
  paused: { name: 'paused', word: 'paused', letter: 'P', tone: 'flight' },
  held: { name: 'held', word: 'held', letter: 'H', tone: 'flight' },
  stopping: { name: 'stopping', word: 'stops', letter: 'S', tone: 'flight' },
  killed: { name: 'killed', word: 'KILLED', letter: 'K', tone: 'dead' },
  failed: { name: 'failed', word: 'FAILED', letter: 'F', tone: 'dead' },
  stopped: { name: 'stopped', word: 'stopped', letter: 'S', tone: 'text' },
  idle: { name: 'idle', word: 'idle', letter: 'I', tone: 'text' },
  elsewhere: { name: 'elsewhere', word: 'pid', letter: 'P', tone: 'alive' },
}

/** A status without a process that still says running is of a process that was there a moment ago. */
const OF_STATUS: Readonly<Record<QueryState, ConditionName>> = {
  running: 'running',
  waiting: 'waiting',
  paused: 'paused',
  killed: 'killed',
  failed: 'failed',
  stopped: 'stopped',
  idle: 'idle',
}
