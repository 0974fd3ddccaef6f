/** The words of the `:` line: which commands there are, what may stand behind each, and what a word stands for. */
import { nearestName } from '../engine/nearest-name.js'
import { STEPS } from '../engine/steps.js'
import { ACTIONS, type ActionName } from '../session/actions.js'
import { PACES } from '../session/session-state.js'
import type { Model } from './model.js'
import { THEME_CHOICES } from './theme.js'

/** What a command asks for: an action of the table, or another look. */
export type CommandAction = ActionName | 'theme'

export interface CommandForm {
  readonly action: CommandAction
  /** `kill-at` */
  readonly verb: string
  /** `kill-at [STEP] [QUERY]` */
  readonly form: string
  readonly slots: readonly Slot[]
}

/** A place for an argument. */
export interface Slot {
  /** Words in capitals stand for a kind of word, others for themselves: `on`, `off`, `RATE`. */
  readonly alternatives: readonly string[]
  readonly isOptional: boolean
}

/** The command that is no action of a session: what it does for the help is beside it. */
export const THEME_FORM = 'theme THEME'
export const THEME_DOES = `other colours: ${THEME_CHOICES.join(', ')}`

/** Every command, in the order of the actions. */
export const COMMAND_FORMS: readonly CommandForm[] = [
  ...ACTIONS.flatMap(({ name, command }) => (command === null ? [] : [formOf(name, command)])),
  formOf('theme', THEME_FORM),
]

function formOf(action: CommandAction, form: string): CommandForm {
  const [verb = '', ...slots] = form.split(' ')
  return {
    action,
    verb,
    form,
    slots: slots.map((slot) => ({ alternatives: slot.replace(/[[\]]/g, '').split('|'), isOptional: slot.startsWith('[') })),
  }
}

/** The names that a line may use. */
export interface KnownNames {
  readonly queries: readonly string[]
  readonly tables: readonly string[]
}

export function knownNames({ state, view }: Pick<Model, 'state' | 'view'>): KnownNames {
  const queries = state?.queries ?? []
  const written = queries.flatMap(({ info }) => (info.table === null ? info.writes : [info.table, ...info.writes]))
  return {
    queries: queries.map(({ info }) => info.name),
    tables: [...new Set([...written, ...(view?.status.tables ?? []).map(({ name }) => name)])],
  }
}

/** The words that an alternative allows, as far as they can be listed. */
export function wordsOf(alternative: string, names: KnownNames): readonly string[] {
  switch (alternative) {
    case 'STEP':
      return STEPS
    case 'QUERY':
      return names.queries
    case 'TABLE':
      return names.tables
    case 'PACE':
      return PACES.map(({ name }) => name)
    case 'PART':
      return ['1', '2', '3', '4']
    case 'THEME':
      return THEME_CHOICES
    case 'RATE':
    case 'TEXT':
    case 'FILE':
      return []
    default:
      return [alternative]
  }
}

/** The slots that the next argument may fill when `filled` of them are behind it: up to the first that cannot be left out. */
export function openSlots({ slots }: CommandForm, filled: number): readonly Slot[] {
  const required = slots.findIndex((slot, index) => index >= filled && !slot.isOptional)
  return slots.slice(filled, required === -1 ? slots.length : required + 1)
}

/** What an alternative is called in a sentence. */
export function kindName(alternative: string): string {
  return alternative === 'RATE' ? 'number of orders a second' : alternative.toLowerCase()
}

/**
 * The word that was meant: itself, or the only one that it begins. Several that it begins are an error, and so is none: then the
 * nearest is named.
 */
export function meantWord(word: string, words: readonly string[], kind: string): { readonly word: string } | { readonly error: string } {
  if (words.includes(word)) return { word }
  const begun = words.filter((known) => known.startsWith(word))
  const [first] = begun
  if (first !== undefined && begun.length === 1) return { word: first }
  if (first !== undefined) return { error: `${word} can be ${listed(begun, 'or')}` }
  // Of two letters everything short is near.
  const nearest = word.length > 2 ? nearestName(word, words) : null
  if (nearest !== null) return { error: `there is no ${kind} ${word}; did you mean ${nearest}?` }
  return { error: `there is no ${kind} ${word}${words.length === 0 ? '' : `; there ${words.length === 1 ? 'is' : 'are'} ${listed(words, 'and')}`}` }
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(words: readonly string[], conjunction: 'or' | 'and'): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}
