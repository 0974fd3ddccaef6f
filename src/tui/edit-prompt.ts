/** Editing of one line of text, as shells have it. Pure; positions count code points. */
import type { KeyPress } from './keys.js'
import type { Prompt } from './model.js'

/** Code points that a line holds; more is not taken. */
export const PROMPT_LIMIT = 400

/** The prompt after a key; null when the key does not edit. */
export function editPrompt(prompt: Prompt, key: KeyPress): Prompt | null {
  const points = [...prompt.text]
  const at = Math.min(prompt.cursor, points.length)
  const typed = typedText(key)
  if (typed !== null) return put(prompt, [...typed], points, at)
  switch (key.name) {
    case 'left':
    case 'ctrl-b':
      return moved(prompt, Math.max(0, at - 1))
    case 'right':
    case 'ctrl-f':
      return moved(prompt, Math.min(points.length, at + 1))
    case 'home':
    case 'ctrl-a':
      return moved(prompt, 0)
    case 'end':
    case 'ctrl-e':
      return moved(prompt, points.length)
    case 'ctrl-left':
    case 'alt-left':
    case 'alt-b':
      return moved(prompt, wordStart(points, at))
    case 'ctrl-right':
    case 'alt-right':
    case 'alt-f':
      return moved(prompt, wordEnd(points, at))
    case 'backspace':
      return cut(prompt, points, Math.max(0, at - 1), at)
    case 'delete':
    case 'ctrl-d':
      return cut(prompt, points, at, at + 1)
    case 'ctrl-u':
      return cut(prompt, points, 0, at)
    case 'ctrl-k':
      return cut(prompt, points, at, points.length)
    case 'ctrl-w':
    case 'alt-backspace':
      return cut(prompt, points, wordStart(points, at), at)
    case 'alt-d':
      return cut(prompt, points, at, wordEnd(points, at))
    default:
      return null
  }
}

/** What a key adds to a text: itself, or a paste without line ends and controls. Half of a character is nothing. */
function typedText(key: KeyPress): string | null {
  if (key.name === 'space') return ' '
  const isPaste = key.name === 'paste'
  if (!isPaste && [...key.name].length !== 1) return null
  const text = isPaste ? (key.text ?? '') : key.name
  return text
    .replace(/\r\n?|\n/g, '')
    .replace(/\p{Cs}/gu, '')
    .replace(/\p{Cc}/gu, ' ')
}

function put(prompt: Prompt, typed: readonly string[], points: readonly string[], at: number): Prompt {
  const taken = typed.slice(0, Math.max(0, PROMPT_LIMIT - points.length))
  if (taken.length === 0) return prompt
  return { ...prompt, text: [...points.slice(0, at), ...taken, ...points.slice(at)].join(''), cursor: at + taken.length, historyIndex: null }
}

function cut(prompt: Prompt, points: readonly string[], from: number, to: number): Prompt {
  const text = [...points.slice(0, from), ...points.slice(to)].join('')
  return text === prompt.text ? moved(prompt, from) : { ...prompt, text, cursor: from, historyIndex: null }
}

function moved(prompt: Prompt, cursor: number): Prompt {
  return cursor === prompt.cursor ? prompt : { ...prompt, cursor }
}

function wordStart(points: readonly string[], at: number): number {
  let start = at
  while (start > 0 && points[start - 1] === ' ') start -= 1
  while (start > 0 && points[start - 1] !== ' ') start -= 1
  return start
}

function wordEnd(points: readonly string[], at: number): number {
  let end = at
  while (end < points.length && points[end] === ' ') end += 1
  while (end < points.length && points[end] !== ' ') end += 1
  return end
}
