/** What tab does on the `:` line, and what it offers. Pure. */
import { COMMAND_FORMS, type CommandForm, type KnownNames, openSlots, wordsOf } from './command-words.js'

export interface Completion {
  /** What the word before the cursor can become, in order. */
  readonly candidates: readonly string[]
  /** The form of the command, once there is only one that it can be: `kill-at [STEP] [QUERY]`. */
  readonly form: string | null
  /** The text before the cursor after tab: the word as far as all candidates agree, with a blank when there is one and more may follow. */
  readonly completed: string
}

/** @param head the text before the cursor */
export function completeCommand(head: string, names: KnownNames): Completion {
  const words = head.trimStart().split(/\s+/)
  const word = words.at(-1) ?? ''
  const [verb = ''] = words
  if (words.length < 2)
    return completion(
      head,
      word,
      startingWith(
        COMMAND_FORMS.map((form) => form.verb),
        word,
      ),
      formNamed(word, false),
      true,
    )
  const form = formNamed(verb, true)
  if (form === null) return completion(head, word, [], null, false)
  const filled = filledBy(form, words.slice(1, -1), names)
  const open = filled === null ? [] : openSlots(form, filled)
  const candidates = startingWith([...new Set(open.flatMap(({ alternatives }) => alternatives.flatMap((alternative) => wordsOf(alternative, names))))], word)
  const [only] = candidates
  const mayGoOn = only !== undefined && filled !== null && openSlots(form, filledBy(form, [...words.slice(1, -1), only], names) ?? form.slots.length).length > 0
  return completion(head, word, candidates, form, mayGoOn)
}

function completion(head: string, word: string, candidates: readonly string[], form: CommandForm | null, mayGoOn: boolean): Completion {
  const shared = candidates.reduce(sharedStart, candidates[0] ?? word)
  const end = candidates.length === 1 && mayGoOn ? ' ' : ''
  return { candidates, form: form?.form ?? null, completed: head.slice(0, head.length - word.length) + (candidates.length === 0 ? word : shared + end) }
}

/** How many slots the words fill; null when one fits nowhere. */
function filledBy(form: CommandForm, words: readonly string[], names: KnownNames): number | null {
  let filled = 0
  for (const word of words) {
    const open = openSlots(form, filled)
    const slot = open.findIndex(({ alternatives }) =>
      alternatives.some((alternative) => alternative === 'RATE' || wordsOf(alternative, names).some((known) => known.startsWith(word))),
    )
    if (slot === -1) return null
    filled += slot + 1
  }
  return filled
}

/** The command that a word is, or the only one that it begins. */
function formNamed(word: string, mayBeBegun: boolean): CommandForm | null {
  const whole = COMMAND_FORMS.find(({ verb }) => verb === word)
  const begun = COMMAND_FORMS.filter(({ verb }) => verb.startsWith(word))
  return whole ?? (mayBeBegun && begun.length === 1 ? (begun[0] ?? null) : null)
}

function startingWith(words: readonly string[], start: string): readonly string[] {
  return words.filter((word) => word.startsWith(start))
}

function sharedStart(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return one.slice(0, length)
}
