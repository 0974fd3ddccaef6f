/** A part of the screen with a title, drawn with a rule above it where rows are scarce, or in a box where they are not. */
import type { Glyphs } from './glyphs.js'
import type { Line, Tone } from './line.js'
import { clipLine, lineWidth, padLine, span } from './spans.js'
import { cellWidth } from './width.js'

export interface Pane {
  readonly title: Line
  /** At the right end of the title's line, where there is room. */
  readonly aside: Line
  readonly lines: readonly Line[]
}

export type PaneStyle = 'ruled' | 'boxed'

/** What a style takes away from the room of a pane's lines. */
export function insideOf(style: PaneStyle, width: number): number {
  return style === 'boxed' ? width - 4 : width - 2
}

/** Cells that an aside may have beside a title. @param inside as `insideOf` gives it */
export function asideRoom(title: Line, inside: number): number {
  return inside - lineWidth(title) - 8
}

/** The first text that fits into so many cells, the longest first; none if none does. */
export function firstThatFits(texts: readonly string[], room: number, tone: Tone = 'text'): Line {
  const text = texts.find((one) => cellWidth(one) <= room)
  return text === undefined ? [] : [span(text, tone)]
}

/** Rows of a pane that are not its lines. */
export function rowsAround(style: PaneStyle): number {
  return style === 'boxed' ? 2 : 1
}

/** On so many columns, with exactly so many lines inside; every line that comes out is full. */
export function drawPane(pane: Pane, style: PaneStyle, width: number, height: number, glyphs: Glyphs, foot: Line = []): Line[] {
  const inside = insideOf(style, width)
  const rows = Array.from({ length: height }, (_, row) => padLine(pane.lines[row] ?? [], inside, glyphs.ellipsis))
  if (style === 'ruled') return [rule(pane.title, pane.aside, width, glyphs), ...rows.map((row) => [span(' '), ...row, span(' ')])]
  const { border } = glyphs
  const side = span(border.vertical, 'border')
  return [
    edge(border.topLeft, border.topRight, pane.title, pane.aside, width, glyphs),
    ...rows.map((row) => [side, span(' '), ...row, span(' '), side]),
    edge(border.bottomLeft, border.bottomRight, foot, [], width, glyphs),
  ]
}

/** `── title ──────── aside ──` */
export function rule(title: Line, aside: Line, width: number, glyphs: Glyphs): Line {
  const { horizontal } = glyphs.border
  return edge(horizontal, horizontal, title, aside, width, glyphs)
}

function edge(left: string, right: string, title: Line, aside: Line, width: number, glyphs: Glyphs): Line {
  const { horizontal } = glyphs.border
  if (width < 8) return [span(horizontal.repeat(Math.max(0, width)), 'border')]
  const dashes = (count: number) => span(horizontal.repeat(Math.max(0, count)), 'border')
  const shown = title.length === 0 ? [] : [span(' '), ...clipLine(title, width - 6, glyphs.ellipsis), span(' ')]
  const isAsideShown = aside.length > 0 && lineWidth(shown) + lineWidth(aside) + 8 <= width
  const end = isAsideShown ? [span(' '), ...aside, span(' ')] : []
  const free = width - 4 - lineWidth(shown) - lineWidth(end)
  return [span(left + horizontal, 'border'), ...shown, dashes(free), ...end, span(horizontal + right, 'border')]
}
