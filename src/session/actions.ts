/**
 * Every action there is, as data: its key, its `:` form, its form in a scenario and on the command line, and when it cannot be done
 * and why. Key handlers, footer, help, the README's table and the scenario's verbs are read from here.
 */
import type { LiveQuery, SessionState, WorkspaceView } from './session-state.js'

/** What an action is judged by. */
export interface ActionContext {
  readonly state: SessionState
  readonly view: WorkspaceView | null
  /** The selected one, or the one that was named. */
  readonly query: LiveQuery | null
}

export interface Action {
  readonly name: ActionName
  /** As `tui/keys.ts` names them; none for an action without a key. */
  readonly keys: readonly string[]
  /** `query`: on the selected query. `workspace`: on all of them, or the topic. `screen`: changes only what is shown. */
  readonly on: 'query' | 'workspace' | 'screen'
  /** For the footer, a word or two. */
  readonly label: string
  /** For help and README, one line without a full stop. */
  readonly does: string
  /** After `:`, with its arguments: `kill-at [STEP] [QUERY]`. Words in capitals are arguments, in brackets if they can be left out. */
  readonly command: string | null
  /** As a line of a scenario's script. */
  readonly scenario: string | null
  /** From a shell. */
  readonly shell: string | null
  /** Why it cannot be done now, in a sentence; null when it can. */
  readonly whyNot: (context: ActionContext) => string | null
}

export type ActionName = (typeof ACTION_NAMES)[number]

export const ACTION_NAMES = [
  'arm',
  'choose-step',
  'kill',
  'start',
  'stop',
  'idempotent',
  'replay',
  'reset',
  'drop',
  'pause',
  'step',
  'slower',
  'faster',
  'pace',
  'send',
  'generate',
  'rate-up',
  'rate-down',
  'up',
  'down',
  'select',
  'zoom',
  'back',
  'rows',
  'history',
  'figures',
  'command',
  'filter',
  'help',
  'quit',
] as const

const always = (): null => null

