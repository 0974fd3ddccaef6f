/** What each action does to the model, and what it asks of the session. A key and a `:` command come to the same request. Pure. */
import { ACTIONS, type ActionContext, type ActionName, actionNamed } from '../session/actions.js'
import type { SessionAction } from '../session/session.js'
import { type LiveQuery, PACES, type SessionState } from '../session/session-state.js'
import { listed } from './command-words.js'
import type { Effect, Model, Reduced, Screen } from './model.js'
import type { ActionRequest } from './parse-command.js'
import { selectShown, shownQueries } from './select.js'

interface Asked {
  readonly model: Model
  readonly request: ActionRequest
  /** The key or the command, for the log. */
  readonly by: string
  /** The query that is meant. */
  readonly query: LiveQuery | null
}

/** With everything that a session is asked about its queries and its topic. */
interface AskedOfSession extends Asked {
  readonly state: SessionState
}

interface AskedOfQuery extends AskedOfSession {
  readonly query: LiveQuery
}

/** Does what was asked for, or says why it cannot be done now. */
export function act(model: Model, request: ActionRequest, by: string): Reduced {
  if (request.action === 'theme') return { model, effects: [{ kind: 'theme', name: request.theme ?? 'default' }] }
  const name = request.query ?? model.selected
  const query = model.state?.queries.find(({ info }) => info.name === name) ?? null
  const asked: Asked = { model, request, by, query }
  const whyNot = whyNotNow(request, asked)
  if (whyNot !== null) return refused(model, whyNot)
  const { action } = request
  if (isIn(ON_SCREEN, action)) return ON_SCREEN[action](asked)
  const { state } = model
  if (state === null) return refused(model, NOT_OPEN)
  // Help is a list of keys to press: the answer is to be seen on the screen below it.
  const seen = model.screen.kind === 'help' ? { ...model, screen: MAIN, message: null } : cleared(model)
  if (isIn(ON_WORKSPACE, action)) return ON_WORKSPACE[action]({ ...asked, model: seen, state })
  return query === null ? refused(model, 'no query is selected') : ON_QUERY[action]({ ...asked, model: seen, state, query })
}

function isIn<Name extends string>(actions: Readonly<Record<Name, unknown>>, action: string): action is Name {
  return action in actions
}

export function refused(model: Model, text: string): Reduced {
  return unasked({ ...model, message: { kind: 'refused', text, atMs: model.nowMs } })
}

export function unasked(model: Model): Reduced {
  return { model, effects: NOTHING }
}

const NOTHING: readonly Effect[] = []
const NOT_OPEN = 'the workspace is not open yet'
const MAIN: Screen = { kind: 'main' }

type ScreenAction = 'up' | 'down' | 'select' | 'zoom' | 'back' | 'rows' | 'history' | 'figures' | 'command' | 'filter' | 'picture' | 'help' | 'quit'
type WorkspaceAction = 'pause' | 'slower' | 'faster' | 'pace' | 'send' | 'generate' | 'rate-up' | 'rate-down'
type QueryAction = Exclude<ActionName, ScreenAction | WorkspaceAction>

function whyNotNow({ action, table }: ActionRequest, { model: { state, view }, query }: Asked): string | null {
  // A table that was named needs no query.
  if (action === 'theme' || table !== undefined) return null
  if (state === null) return isIn(ON_SCREEN, action) && action !== 'rows' && action !== 'history' ? null : NOT_OPEN
  const context: ActionContext = { state, view, query }
  return actionNamed(action).whyNot(context)
}

