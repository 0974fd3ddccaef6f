/** What the reducer's tests begin with and press: the queries of `models.ts`, in a model that the reducer itself has made. */
import type { QueryStatus, Status } from '../../src/observe/status.js'
import type { LiveQuery, QueryInfo, SessionState, WorkspaceView } from '../../src/session/session-state.js'
import type { KeyPress } from '../../src/tui/keys.js'
import type { Size } from '../../src/tui/line.js'
import type { Effect, Input, Model } from '../../src/tui/model.js'
import { initialModel, reduce } from '../../src/tui/reduce.js'
import { modelWith, NOW_MS } from './models.js'

/** A whole second. */
export const START_MS = NOW_MS

const { state: STATE, view: VIEW } = modelWith({ state: { generator: { isOn: true, ratePerSecond: 1 }, isFirstStart: false } })
if (STATE === null || VIEW === null) throw new Error('the models of the tests have a state and a view')
const [BRONZE, COPY, ORDERS] = STATE.queries as readonly [LiveQuery, LiveQuery, LiveQuery]
const STATUS = VIEW.status

/** Three queries that run: `bronze_orders`, `events_copy` and `orders`. */
export function sessionState(change: Partial<SessionState> = {}): SessionState {
  return { ...(STATE as SessionState), ...change }
}

/** The same session with another `events_copy`. */
export function withCopy(change: Partial<LiveQuery>): SessionState {
  return sessionState({ queries: [BRONZE, { ...COPY, ...change }, ORDERS] })
}

/** The same session with so many queries, and each with what is given for it. */
export function withInfos(...infos: readonly Partial<QueryInfo>[]): SessionState {
  return sessionState({ queries: infos.map((info, index) => ({ ...COPY, info: { ...(STATE?.queries[index] ?? COPY).info, ...info } })) })
}

/** A look at the disk so many milliseconds after the start, with so many records in the topic. */
export function workspaceView(afterMs: number, records: number | string, change: Partial<Status> = {}): WorkspaceView {
  const topics: Status['topics'] = [{ name: 'orders', kind: 'embedded', partitions: 1, endOffsets: { '0': String(records) } }]
  return { takenAtMs: START_MS + afterMs, status: { ...STATUS, topics, ...change }, detail: null }
}

/** The same look with other figures of `events_copy`. */
export function viewOfCopy(change: Partial<QueryStatus>): WorkspaceView {
  return workspaceView(0, 57, { queries: STATUS.queries.map((status) => (status.name === 'events_copy' ? { ...status, ...change } : status)) })
}

/** The model after a session has begun and was looked at once, and then after the inputs. */
export function modelAfter(...inputs: readonly Input[]): Model {
  const begun: readonly Input[] = [
    { kind: 'state', state: sessionState() },
    { kind: 'view', view: workspaceView(0, 57) },
  ]
  return [...begun, ...inputs].reduce((model, input) => reduce(model, input).model, initialModel(START_MS))
}

export interface Pressed {
  readonly model: Model
  /** Of all keys together, in order. */
  readonly effects: readonly Effect[]
}

/** Presses keys one after the other; a text in quotes is typed: `: "pace full" enter`. */
export function press(model: Model, keys: string, size?: Size): Pressed {
  return keysOf(keys).reduce<Pressed>(
    (pressed, key) => {
      const { model: next, effects } = reduce(pressed.model, { kind: 'key', key }, size)
      return { model: next, effects: [...pressed.effects, ...effects] }
    },
    { model, effects: [] },
  )
}

/** The model after the keys. */
export function after(model: Model, keys: string, size?: Size): Model {
  return press(model, keys, size).model
}

function keysOf(keys: string): KeyPress[] {
  return [...keys.matchAll(/"([^"]*)"|(\S+)/g)].flatMap(([, typed, name]) => {
    if (name !== undefined) return [{ name }]
    return [...(typed ?? '')].map((character) => ({ name: character === ' ' ? 'space' : character }))
  })
}