export const ACTIONS: readonly Action[] = [
  {
    name: 'arm',
    keys: ['x'],
    on: 'query',
    label: 'kill',
    does: 'kill its next batch at the chosen step (table-committed at first); again: disarm',
    command: 'kill-at [STEP] [QUERY]',
    scenario: 'arm: { query: QUERY, step: STEP }',
    shell: 'streamtop run QUERY --crash-at STEP',
    whyNot: (context) => notOurs(context) ?? notRunning(context, 'press s to start it, then x'),
  },
  {
    name: 'choose-step',
    keys: ['X'],
    on: 'query',
    label: 'step',
    does: 'choose the step at which x kills',
    command: null,
    scenario: null,
    shell: null,
    whyNot: (context) => notOurs(context),
  },
  {
    name: 'kill',
    keys: ['K'],
    on: 'query',
    label: 'kill now',
    does: 'SIGKILL now, wherever it is',
    command: 'kill [QUERY]',
    scenario: 'kill: QUERY',
    shell: null,
    whyNot: (context) => notOurs(context) ?? notRunning(context, 'there is no process to kill'),
  },
  {
    name: 'start',
    keys: ['s'],
    on: 'query',
    label: 'start',
    does: 'start it again',
    command: 'start [QUERY]',
    scenario: 'start: QUERY',
    shell: 'streamtop run QUERY --interval 3000',
    whyNot: (context) => notOurs(context) ?? notKnown(context) ?? (hasProcess(context) ? `${nameOf(context)} is running` : null),
  },
  {
    name: 'stop',
    keys: ['S'],
    on: 'query',
    label: 'stop',
    does: 'stop it after its batch, cleanly',
    command: 'stop [QUERY]',
    scenario: 'stop: QUERY',
    shell: null,
    whyNot: (context) => notOurs(context) ?? notRunning(context, 'it has nothing to stop'),
  },
  {
    name: 'idempotent',
    keys: ['i'],
    on: 'query',
    label: 'idem',
    does: 'idempotence on or off, from the next attempt on',
    command: 'idempotent [on|off] [QUERY]',
    scenario: 'idempotent: { query: QUERY, on: true }',
    shell: 'streamtop run QUERY --idempotent',
    whyNot: (context) => notOurs(context) ?? notKnown(context),
  },
  {
    name: 'replay',
    keys: ['r'],
    on: 'query',
    label: 'replay',
    does: 'run its last batch again: its commit is taken away',
    command: 'replay [QUERY]',
    scenario: 'replay: QUERY',
    shell: 'streamtop replay QUERY',
    whyNot: (context) => notOurs(context) ?? notKnown(context) ?? nothingToReplay(context),
  },
  {
    name: 'reset',
    keys: ['R'],
    on: 'query',
    label: 'new checkpoint',
    does: 'take its checkpoint away: it begins anew, with a new id',
    command: 'reset [QUERY]',
    scenario: 'reset: QUERY',
    shell: 'streamtop reset QUERY',
    whyNot: (context) => notOurs(context) ?? notKnown(context) ?? (statusOf(context)?.id === null ? `${nameOf(context)} has no checkpoint yet` : null),
  },
  {
    name: 'drop',
    keys: ['D'],
    on: 'query',
    label: 'drop',
    does: 'drop its table and its checkpoint; asks before',
    command: 'drop [QUERY]',
    scenario: 'drop: QUERY',
    shell: 'streamtop reset QUERY && streamtop drop TABLE',
    whyNot: (context) => notOurs(context) ?? notKnown(context),
  },
  {
    name: 'pause',
    keys: ['space'],
    on: 'workspace',
    label: 'pause',
    does: 'hold every query at its next step, or let all go on',
    command: 'pause',
    scenario: 'pause: true',
    shell: null,
    whyNot: notOurs,
  },
  {
    name: 'step',
    keys: ['n'],
    on: 'query',
    label: 'one step',
    does: 'hold it, and let it go one step at each press, like a debugger',
    command: 'step [QUERY]',
    scenario: 'step: QUERY',
    shell: null,
    whyNot: (context) => notOurs(context) ?? notRunning(context, 'press s to start it, then n'),
  },
  {
    name: 'slower',
    keys: ['['],
    on: 'workspace',
    label: 'slower',
    does: 'slower: each step is held longer',
    command: null,
    scenario: null,
    shell: null,
    whyNot: notOurs,
  },
  {
    name: 'faster',
    keys: [']'],
    on: 'workspace',
    label: 'faster',
    does: 'faster, down to full speed',
    command: null,
    scenario: null,
    shell: null,
    whyNot: notOurs,
  },
  {
    name: 'pace',
    keys: [],
    on: 'workspace',
    label: 'pace',
    does: 'how fast batches go: slowest, slower, slow, brisk, fast, full',
    command: 'pace PACE',
    scenario: 'pace: PACE',
    shell: 'streamtop --pace PACE',
    whyNot: notOurs,
  },
  {
    name: 'send',
    keys: ['p'],
    on: 'workspace',
    label: 'send',
    does: 'send the next of the four parts; after the fourth six more orders',
    command: 'send [PART]',
    scenario: 'produce: PART',
    shell: 'streamtop produce --part N',
    whyNot: notOurs,
  },
  {
    name: 'generate',
    keys: ['g'],
    on: 'workspace',
    label: 'generator',
    does: 'generator of orders on or off',
    command: 'generate [on|off|RATE]',
    scenario: 'generate: RATE',
    shell: 'streamtop produce --rate R',
    whyNot: notOurs,
  },
  {
    name: 'rate-up',
    keys: ['+', '='],
    on: 'workspace',
    label: 'more',
    does: 'generator faster',
    command: null,
    scenario: null,
    shell: null,
    whyNot: notOurs,
  },
  {
    name: 'rate-down',
    keys: ['-'],
    on: 'workspace',
    label: 'less',
    does: 'generator slower',
    command: null,
    scenario: null,
    shell: null,
    whyNot: notOurs,
  },
  { name: 'up', keys: ['up', 'k'], on: 'screen', label: 'up', does: 'the query above', command: null, scenario: null, shell: null, whyNot: always },
  { name: 'down', keys: ['down', 'j'], on: 'screen', label: 'down', does: 'the query below', command: null, scenario: null, shell: null, whyNot: always },
  {
    name: 'select',
    keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    on: 'screen',
    label: 'select',
    does: 'select a query by its number',
    command: 'select QUERY',
    scenario: null,
    shell: null,
    whyNot: always,
  },
  {
    name: 'zoom',
    keys: ['enter'],
    on: 'screen',
    label: 'zoom',
    does: 'more of the query and of the log; again: the next pane',
    command: null,
    scenario: null,
    shell: null,
    whyNot: always,
  },
  { name: 'back', keys: ['escape'], on: 'screen', label: 'back', does: 'back', command: null, scenario: null, shell: null, whyNot: always },
  {
    name: 'rows',
    keys: ['t'],
    on: 'screen',
    label: 'rows',
    does: 'the newest rows of its table',
    command: 'rows [TABLE]',
    scenario: null,
    shell: 'streamtop show TABLE',
    whyNot: (context) => noTable(context),
  },
  {
    name: 'history',
    keys: ['h'],
    on: 'screen',
    label: 'history',
    does: 'the versions of its table',
    command: 'history [TABLE]',
    scenario: null,
    shell: 'streamtop history TABLE',
    whyNot: (context) => noTable(context),
  },
  {
    name: 'figures',
    keys: ['b'],
    on: 'screen',
    label: 'big figures',
    does: 'rows and distinct as big figures',
    command: 'figures',
    scenario: null,
    shell: null,
    whyNot: always,
  },
  {
    name: 'command',
    keys: [':'],
    on: 'screen',
    label: 'command',
    does: 'a command line, with tab and history',
    command: null,
    scenario: null,
    shell: null,
    whyNot: always,
  },
  {
    name: 'filter',
    keys: ['/'],
    on: 'screen',
    label: 'filter',
    does: 'show only what contains a text: queries, log, rows',
    command: 'filter [TEXT]',
    scenario: null,
    shell: null,
    whyNot: always,
  },
  { name: 'help', keys: ['?'], on: 'screen', label: 'all keys', does: 'all keys and commands', command: 'help', scenario: null, shell: 'streamtop --help', whyNot: always },
  {
    name: 'quit',
    keys: ['q', 'ctrl-c'],
    on: 'screen',
    label: 'quit',
    does: 'stop every query at a clean place and quit',
    command: 'quit',
    scenario: null,
    shell: null,
    whyNot: always,
  },
]