const ON_QUERY: Readonly<Record<QueryAction, (asked: AskedOfQuery) => Reduced>> = {
  arm: (asked) => {
    const { request, query } = asked
    const name = query.info.name
    if (request.step !== undefined) return performed(asked, { name: 'arm', query: name, step: request.step })
    return performed(asked, { name: query.armed === null ? 'arm' : 'disarm', query: name })
  },
  'choose-step': ({ model, query }) => unasked({ ...model, chooser: { query: query.info.name, step: query.killStep } }),
  kill: (asked) => performed(asked, { name: 'kill', query: asked.query.info.name }),
  start: (asked) => performed(asked, { name: 'start', query: asked.query.info.name }),
  stop: (asked) => performed(asked, { name: 'stop', query: asked.query.info.name }),
  step: (asked) => performed(asked, { name: 'step', query: asked.query.info.name }),
  replay: (asked) => performed(asked, { name: 'replay', query: asked.query.info.name }),
  reset: (asked) => performed(asked, { name: 'reset', query: asked.query.info.name }),
  idempotent: (asked) => {
    const { isOn } = asked.request
    return performed(asked, { name: 'idempotent', query: asked.query.info.name, ...(isOn === undefined ? {} : { isOn }) })
  },
  drop: ({ model, query, state, by }) =>
    unasked({ ...model, confirm: { question: dropQuestion(query, state.queries), action: { name: 'drop', query: query.info.name }, by } }),
}

const ON_WORKSPACE: Readonly<Record<WorkspaceAction, (asked: AskedOfSession) => Reduced>> = {
  pause: (asked) => performed(asked, { name: asked.state.isPaused || asked.state.queries.some(({ isHeld }) => isHeld) ? 'resume' : 'pause' }),
  slower: (asked) => {
    const slower = PACES.filter(({ dwellMs }) => dwellMs > asked.state.pace.dwellMs).at(-1)
    return slower ? performed(asked, { name: 'pace', pace: slower.name }) : refused(asked.model, 'slower than this there is only n, one step at a press')
  },
  faster: (asked) => {
    const faster = PACES.find(({ dwellMs }) => dwellMs < asked.state.pace.dwellMs)
    return faster ? performed(asked, { name: 'pace', pace: faster.name }) : refused(asked.model, 'it is full speed already')
  },
  pace: (asked) => performed(asked, { name: 'pace', pace: asked.request.pace ?? asked.state.pace.name }),
  send: (asked) => {
    const { part } = asked.request
    return performed(asked, { name: 'send', ...(part === undefined ? {} : { part }) })
  },
  generate: (asked) => {
    const { isOn, ratePerSecond } = asked.request
    return performed(asked, { name: 'generate', ...(isOn === undefined ? {} : { isOn }), ...(ratePerSecond === undefined ? {} : { ratePerSecond }) })
  },
  'rate-up': (asked) => {
    const { ratePerSecond } = asked.state.generator
    const faster = RATES.find((rate) => rate > ratePerSecond)
    return faster === undefined
      ? refused(asked.model, 'the generator sends no faster than this')
      : performed(asked, { name: 'generate', isOn: true, ratePerSecond: faster })
  },
  'rate-down': (asked) => {
    const { isOn, ratePerSecond } = asked.state.generator
    const slower = RATES.filter((rate) => rate < ratePerSecond).at(-1)
    return slower === undefined
      ? refused(asked.model, 'slower than this there is only g, off')
      : performed(asked, { name: 'generate', isOn, ratePerSecond: slower })
  },
}

/** Orders a second, as `+` and `-` go. */
const RATES: readonly number[] = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

