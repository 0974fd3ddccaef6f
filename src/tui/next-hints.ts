/** What can be done next with a query, most useful first: which key, and what will come of it. Pure. */
import { forecastOf } from '../observe/forecast.js'
import { actionNamed, type ActionName } from '../session/actions.js'
import type { Model } from './model.js'
import { isForetold } from './play-state.js'
import { isLeftPending, type Subject } from './subject.js'

export interface Hint {
  /** As it is pressed. */
  readonly key: string
  readonly text: string
}

/** None where nothing can be done: a workspace that is only read, a query that another process runs or whose code is not known. */
export function nextHints(subject: Subject, model: Model): readonly Hint[] {
  const { state } = model
  if (state === null || state.access !== 'owner' || subject.live.info.mode === null) return []
  return isNew(subject, state.isFirstStart) ? firstHints(subject) : hintsOf(subject, isForetold(model))
}

/** In an empty workspace, until the query has died or stopped for the first time. */
function isNew({ live, status, condition }: Subject, isFirstStart: boolean): boolean {
  const isHarmed = status?.verdict === 'duplicated' || status?.verdict === 'missing'
  return isFirstStart && live.ending === null && (status?.replays ?? 0) === 0 && !isHarmed && FIRST.has(condition.name)
}

const FIRST: ReadonlySet<string> = new Set(['starting', 'waiting', 'running'])

function firstHints({ name }: Subject): readonly Hint[] {
  return [hint('arm', `kills the next batch of ${name}`), hint('start', 'starts it again'), hint('help', 'for the rest')]
}

function hintsOf(subject: Subject, isForetold: boolean): readonly Hint[] {
  const { condition, live, status } = subject
  const newest = status?.batchAttempts.at(-1)
  switch (condition.name) {
    case 'failed':
      if (readsAnotherSource(subject)) return [hint('reset', `a new checkpoint, then s: it reads the new ${live.info.source?.kind} from its beginning`)]
      return [hint('start', 'try it again'), ...(isForetold ? beforeTheNextAttempt(subject) : [])]
    case 'killed':
    case 'stopped':
      return [hint('start', isLeftPending(subject) ? 'start it and see' : 'start it again'), ...(isForetold ? beforeTheNextAttempt(subject) : [])]
    case 'idle':
      return [hint('start', 'start it')]
    case 'paused':
      return [hint('step', 'one step of this one'), hint('pause', 'all go on'), hint('kill', 'kill it right here')]
    case 'held':
      return [hint('step', 'its next step'), hint('kill', 'kill it right here')]
    case 'waiting':
      return live.unreachable === null ? [hint('send', 'send orders')] : []
    case 'armed':
      return [hint('arm', 'let it live')]
    case 'running':
      // A skip that left rows out was the trap itself.
      if (newest?.outcome === 'already-committed' && (newest.leftOutRows ?? 0) === 0) return [hint('reset', 'a new checkpoint: does the table skip that too?')]
      if (status?.verdict === 'duplicated' && !live.idempotent)
        return [hint('idempotent', 'idempotence on, then kill it and start it again'), hint('drop', 'begin anew')]
      if (status?.verdict === 'duplicated' || status?.verdict === 'missing') return [hint('drop', 'drop its table and begin anew')]
      return [hint('arm', `kill its next batch at ${live.killStep}`), hint('choose-step', 'at another step')]
    default:
      return []
  }
}

/** Its source was dropped and made again: every start fails until it has a new checkpoint. */
function readsAnotherSource({ live, status }: Subject): boolean {
  const error = live.ending?.error ?? status?.lastError ?? null
  return live.info.source?.kind === 'topic' ? error?.code === 'source-changed' : error?.condition === 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE'
}

/** Whether switching idempotence would change what becomes of a batch that is written and not committed. */
function beforeTheNextAttempt(subject: Subject): readonly Hint[] {
  const { status, live } = subject
  if (status === null || !isLeftPending(subject) || status.step === 'offsets-logged') return []
  const [asItIs, switched] = [live.idempotent, !live.idempotent].map((idempotentNext) => forecastOf(status, { idempotentNext }))
  if (asItIs?.kind === 'duplicated' && switched?.kind === 'duplicated' && !live.idempotent) {
    const why = switched.because === 'untagged' ? `: batch ${status.batchId} was written without a txn` : ''
    return [hint('idempotent', `will not help now${why}`)]
  }
  if (asItIs?.kind === 'duplicated' && switched?.kind !== 'duplicated') return [hint('idempotent', 'idempotence on: nothing is written twice')]
  if (asItIs?.kind !== 'duplicated' && switched?.kind === 'duplicated') return [hint('idempotent', 'off would write its rows again')]
  return []
}

function hint(name: ActionName, text: string): Hint {
  return { key: actionNamed(name).keys[0] ?? name, text }
}
