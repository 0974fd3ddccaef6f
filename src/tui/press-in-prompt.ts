/** Keys while a line is typed: a command, or a filter that works as it is typed. Pure. */
import { act, refused, requestOfKey, unasked } from './act.js'
import { knownNames } from './command-words.js'
import { completeCommand } from './complete-command.js'
import { editPrompt } from './edit-prompt.js'
import type { KeyPress } from './keys.js'
import type { Model, Prompt, Reduced } from './model.js'
import { parseCommand } from './parse-command.js'
import { selectShown } from './select.js'

export const COMMAND_HISTORY_LIMIT = 100

export function pressInPrompt(model: Model, prompt: Prompt, key: KeyPress): Reduced {
  const closed: Model = { ...model, prompt: null }
  if (key.name === 'escape') return unasked(prompt.kind === 'filter' ? { ...closed, filter: '' } : closed)
  // Only now another query is selected, if the filter hides this one: not by every letter on the way.
  if (key.name === 'enter') return prompt.kind === 'filter' ? unasked(selectShown(closed, 0)) : run(model, prompt)
  // As in vi: what deletes the `:` itself closes the line.
  if (key.name === 'backspace' && prompt.text === '') return unasked(closed)
  if (prompt.kind === 'command') {
    if (key.name === 'tab') return unasked(withPrompt(model, complete(model, prompt)))
    if (key.name === 'up' || key.name === 'ctrl-p') return unasked(withPrompt(model, remembered(model, prompt, 1)))
    if (key.name === 'down' || key.name === 'ctrl-n') return unasked(withPrompt(model, remembered(model, prompt, -1)))
  } else if (key.name === 'up' || key.name === 'down') {
    const request = requestOfKey(key.name)
    return request ? act(model, request, key.name) : unasked(model)
  }
  return unasked(withPrompt(model, editPrompt(prompt, key) ?? prompt))
}

function withPrompt(model: Model, prompt: Prompt): Model {
  if (prompt === model.prompt) return model
  if (prompt.kind === 'filter') return { ...model, prompt, filter: prompt.text }
  // What was wrong with the line is no longer said of another.
  const isAnother = prompt.text !== model.prompt?.text
  return { ...model, prompt, message: isAnother ? null : model.message }
}

/** A line that cannot be understood stays, to be put right. */
function run(model: Model, prompt: Prompt): Reduced {
  const parsed = parseCommand(prompt.text, knownNames(model))
  if (parsed.kind === 'nothing') return unasked({ ...model, prompt: null })
  const commandHistory = withLine(model.commandHistory, prompt.text.trim())
  if (parsed.kind === 'error') return refused({ ...model, commandHistory }, parsed.message)
  return act({ ...model, commandHistory, prompt: null, message: null }, parsed.request, `:${parsed.verb}`)
}

function withLine(lines: readonly string[], line: string): readonly string[] {
  return lines.at(-1) === line ? lines : [...lines, line].slice(-COMMAND_HISTORY_LIMIT)
}

function complete(model: Model, prompt: Prompt): Prompt {
  const points = [...prompt.text]
  const head = points.slice(0, prompt.cursor).join('')
  const { completed } = completeCommand(head, knownNames(model))
  if (completed === head) return prompt
  return { ...prompt, text: completed + points.slice(prompt.cursor).join(''), cursor: [...completed].length, historyIndex: null }
}

/** `historyIndex` counts from 0, the newest line. Below it is an empty line. */
function remembered({ commandHistory }: Model, prompt: Prompt, places: 1 | -1): Prompt {
  const index = (prompt.historyIndex ?? -1) + places
  if (index >= commandHistory.length || (index < 0 && prompt.historyIndex === null)) return prompt
  const text = index < 0 ? '' : (commandHistory.at(-1 - index) ?? '')
  return { ...prompt, text, cursor: [...text].length, historyIndex: index < 0 ? null : index }
}
