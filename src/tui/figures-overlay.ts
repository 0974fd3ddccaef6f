/** `b`: rows, distinct, duplicates and missing of the selected query, as large as the screen allows, with the verdict in words. */
import { sentenceOf } from '../observe/sentence.js'
import type { QueryStatus } from '../observe/status.js'
import { bigText, bigWidth, DIGIT_LINES, type DigitSize } from './big-digits.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import type { Line, Size, Span, Tone } from './line.js'
import { padLine, span, wrapSpans } from './spans.js'
import { isCountOld } from './query-table.js'
import type { Subject } from './subject.js'

export interface Figure {
  readonly label: string
  readonly text: string
  readonly tone: Tone
}

/** @param room for all lines together @param isForetold whether it may be said what will happen */
export function figureLines(subject: Subject, room: Size, look: Look, isForetold: boolean): Line[] {
  const { status } = subject
  if (status === null) return [[span('nobody has looked at it yet')]]
  const figures = figuresOf(subject)
  const words = wordsOf(subject, status, room.columns, look, isForetold)
  const layout = LAYOUTS.find((one) => fits(one, figures, { columns: room.columns, rows: room.rows - words.length - 1 }))
  const drawn = layout
    ? drawFigures(figures, layout, room.columns, look)
    : figures.map(({ label, text, tone }): Line => [span(`${label} `, 'title'), span(text, tone)])
  return [...drawn, [], ...words]
}

/** Rows, distinct, duplicates and missing. */
export function figuresOf({ status }: Subject): readonly Figure[] {
  return [
    { label: 'rows', text: textOf(status?.rows ?? null), tone: 'text' },
    { label: 'distinct', text: textOf(status?.distinct ?? null), tone: 'text' },
    alarming('duplicates', status?.duplicates ?? null),
    alarming('missing', status?.missing ?? null),
  ]
}

/** All figures side by side, as large as the room allows; null where it is too small for that. */
export function acrossFigures(figures: readonly Figure[], room: Size, look: Look): { readonly columns: number; readonly lines: readonly Line[] } | null {
  const layout = LAYOUTS.find((one) => one.across === figures.length && fits(one, figures, { ...room, rows: room.rows + 1 }))
  return layout === undefined ? null : { columns: room.columns, lines: drawFigures(figures, layout, room.columns, look) }
}

interface Layout {
  readonly digits: DigitSize
  /** Figures side by side. */
  readonly across: number
}

/** The first that fits. Two by two stands still while figures grow to five digits. */
const LAYOUTS: readonly Layout[] = [
  { digits: 'large', across: 2 },
  { digits: 'large', across: 4 },
  { digits: 'small', across: 2 },
  { digits: 'small', across: 4 },
]

function fits({ digits, across }: Layout, figures: readonly Figure[], { columns, rows }: Size): boolean {
  const cells = Math.floor(columns / across)
  const isWideEnough = figures.every(({ text, label }) => Math.max(bigWidth(text, digits), label.length) + 2 <= cells)
  return isWideEnough && (figures.length / across) * (DIGIT_LINES[digits] + 2) <= rows
}

function drawFigures(figures: readonly Figure[], { digits, across }: Layout, columns: number, { glyphs }: Look): Line[] {
  const cells = Math.floor(columns / across)
  const lines: Line[] = []
  for (let first = 0; first < figures.length; first += across) {
    const row = figures
      .slice(first, first + across)
      .map(({ label, text, tone }) => [[span(label, 'title')], ...bigText(text, digits, glyphs.isAscii).map((line) => [span(line, tone)]), []])
    for (let line = 0; line < DIGIT_LINES[digits] + 2; line++)
      lines.push(row.flatMap((figure): Span[] => [...padLine(figure[line] ?? [], cells, glyphs.ellipsis)]))
  }
  return lines.slice(0, -1)
}

function wordsOf(subject: Subject, status: QueryStatus, columns: number, { glyphs }: Look, isForetold: boolean): Line[] {
  const { words, tone } = verdictOf(status)
  const { table } = subject
  const age = table && isCountOld(subject) ? `  rows and distinct are those of version ${table.countsVersion}, the newest is ${table.version}` : ''
  const sentence = sentenceOf(status, { idempotentNext: null, isForetold })
  return [
    ...wrapSpans([span(words, tone), span(age, 'flight')], columns),
    ...(sentence === null ? [] : wrapSpans([span(shownText(sentence, glyphs.isAscii), 'said')], columns)),
  ]
}

function verdictOf({ verdict, alsoDuplicated }: QueryStatus): { readonly words: string; readonly tone: Tone } {
  switch (verdict) {
    case 'exactly-once':
      return { words: '= EXACTLY ONCE: each row of its source is in the table once', tone: 'said' }
    case 'duplicated':
      return { words: '+ DUPLICATED: rows of its source were written more often than once', tone: 'alarm' }
    case 'missing':
      return alsoDuplicated
        ? { words: '-+ MISSING AND DUPLICATED: some rows of its source are not in the table, others more often than once', tone: 'alarm' }
        : { words: '- MISSING: rows of its source are not in the table', tone: 'alarm' }
    case 'empty':
      return { words: 'EMPTY: nothing is written yet', tone: 'said' }
    case null:
      return { words: '? not known: what its source holds, or its table, cannot be told', tone: 'said' }
  }
}

function alarming(label: string, figure: number | null): Figure {
  return { label, text: textOf(figure), tone: (figure ?? 0) > 0 ? 'alarm' : 'text' }
}

function textOf(figure: number | null): string {
  return figure === null ? '?' : String(figure)
}
