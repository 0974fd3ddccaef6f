/**
 * Every action there is, as data: its key, its `:` form, its form in a scenario and on the command line, and when it cannot be done
 * and why. Key handlers, footer, help, the README's table and the scenario's verbs are read from here.
 */
import { QUERY_ACTIONS } from './query-actions.js'
import { SCREEN_ACTIONS } from './screen-actions.js'
import { SCRIPT_ONLY } from './script-only.js'
import type { ActionContext } from './why-not.js'
import { WORKSPACE_ACTIONS } from './workspace-actions.js'

export type { ActionContext }

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
  readonly scenario: ScriptForm | null
  /** From a shell. */
  readonly shell: string | null
  /** Why it cannot be done now, in a sentence; null when it can. */
  readonly whyNot: (context: ActionContext) => string | null
}

/** How a scenario's script says it: its docs, its schema and what an error calls it. */
export interface ScriptForm {
  readonly verb: ScriptVerb
  /** Lines as examples, without the dash. */
  readonly lines: readonly string[]
  /** Without a full stop. */
  readonly does: string
}

export type ScriptVerb = (typeof SCRIPT_VERBS)[number]

/** In the order in which docs and errors list them. */
export const SCRIPT_VERBS = [
  ...(['say', 'produce', 'generate', 'run', 'start', 'stop', 'kill', 'arm', 'step', 'idempotent', 'replay', 'reset', 'drop'] as const),
  ...(['lose', 'wait', 'expect', 'pause', 'pace'] as const),
] as const

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
  'step',
  'pause',
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
  'picture',
  'help',
  'quit',
] as const

export const ACTIONS: readonly Action[] = [...QUERY_ACTIONS, ...WORKSPACE_ACTIONS, ...SCREEN_ACTIONS]

/** An action by its name. */
export function actionNamed(name: ActionName): Action {
  return ACTIONS.find((action) => action.name === name) as Action
}

/** How a scenario says a verb: an action of the table, or what only a script can say. */
export function scriptForm(verb: ScriptVerb): ScriptForm {
  const forms = [...ACTIONS.map(({ scenario }) => scenario), ...SCRIPT_ONLY]
  return forms.find((form) => form?.verb === verb) as ScriptForm
}
