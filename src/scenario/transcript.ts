/** A play as lines for people: captions, actions with what came of them, and a mark for each expectation. Without color. */
import { safeText } from '../safe-text.js'
import type { PlayEvent } from './play-event.js'
import { checkText, endText } from './play-text.js'

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
      const checks = event.checks.map((check) => safeText(checkText(check)))
      if (checks.some((check) => check.length > LONG_CHECK)) return [head, ...checks.map((check) => `    ${check}`)]
      return wrapped(checks, ', ', `${head} `, '    ')
    }
    case 'end':
      return ['', `${event.isMet ? '✓' : '✗'} ${endText(event)}`]
  }
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
