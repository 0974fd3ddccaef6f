/** A play as lines for people: captions, actions with what came of them, and a mark for each expectation. Without color. */
import { safeText } from '../safe-text.js'
import type { Check, CheckValue, PlayEvent } from './play-event.js'

/** Columns: a projector shows 80. */
const WIDTH = 80
/** A check that is longer has a line of its own. */
const LONG_CHECK = 40

export class Transcript {
  #isAfterBlank = true

  /** The lines of one event, each with its end. Every text in it is safe to print; no two blank lines follow each other. */
  take(event: PlayEvent): string {
    let lines = ''
    for (const line of linesOf(event)) {
      if (line !== '' || !this.#isAfterBlank) lines += `${line}\n`
      this.#isAfterBlank = line === ''
    }
    return lines
  }
}

function linesOf(event: PlayEvent): string[] {
  switch (event.kind) {
    case 'scenario':
      return [safeText(event.title), '='.repeat([...event.title].length), '']
    case 'caption':
      return ['', ...paragraph(event.text, ''), '']
    case 'action':
      return [...wrapped(event.text.split(' ').map(shown), ' ', '> ', '    '), ...event.details.map((detail) => `    ${safeText(detail)}`)]
    case 'outcome': {
      const { texts, error } = event
      const told = texts.flatMap((text) => paragraph(text, '  '))
      if (error === null) return told
      const condition = error.condition === null ? '' : ` [${error.condition}]`
      return [...told, ...paragraph(`error ${error.code}: ${error.message}${condition}`, '  '), ...(error.hint === null ? [] : paragraph(error.hint, '  '))]
    }
    case 'expectation': {
      const head = `${event.isMet ? '✓' : '✗'} ${safeText(event.subject)}:`
      const checks = event.checks.map(checkText)
      if (checks.some((check) => check.length > LONG_CHECK)) return [head, ...checks.map((check) => `    ${check}`)]
      return wrapped(checks, ', ', `${head} `, '    ')
    }
    case 'end':
      return ['', endText(event)]
  }
}

/** `rows 18`, or with what was found instead: `rows 9 (found 18)`. */
function checkText({ field, expected, found, isMet }: Check): string {
  return safeText(`${field} ${valueText(expected)}${isMet ? '' : ` (found ${valueText(found)})`}`)
}

function valueText(value: CheckValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const fields = Object.entries(value).map(([field, inner]) => `${field}: ${valueText(inner)}`)
  return `{ ${fields.join(', ')} }`
}

function endText({ isMet, expectations, unmet, failedLine }: PlayEvent & { readonly kind: 'end' }): string {
  const met = `${expectations - unmet} of ${expectations} expectations met`
  if (failedLine !== null) return `✗ line ${failedLine} failed, ${met}`
  return `${isMet ? '✓' : '✗'} ${met}`
}

/** Line ends of the scenario are no more than spaces. */
function paragraph(text: string, indent: string): string[] {
  return wrapped(text.trim().split(/\s+/).map(shown), ' ', indent, indent)
}

function shown(word: string): string {
  return safeText(word)
}

function wrapped(pieces: readonly string[], between: string, first: string, indent: string): string[] {
  const lines: string[] = []
  let line = first
  let isBegun = false
  for (const piece of pieces) {
    if (isBegun && line.length + between.length + piece.length > WIDTH) {
      lines.push((line + between).trimEnd())
      line = indent + piece
    } else line += isBegun ? between + piece : piece
    isBegun = true
  }
  return [...lines, line]
}
