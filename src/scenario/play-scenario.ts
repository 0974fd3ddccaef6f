/**
 * Plays a scenario on a stage and tells what happens, line by line. Stops at the first line that fails although nobody expects it; an
 * expectation that is not met does not stop it.
 */
import type { Effects } from '../effects.js'
import { asStreamtopError, StreamtopError } from '../errors.js'
import { partRecords } from '../queries/order-parts.js'
import type { SessionAction } from '../session/session.js'
import type { LogEntry } from '../session/session-state.js'
import type { OutgoingRecord } from '../topic/topic.js'
import { meet } from './meet-expectation.js'
import type { PlayEnd, PlayError, PlayEvent } from './play-event.js'
import { subjectOf } from './play-text.js'
import type { Scenario, ScriptAction, ScriptLine, ScriptRecord, ScriptRun, ScriptWait } from './scenario.js'
import type { Stage } from './stage.js'
import { steadyText } from './steady-text.js'

/** What changes something. */
type Deed = Exclude<ScriptAction, { readonly kind: 'say' | 'expect' }>

/** No line takes longer, or the play would hang. */
const LONGEST_LINE_MS = 90_000
const POLL_MS = 25
/** What the log says of a run that the transcript need not. */
const NOT_TOLD: ReadonlySet<LogEntry['kind']> = new Set(['started', 'stopped', 'asked', 'failed'])

/** @returns the last event, which is given out too */
export async function* playScenario(scenario: Scenario, stage: Stage, fx: Effects): AsyncGenerator<PlayEvent, PlayEnd> {
  const { file, title, about, script } = scenario
  yield { kind: 'scenario', file, title, about }
  let [expectations, unmet] = [0, 0]
  let failedLine: number | null = null
  let error: PlayError | null = null
  for (const [index, { line, text, details, action }] of script.entries()) {
    if (stage.signal.aborted) break
    if (action.kind === 'say') {
      yield { kind: 'caption', line, text: action.text }
      continue
    }
    if (action.kind === 'expect') {
      const checks = await meet(action.expectation, error, stage)
      const isMet = checks.every((check) => check.isMet)
      expectations += 1
      if (!isMet) unmet += 1
      yield { kind: 'expectation', line, subject: subjectOf(action.expectation), isMet, checks }
      continue
    }
    yield { kind: 'action', line, text, details }
    const outcome = await outcomeOf(action, stage, fx)
    error = outcome.error
    yield { kind: 'outcome', line, ...outcome }
    if (error !== null && !isExpected(script.slice(index + 1))) {
      failedLine = line
      break
    }
  }
  const isMet = unmet === 0 && failedLine === null && !stage.signal.aborted
  const end: PlayEnd = { kind: 'end', isMet, expectations, unmet, failedLine }
  yield end
  return end
}

/** Whether what comes next, captions aside, expects an error. */
function isExpected(rest: readonly ScriptLine[]): boolean {
  const next = rest.find(({ action }) => action.kind !== 'say')?.action
  return next?.kind === 'expect' && next.expectation.kind === 'error'
}

async function outcomeOf(action: Deed, stage: Stage, fx: Effects): Promise<{ readonly texts: readonly string[]; readonly error: PlayError | null }> {
  const told: string[] = []
  // Of a query that has a process already, the log is that one's.
  const query = action.kind === 'run' && !hasProcess(action.query, stage) ? action.query : null
  const unsubscribe = stage.session.subscribe((message) => {
    if (message.kind === 'log' && message.entry.who === query && !NOT_TOLD.has(message.entry.kind)) told.push(message.entry.text)
  })
  try {
    const said = await withinTime(perform(action, stage, fx), stage, fx)
    const texts = told.length > 0 ? told : [said]
    return { texts: texts.map((text) => steadyText(text, stage.workspace)), error: null }
  } catch (thrown) {
    const { code, message, hint = null, condition = null } = asStreamtopError(thrown)
    const steady = (text: string) => steadyText(text, stage.workspace)
    const error = { code, message: steady(message), hint: hint === null ? null : steady(hint), condition }
    return { texts: told.map(steady), error }
  } finally {
    unsubscribe()
  }
}

