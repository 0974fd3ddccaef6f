/** Does what is asked of a session, or says in a sentence why it cannot be done now. */
import { type ErrorCode, StreamtopError } from '../errors.js'
import { counted } from '../observe/counted.js'
import { type ActionName, actionNamed } from './actions.js'
import type { Looks } from './looks.js'
import type { SessionAction } from './session.js'
import type { SessionQuery } from './session-query.js'
import type { LogEntry, SessionState } from './session-state.js'
import type { Sent, WorkspaceService } from './workspace-service.js'

/** What is changed of a session as a whole. */
export interface SessionToChange {
  readonly state: SessionState
  readonly service: WorkspaceService
  update(change: Partial<Pick<SessionState, 'isPaused' | 'generator'>>): SessionState
  setPace(name: string): SessionState
  send(part: number | null): Promise<Sent>
  touched(): void
  log(who: string, words: Pick<LogEntry, 'kind' | 'text'>): void
}

type QueryAction = Extract<SessionAction, { readonly query: string }>
type WorkspaceAction = Exclude<SessionAction, QueryAction>

const MOST_RECORDS_PER_SECOND = 50_000

/** The action of the table by which each is judged. */
const JUDGED_AS: Readonly<Partial<Record<SessionAction['name'], ActionName>>> = { run: 'start', disarm: 'arm', 'kill-step': 'choose-step', resume: 'pause' }

/** What the process says of itself in the log, or what would only fill it. */
const NOT_LOGGED: ReadonlySet<SessionAction['name']> = new Set(['run', 'start', 'stop', 'kill', 'kill-step', 'step'])

export class Performer {
  readonly #queries: readonly SessionQuery[]
  readonly #looks: Looks
  readonly #session: SessionToChange

  constructor(queries: readonly SessionQuery[], looks: Looks, session: SessionToChange) {
    this.#queries = queries
    this.#looks = looks
    this.#session = session
  }

  /** Resolves to what happened; rejects with why it cannot be done. */
  async perform(action: SessionAction, by: string): Promise<string> {
    const said = 'query' in action ? await this.#ofQuery(action, by) : await this.#ofWorkspace(action)
    if (!NOT_LOGGED.has(action.name)) this.#session.log('you', { kind: 'asked', text: `${by}: ${said}` })
    return said
  }

