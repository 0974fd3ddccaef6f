/** A line of the `:` prompt as what it asks for, or as what is wrong with it. Pure. */
import { STEPS, type Step } from '../engine/steps.js'
import {
  COMMAND_FORMS,
  kindName,
  type CommandAction,
  type CommandForm,
  type KnownNames,
  listed,
  meantWord,
  openSlots,
  type Slot,
  wordsOf,
} from './command-words.js'

/** An action with what it is to be done to; without a query to the selected one. */
export interface ActionRequest {
  readonly action: CommandAction
  readonly query?: string
  readonly step?: Step
  readonly isOn?: boolean
  readonly pace?: string
  /** 1 to 4. */
  readonly part?: number
  readonly ratePerSecond?: number
  readonly table?: string
  /** To filter by. */
  readonly text?: string
  readonly theme?: string
  /** The place of a query in the list, from 1. */
  readonly number?: number
}

export type ParsedCommand =
  | { readonly kind: 'request'; readonly request: ActionRequest; readonly verb: string }
  /** An empty line. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly message: string }

/** More orders a second than one process sends. */
const MOST_PER_SECOND = 1_000

/** A word may be the beginning of the only one that it can be; a leading `:` is taken as none. */
export function parseCommand(line: string, names: KnownNames): ParsedCommand {
  const [, word = '', rest = ''] = /^[\s:]*(\S*)\s*(.*)$/s.exec(line) ?? []
  if (word === '') return { kind: 'nothing' }
  const verbs = COMMAND_FORMS.map(({ verb }) => verb)
  const meant = meantWord(word, verbs, 'command')
  if ('error' in meant) return { kind: 'error', message: meant.error }
  const form = COMMAND_FORMS.find(({ verb }) => verb === meant.word) as CommandForm
  const parsed = parseArguments(form, rest.trim(), names)
  return 'error' in parsed ? { kind: 'error', message: parsed.error } : { kind: 'request', request: { ...parsed, action: form.action }, verb: form.verb }
}

type Found = Omit<ActionRequest, 'action'>
type Failed = { readonly error: string }

function parseArguments(form: CommandForm, text: string, names: KnownNames): Found | Failed {
  if (form.slots[0]?.alternatives.includes('TEXT')) return { text }
  if (form.slots[0]?.alternatives.includes('FILE')) return text === '' ? { error: `${form.verb} needs the name of a file` } : { text }
  let found: Found = {}
  let filled = 0
  for (const word of text === '' ? [] : text.split(/\s+/)) {
    const open = openSlots(form, filled)
    if (open.length === 0) return { error: `${word} is too much: ${form.form}` }
    const placed = place(word, open, names)
    if ('error' in placed) return placed
    found = { ...found, ...placed.found }
    filled += placed.slot + 1
  }
  const missing = form.slots.slice(filled).find(({ isOptional }) => !isOptional)
  if (missing === undefined) return found
  const words = missing.alternatives.flatMap((alternative) => wordsOf(alternative, names))
  return { error: `${form.verb} needs a ${listed(missing.alternatives.map(kindName), 'or')}${words.length === 0 ? '' : `: ${listed(words, 'or')}`}` }
}

/** Which of the open slots a word fills, and with what. A whole word goes before the beginning of one. */
function place(word: string, open: readonly Slot[], names: KnownNames): { readonly slot: number; readonly found: Found } | Failed {
  const choices = open.flatMap(({ alternatives }, slot) => alternatives.map((alternative) => ({ slot, alternative, words: wordsOf(alternative, names) })))
  const numbered = choices.find(({ alternative }) => alternative === 'RATE')
  if (numbered && /^\d+(\.\d+)?$/.test(word)) return rateOf(word, numbered.slot)
  const kind = listed([...new Set(choices.map(({ alternative }) => kindName(alternative)))], 'or')
  const meant = meantWord(
    word,
    choices.flatMap(({ words }) => words),
    kind,
  )
  if ('error' in meant) return meant
  const choice = choices.find(({ words }) => words.includes(meant.word))
  return choice ? { slot: choice.slot, found: foundOf(choice.alternative, meant.word) } : { error: `there is no ${kind} ${word}` }
}

function rateOf(word: string, slot: number): { readonly slot: number; readonly found: Found } | Failed {
  const ratePerSecond = Number(word)
  if (ratePerSecond > 0 && ratePerSecond <= MOST_PER_SECOND) return { slot, found: { isOn: true, ratePerSecond } }
  return ratePerSecond === 0 ? { slot, found: { isOn: false } } : { error: `${word} orders a second are too many: at most ${MOST_PER_SECOND}` }
}

function foundOf(alternative: string, word: string): Found {
  switch (alternative) {
    case 'STEP':
      return { step: STEPS.find((step) => step === word) as Step }
    case 'QUERY':
      return { query: word }
    case 'TABLE':
      return { table: word }
    case 'PACE':
      return { pace: word }
    case 'PART':
      return { part: Number(word) }
    case 'THEME':
      return { theme: word }
    default:
      return { isOn: word === 'on' }
  }
}