async function withinTime<T>(work: Promise<T>, stage: Stage, fx: Effects): Promise<T> {
  const end = new AbortController()
  const signal = AbortSignal.any([stage.signal, end.signal])
  const late = fx.sleep(LONGEST_LINE_MS, signal).then((): T => {
    throw new StreamtopError('usage', stage.signal.aborted ? 'the play was ended' : `this took longer than ${LONGEST_LINE_MS / 1_000} s, and is not waited for`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    end.abort()
  }
}

/** What an action of a script comes to, in a sentence. */
async function perform(action: Deed, stage: Stage, fx: Effects): Promise<string> {
  const ask = (asked: SessionAction) => stage.session.perform(asked, 'scenario')
  switch (action.kind) {
    case 'produce': {
      const records = action.parts.map(partRecords)
      for (const part of records) await stage.send(part)
      return sentText(records.flat().length)
    }
    case 'produce-records':
      await stage.send(action.records.map(recordOf))
      return sentText(action.records.length)
    case 'run':
      return run(action, stage)
    case 'arm':
      return ask({ name: 'arm', query: action.query, step: action.step })
    case 'idempotent':
      return ask({ name: 'idempotent', query: action.query, isOn: action.isOn })
    case 'generate':
      return ask(action.ratePerSecond === 0 ? { name: 'generate', isOn: false } : { name: 'generate', ratePerSecond: action.ratePerSecond })
    case 'pause':
      return ask({ name: action.isOn ? 'pause' : 'resume' })
    case 'pace':
      return ask({ name: 'pace', pace: action.pace })
    case 'rest':
      await fx.sleep(action.seconds * 1_000, stage.signal)
      return `${action.seconds} s later`
    case 'wait':
      return waitFor(action, stage, fx)
    case 'lose':
      stage.lose(action.query, action.file)
      return `${action.file} of the checkpoint of ${action.query} is gone`
    default:
      return ask({ name: action.kind, query: action.query })
  }
}

/** A query that has a process is run in a second one beside it. */
async function run({ query, armed, idempotent, appId, sourceOptions, acceptGap }: ScriptRun, stage: Stage): Promise<string> {
  const once = { armed, idempotent, appId, sourceOptions, acceptGap }
  if (hasProcess(query, stage)) return stage.runBeside(query, once)
  // No other line is played before it ends.
  if (stage.session.state.isPaused)
    throw new StreamtopError('usage', 'all queries are paused, and this run would never end', {
      hint: 'write "pause: false" before it, or "start" for a query that is to wait',
    })
  return stage.session.perform({ name: 'run', query, ...once }, 'scenario')
}

function hasProcess(query: string, { session }: Stage): boolean {
  return session.state.queries.some(({ info, process }) => info.name === query && process !== 'none')
}

async function waitFor({ query, until, withinSeconds }: ScriptWait, stage: Stage, fx: Effects): Promise<string> {
  const patienceMs = withinSeconds * 1_000
  const beganMs = fx.monotonicMs()
  while (!stage.signal.aborted) {
    if (await isSo(query, until, stage)) return `${query} is ${until.replace('-', ' ')}`
    if (fx.monotonicMs() - beganMs >= patienceMs) {
      throw new StreamtopError('step-not-reached', `${query} was not ${until} within ${withinSeconds} s`)
    }
    await fx.sleep(POLL_MS, stage.signal)
  }
  return ''
}

async function isSo(query: string, until: ScriptWait['until'], stage: Stage): Promise<boolean> {
  const live = stage.session.state.queries.find(({ info }) => info.name === query)
  if (live === undefined) throw new StreamtopError('unknown-query', `there is no query ${query}`)
  switch (until) {
    case 'held':
      return live.heldAt !== null
    case 'waiting':
      return live.isWaitingForSource
    case 'caught-up': {
      const status = (await stage.status()).queries.find(({ name }) => name === query)
      return status !== undefined && status.lag === 0 && status.offsets.length > 0 && status.offsets[0] === status.commits[0]
    }
    default:
      return live.process === 'none' && live.ending?.kind === until
  }
}

function recordOf(record: ScriptRecord): OutgoingRecord {
  if (record === null) return { key: null, value: null }
  if (typeof record === 'string') return { key: null, value: Buffer.from(record) }
  const id = record['order_id'] ?? null
  return { key: id === null ? null : Buffer.from(String(id)), value: Buffer.from(JSON.stringify(record)) }
}

function sentText(count: number): string {
  return `${count === 1 ? '1 record' : `${count} records`} sent to topic orders`
}