/** An action by its name. */
export function actionNamed(name: ActionName): Action {
  return ACTIONS.find((action) => action.name === name) as Action
}

function notOurs({ state, query }: ActionContext): string | null {
  if (state.access === 'foreign') return 'this workspace was made by another tool, most likely Spark, and is only read; --adopt takes it over'
  if (state.access === 'read-only') return 'this dashboard was started with --read-only'
  if (state.access === 'viewer') return `the queries are held by process ${state.holderPid}: do it there`
  const holder = query && query.process === 'none' ? query.heldByPid : null
  return holder === null || query === null ? null : `${query.info.name} is run by process ${holder}: do it there, or stop that first`
}

function notKnown({ query }: ActionContext): string | null {
  if (query === null) return 'no query is selected'
  return query.info.mode === null ? `${query.info.name} is a checkpoint whose query is not known here: it can only be looked at` : null
}

function notRunning(context: ActionContext, what: string): string | null {
  const unknown = notKnown(context)
  if (unknown) return unknown
  return hasProcess(context) ? null : `${nameOf(context)} is not running: ${what}`
}

function nothingToReplay(context: ActionContext): string | null {
  const status = statusOf(context)
  if (hasProcess(context)) return status && status.batchId === null ? `${nameOf(context)} has no batch yet` : null
  if (status && status.batchId === null) return `${nameOf(context)} has no batch yet`
  if (status && status.step !== null && status.step !== 'batch-committed') return `batch ${status.batchId} of ${nameOf(context)} has no commit: it runs again anyway, press s`
  return null
}

function noTable({ query }: ActionContext): string | null {
  if (query === null) return 'no query is selected'
  return query.info.table === null ? `it is not known which table ${query.info.name} writes` : null
}

function hasProcess({ query }: ActionContext): boolean {
  return query !== null && query.process !== 'none'
}

function nameOf({ query }: ActionContext): string {
  return query?.info.name ?? 'it'
}

function statusOf({ view, query }: ActionContext) {
  return view?.status.queries.find(({ name }) => name === query?.info.name) ?? null
}
