/** How many cells of a terminal a text takes, and how a text is cut to cells: wide characters take two, combining marks none. */

/**
 * Characters that take one cell each and never join their neighbours: ASCII, Latin, punctuation, arrows, control pictures, boxes,
 * shapes. Everything else is measured character by character, which costs a hundred times more.
 */
const NARROW = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2400-\u25fc\u2715]*$/

let segmenter: Intl.Segmenter | null = null
let stringWidth: ((text: string) => number) | null = null

/**
 * Loads what measures wide characters. It takes longer than everything else before the first frame, which can be drawn without: until
 * it is there, a character that is not surely narrow counts as two cells, so that no line is too wide.
 */
export async function loadWidths(): Promise<void> {
  stringWidth ??= (await import('string-width')).default
}

/** Whether each character surely takes one cell and stands for itself. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text)
}

/** Cells that a text takes. The text is safe already: it holds no control and no escape sequence. */
export function cellWidth(text: string): number {
  return NARROW.test(text) ? text.length : measured(text)
}

/** Frame after frame has the same wide texts in it. */
const measuredWidths = new Map<string, number>()
const MOST_MEASURED = 2_000

function measured(text: string): number {
  if (stringWidth === null) return 2 * text.length
  const known = measuredWidths.get(text)
  if (known !== undefined) return known
  if (measuredWidths.size >= MOST_MEASURED) measuredWidths.clear()
  const width = stringWidth(text)
  measuredWidths.set(text, width)
  return width
}

/** The text if it fits into so many cells, else as much of it as fits with `ellipsis` behind it. Never wider than `width`. */
export function clip(text: string, width: number, ellipsis: string): string {
  if (width <= 0) return ''
  if (NARROW.test(text)) return text.length <= width ? text : text.slice(0, Math.max(0, width - ellipsis.length)) + ellipsis.slice(0, width)
  if (measured(text) <= width) return text
  const room = width - ellipsis.length
  return room < 0 ? ellipsis.slice(0, width) : headOf(text, room) + ellipsis
}

/** As many whole characters from the left as fit into so many cells. */
export function headOf(text: string, width: number): string {
  if (NARROW.test(text)) return text.slice(0, Math.max(0, width))
  let head = ''
  let used = 0
  segmenter ??= new Intl.Segmenter()
  for (const { segment } of segmenter.segment(text)) {
    used += measured(segment)
    if (used > width) break
    head += segment
  }
  return head
}

/** Filled up with blanks to so many cells; a wider text is cut. */
export function padRight(text: string, width: number, ellipsis: string): string {
  const cut = clip(text, width, ellipsis)
  return cut + ' '.repeat(Math.max(0, width - cellWidth(cut)))
}

/** The same, with the blanks on the left. */
export function padLeft(text: string, width: number, ellipsis: string): string {
  const cut = clip(text, width, ellipsis)
  return ' '.repeat(Math.max(0, width - cellWidth(cut))) + cut
}