  async #ofQuery(action: QueryAction, by: string): Promise<string> {
    const query = this.#queries.find(({ name }) => name === action.query) ?? null
    if (query === null) {
      // An unknown checkpoint is judged too: the table says why nothing can be done with it.
      this.#judge(action)
      throw this.#unknown(action.query)
    }
    if (action.name === 'kill') {
      this.#judge(action)
      return this.#do(action, query, by)
    }
    if (action.name === 'run') {
      // Begun in its turn and not waited for in it: a step or a stop is asked for while it runs.
      const { outcome } = await query.inTurn(async () => {
        this.#judge(action)
        return { outcome: query.run(action, by) }
      })
      return outcome
    }
    return query.inTurn(async () => {
      // What is on disk decides, and the newest look may be older than what was done since.
      if (action.name === 'replay' || action.name === 'reset') await this.#looks.fresh()
      this.#judge(action)
      return this.#do(action, query, by)
    })
  }

  async #do(action: Exclude<QueryAction, { readonly name: 'run' }>, query: SessionQuery, by: string): Promise<string> {
    const { name, live } = query
    const { service } = this.#session
    switch (action.name) {
      case 'start':
        query.start(by)
        return `${name} starts`
      case 'stop':
        await query.stop(by)
        return stoppedText(query)
      case 'kill':
        await query.kill(by)
        return `${name} is killed`
      case 'arm': {
        const step = action.step ?? live.killStep
        if (live.armed?.step === step) return disarmed(query)
        query.arm(step, by)
        return `${name} dies at ${step} of its next batch`
      }
      case 'disarm':
        return live.armed === null ? `${name} was not armed` : disarmed(query)
      case 'kill-step':
        query.chooseKillStep(action.step)
        return `x kills ${name} at ${action.step}`
      case 'idempotent': {
        const isOn = action.isOn ?? !live.idempotent
        query.makeIdempotent(isOn)
        return `idempotence of ${name} is ${isOn ? 'on' : 'off'} from its next attempt on`
      }
      case 'step':
        return query.step()
      case 'replay': {
        const batchId = await query.whileStopped(by, () => service.replay(name))
        this.#session.touched()
        return `the commit of batch ${batchId} of ${name} is taken away: it runs again`
      }
      case 'reset': {
        const isReset = await query.whileStopped(by, () => service.reset(name))
        this.#session.touched()
        return isReset ? `the checkpoint of ${name} is gone: it begins anew, with a new id` : `${name} has no checkpoint: there was nothing to remove`
      }
      case 'drop': {
        const dropped = await query.whileStopped(by, () => service.drop(name))
        this.#session.touched()
        return this.#droppedText(name, dropped)
      }
    }
  }

  async #ofWorkspace(action: WorkspaceAction): Promise<string> {
    this.#judge(action)
    const { state } = this.#session
    switch (action.name) {
      case 'pause':
        for (const query of this.#queries) query.pause(true)
        this.#session.update({ isPaused: true })
        return 'every query is held at its next step, and the generator waits'
      case 'resume':
        for (const query of this.#queries) {
          if (state.isPaused) query.pause(false)
          else query.letGo()
        }
        this.#session.update({ isPaused: false })
        return state.isPaused ? 'every query goes on as before' : 'every query goes on, no longer step by step'
      case 'pace': {
        const { pace } = this.#session.setPace(action.pace)
        for (const query of this.#queries) query.changePace(pace.dwellMs, pace.intervalMs)
        return `pace ${pace.name}: ${pace.dwellMs} ms a step, a batch ${pace.intervalMs === 0 ? 'as soon as there is something new' : `every ${pace.intervalMs / 1_000} s`}`
      }
      case 'send': {
        const sent = await this.#session.send(action.part ?? null)
        return sent.part === null ? `${counted(sent.records, 'generated order')} sent` : `part ${sent.part} sent, ${counted(sent.records, 'record')}`
      }
      case 'generate':
        return this.#generate(action)
    }
  }

  #generate(action: Extract<WorkspaceAction, { readonly name: 'generate' }>): string {
    const { generator } = this.#session.state
    const rate = action.ratePerSecond ?? generator.ratePerSecond
    if (!(rate >= 0) || rate > MOST_RECORDS_PER_SECOND) {
      throw new StreamtopError('usage', `the generator cannot send ${rate} orders a second`, { hint: `give a number from 0 to ${MOST_RECORDS_PER_SECOND}` })
    }
    const isOn = rate > 0 && (action.isOn ?? (action.ratePerSecond !== undefined || !generator.isOn))
    this.#session.update({ generator: { isOn, ratePerSecond: rate === 0 ? generator.ratePerSecond : rate } })
    return isOn ? `generator ${rate < 10 ? rate.toFixed(1) : rate} orders/s` : 'generator off'
  }

  /** @throws when the table of actions says that it cannot be done now */
  #judge(action: SessionAction): void {
    const { state } = this.#session
    const query = 'query' in action ? (state.queries.find(({ info }) => info.name === action.query) ?? null) : null
    if ('query' in action && query === null) throw this.#unknown(action.query)
    const why = actionNamed(JUDGED_AS[action.name] ?? (action.name as ActionName)).whyNot({ state, view: this.#looks.newest, query })
    if (why !== null) throw new StreamtopError(this.#codeOf(query?.heldByPid ?? null), why)
  }

  #codeOf(heldByPid: number | null): ErrorCode {
    const { access } = this.#session.state
    if (access === 'foreign') return 'foreign-workspace'
    return access === 'viewer' || (access === 'owner' && heldByPid !== null) ? 'concurrent-query' : 'usage'
  }

  #unknown(name: string): StreamtopError {
    const names = this.#session.state.queries.map(({ info }) => info.name)
    return new StreamtopError('unknown-query', `there is no query ${name}`, { hint: `the queries are ${names.join(', ')}` })
  }

  /** Names who breaks. */
  #droppedText(name: string, dropped: readonly string[]): string {
    const readers = this.#queries
      .filter(({ live: { info } }) => info.source?.kind === 'table' && dropped.includes(info.source.name))
      .map((reader) => reader.name)
    const gone = dropped.length === 0 ? `${name} had no table; its checkpoint is gone` : `${dropped.join(', ')} dropped, with the checkpoint of ${name}`
    if (readers.length === 0) return gone
    return `${gone}; ${readers.join(' and ')} read${readers.length === 1 ? 's' : ''} it and stop${readers.length === 1 ? 's' : ''} when it is made again`
  }
}

/** It may have had to be killed, or have failed before it could stop. */
function stoppedText({ name, live: { ending } }: SessionQuery): string {
  if (ending?.kind === 'killed') return `${name} did not stop and is killed`
  return ending?.kind === 'failed' ? `${name} has failed before it stopped` : `${name} is stopped`
}

function disarmed(query: SessionQuery): string {
  query.disarm()
  return `${query.name} is no longer to die`
}
