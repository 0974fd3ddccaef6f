/**
 * A frame as a picture: SVG that shows the same cells in every viewer, whatever its fonts. Pure.
 *
 * Each run of characters that are equally wide stands at its cell with its length said, so that a font with other widths, or one that
 * lacks a character, moves nothing beside it.
 */
import { safeText } from '../safe-text.js'
import type { Frame, Size, Span } from './line.js'
import type { Background, Theme } from './theme.js'
import { cellWidth, isNarrow } from './width.js'

/** Pixels of a cell and of the border around all. */
export const CELL = { width: 9, height: 19, baseline: 14 }
export const MARGIN = 10
/** Attributes of what holds text. */
export const SVG_FONT = `font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="15"`

/** `#rrggbb` of the terminal's own text and ground, and of the sixteen colours as they are legible on it. */
export interface Palette {
  readonly text: string
  readonly ground: string
  readonly ansi: readonly string[]
}

export const PALETTES: Readonly<Record<Background, Palette>> = {
  dark: {
    text: '#d8dee6',
    ground: '#14181d',
    ansi: '#14181d #e0645c #7fbf6a #e6b450 #6aa5f0 #c792ea #56c2d6 #d8dee6 #7a8694 #ff8f80 #a5d88f #ffd479 #8fc1ff #dcb3f5 #86e1f2 #ffffff'.split(' '),
  },
  light: {
    text: '#1f2328',
    ground: '#ffffff',
    ansi: '#1f2328 #b3261e #2f6f2f #7a5b00 #0a4fb4 #8a2c9c #0b6877 #59636e #454c54 #c2331f #357a35 #86640a #1d5fc4 #9a3cac #147485 #3b4249'.split(' '),
  },
}

/** @returns a whole SVG document, with a line end */
export function svgOf(frame: Frame, size: Size, theme: Theme): string {
  const palette = PALETTES[theme.background]
  const width = size.columns * CELL.width + 2 * MARGIN
  const height = size.rows * CELL.height + 2 * MARGIN
  const rows = frame.flatMap((line, row) => paintRow(line, row, theme, palette))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="streamtop" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${palette.ground}"/>`,
    `<g ${SVG_FONT} fill="${palette.text}" xml:space="preserve">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function paintRow(line: Frame[number], row: number, theme: Theme, palette: Palette): string[] {
  const rects: string[] = []
  const texts: string[] = []
  let cell = 0
  for (const { text, tone } of line) {
    const { color, isBold, isReverse } = theme.styles[tone]
    const ink = color === null ? palette.text : (palette.ansi[color] ?? palette.text)
    const shown = safeText(text)
    const cells = cellWidth(shown)
    const y = MARGIN + row * CELL.height
    if (isReverse && cells > 0) rects.push(`<rect x="${xOf(cell)}" y="${y}" width="${cells * CELL.width}" height="${CELL.height}" fill="${ink}"/>`)
    const fill = isReverse ? palette.ground : color === null ? null : ink
    const attributes = `${fill === null ? '' : ` fill="${fill}"`}${isBold ? ' font-weight="bold"' : ''}`
    for (const run of runsOf(shown)) {
      texts.push(
        `<text x="${xOf(cell + run.cell)}" y="${y + CELL.baseline}" textLength="${run.cells * CELL.width}" lengthAdjust="spacingAndGlyphs"${attributes}>${escaped(run.text)}</text>`,
      )
    }
    cell += cells
  }
  return [...rects, ...texts]
}

export interface Run {
  readonly text: string
  /** From the beginning of the span. */
  readonly cell: number
  readonly cells: number
}

/** What can be drawn as one text: words of ASCII with single blanks, and other characters of one width that stand together. */
export function runsOf(text: Span['text']): Run[] {
  if (isNarrow(text)) return [...text.matchAll(NARROW_RUNS)].map(({ 0: run, index }) => ({ text: run, cell: index, cells: run.length }))
  const runs: Run[] = []
  let cell = 0
  const open: { kind: string; run: { text: string; cell: number; cells: number } }[] = []
  for (const { segment } of segmenter.segment(text)) {
    const cells = cellWidth(segment)
    const kind = segment === ' ' ? 'blank' : /^[\x21-\x7e]$/.test(segment) ? 'ascii' : `${cells}`
    const before = open.pop()
    if (kind !== 'blank' && before?.kind === kind) {
      before.run.text += segment
      before.run.cells += cells
      open.push(before)
    } else if (kind !== 'blank') {
      const run = { text: segment, cell, cells }
      runs.push(run)
      open.push({ kind, run })
    }
    cell += cells
  }
  return runs.filter(({ cells }) => cells > 0)
}

/** Characters that do not join their neighbours need not be measured one by one. */
const NARROW_RUNS = /[\x21-\x7e]+|[^\x20-\x7e]+/g
const segmenter = new Intl.Segmenter()

function xOf(cell: number): number {
  return MARGIN + cell * CELL.width
}

/** XML 1.0 has no place for U+FFFE and U+FFFF, even as references; controls and lone surrogates are marks by now. */
export function escaped(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