const ON_SCREEN: Readonly<Record<ScreenAction, (asked: Asked) => Reduced>> = {
  up: ({ model }) => unasked(selectShown(model, -1)),
  down: ({ model }) => unasked(selectShown(model, 1)),
  select: selectNamed,
  zoom: ({ model }) => {
    const { screen } = model
    if (screen.kind === 'zoom' && screen.pane === 'events') return unasked({ ...model, screen: MAIN })
    return unasked({ ...model, screen: { kind: 'zoom', pane: screen.kind === 'zoom' ? 'events' : 'logs', scroll: 0 } })
  },
  back: ({ model }) => {
    if (model.screen.kind !== 'main') return unasked({ ...model, screen: MAIN })
    if (model.filter !== '') return unasked({ ...model, filter: '' })
    return unasked(cleared(model))
  },
  rows: (asked) => openTable(asked, 'rows'),
  history: (asked) => openTable(asked, 'history'),
  figures: ({ model }) => unasked({ ...model, screen: model.screen.kind === 'figures' ? MAIN : { kind: 'figures' } }),
  command: ({ model }) => unasked({ ...cleared(model), prompt: { kind: 'command', text: '', cursor: 0, historyIndex: null } }),
  filter: ({ model, request: { text } }) => {
    if (text !== undefined) return unasked(selectShown({ ...model, filter: text }, 0))
    return unasked({ ...cleared(model), prompt: { kind: 'filter', text: model.filter, cursor: [...model.filter].length, historyIndex: null } })
  },
  picture: ({ model, request: { text = '' } }) => ({ model: cleared(model), effects: [{ kind: 'picture', path: text }] }),
  help: ({ model }) => unasked({ ...model, screen: model.screen.kind === 'help' ? MAIN : { kind: 'help', scroll: 0 } }),
  quit: ({ model }) => ({ model: model.isQuitting ? model : { ...model, isQuitting: true }, effects: [{ kind: 'quit' }] }),
}

function performed({ model, by }: Asked, action: SessionAction): Reduced {
  return { model, effects: [{ kind: 'perform', action, by }] }
}

function cleared(model: Model): Model {
  return model.message === null ? model : { ...model, message: null }
}

/** A screen of a table goes on with the table of the query that is selected now. */
function selectNamed(asked: Asked): Reduced {
  const { model, request } = asked
  const queries = model.state?.queries ?? []
  const query = request.number === undefined ? asked.query : queries[request.number - 1]
  if (!query) return refused(model, request.number === undefined ? 'there are no queries yet' : `there is no query ${request.number}`)
  const { name, table } = query.info
  if (!shownQueries(model).includes(query)) return refused(model, `the filter hides ${name}: esc shows all`)
  const selecting: Model = model.selected === name ? model : { ...model, selected: name }
  const { screen } = model
  if ((screen.kind === 'rows' || screen.kind === 'history') && table !== null && table !== screen.table) {
    return openTable({ ...asked, model: selecting, request: { action: screen.kind, table }, query }, screen.kind)
  }
  return unasked(selecting)
}

/** Its key again closes it. */
function openTable({ model, request, query }: Asked, kind: 'rows' | 'history'): Reduced {
  const table = request.table ?? query?.info.table
  if (table === undefined || table === null) return refused(model, 'no query is selected')
  if (request.table === undefined && model.screen.kind === kind) return unasked({ ...model, screen: MAIN })
  return {
    model: { ...cleared(model), screen: { kind, table, content: null, scroll: 0 } },
    effects: [{ kind: kind === 'rows' ? 'read-rows' : 'read-history', table }],
  }
}

function dropQuestion({ info }: LiveQuery, queries: readonly LiveQuery[]): string {
  const tables = info.writes.length > 0 ? info.writes : info.table === null ? [] : [info.table]
  const dropped = tables.length === 0 ? '' : `${tables.length === 1 ? 'table' : 'tables'} ${listed(tables, 'and')} and `
  const readers = queries.filter((reader) => reader.info.name !== info.name && reader.info.source?.kind === 'table' && tables.includes(reader.info.source.name))
  const names = readers.map((reader) => reader.info.name)
  const breaks =
    names.length === 0 ? 'No other query reads it.' : `${listed(names, 'and')} ${names.length === 1 ? 'reads it and breaks' : 'read it and break'}.`
  return `Drop ${dropped}the checkpoint of ${info.name}? ${breaks}`
}

/** The action that a key stands for. */
export function requestOfKey(name: string): ActionRequest | null {
  const action = KEYS.get(name)
  if (action === undefined) return null
  return action === 'select' ? { action, number: Number(name) } : { action }
}

const KEYS: ReadonlyMap<string, ActionName> = new Map(ACTIONS.flatMap(({ name, keys }) => keys.map((key) => [key, name] as const)))
