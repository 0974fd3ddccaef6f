/** Makes lines of spans, and fits them to a width. */
import type { Line, Span, Tone } from './line.js'
import { cellWidth, clip, headOf } from './width.js'

export function span(text: string, tone: Tone = 'text'): Span {
  return { text, tone }
}

export function lineWidth(line: Line): number {
  let width = 0
  for (const { text } of line) width += cellWidth(text)
  return width
}

/** The line, or as much of it as fits into so many cells with an ellipsis at its end. */
export function clipLine(line: Line, width: number, ellipsis: string): Line {
  if (lineWidth(line) <= width) return line
  const fitting: Span[] = []
  let room = width
  for (const { text, tone } of line) {
    const cells = cellWidth(text)
    // What follows does not fit: the ellipsis needs a place even when this span ends exactly at the edge.
    if (cells >= room) {
      if (room > 0) fitting.push({ text: clip(`${text}${' '.repeat(cells === room ? 1 : 0)}`, room, ellipsis), tone })
      break
    }
    fitting.push({ text, tone })
    room -= cells
  }
  return fitting
}

/** The line on exactly so many cells. */
export function padLine(line: Line, width: number, ellipsis: string): Line {
  const fitting = clipLine(line, width, ellipsis)
  const missing = width - lineWidth(fitting)
  return missing > 0 ? [...fitting, span(' '.repeat(missing))] : fitting
}

/** Blocks of lines beside each other: each but the last is filled up to its width. */
export function beside(left: readonly Line[], leftWidth: number, right: readonly Line[], ellipsis: string): Line[] {
  const height = Math.max(left.length, right.length)
  return Array.from({ length: height }, (_, row) => [...padLine(left[row] ?? [], leftWidth, ellipsis), ...(right[row] ?? [])])
}

/** Words in lines of at most so many cells. A word that is wider than a line is cut into pieces. Tones stay with their words. */
export function wrapSpans(spans: Line, width: number): Line[] {
  if (width < 1) return []
  const lines: Span[][] = [[]]
  let used = 0
  let blanks = ''
  for (const { text, tone } of spans) {
    for (const [piece] of text.matchAll(/ +|[^ ]+/g)) {
      if (piece.startsWith(' ')) {
        blanks += piece
        continue
      }
      let word = piece
      const isFirst = used === 0
      if (!isFirst && used + blanks.length + cellWidth(word) <= width) word = blanks + word
      else if (!isFirst) {
        lines.push([])
        used = 0
      }
      blanks = ''
      while (cellWidth(word) > width) {
        const head = headOf(word, width)
        // A character that is wider than a whole line cannot be shown.
        if (head === '') break
        lines.at(-1)?.push(span(head, tone))
        lines.push([])
        word = word.slice(head.length)
      }
      if (cellWidth(word) > width) continue
      lines.at(-1)?.push(span(word, tone))
      used += cellWidth(word)
    }
  }
  return lines.filter((line) => line.length > 0).map(joined)
}

/** Neighbours of one tone as one span. */
function joined(line: readonly Span[]): Line {
  const spans: Span[] = []
  for (const { text, tone } of line) {
    const last = spans.at(-1)
    if (last?.tone === tone) spans[spans.length - 1] = span(last.text + text, tone)
    else spans.push(span(text, tone))
  }
  return spans
}
