/**
 * Whole frames in, one write a frame out: only the rows that changed, each put at its place, so that nothing flickers and nothing
 * scrolls. A terminal that takes its time gets the newest frame when it is ready, and never more than one frame waits for it.
 */
import type { Frame, Size } from './line.js'
import { paintLine } from './paint.js'
import { lineWidth } from './spans.js'
import type { Theme } from './theme.js'

/** Where frames go; `done` is called when the text has been taken over, and it must be called later, not at once. */
export type WriteFrame = (text: string, done: () => void) => void

interface Wanted {
  readonly frame: Frame
  readonly size: Size
  readonly theme: Theme
}

export class FramePainter {
  readonly #write: WriteFrame
  /** The rows that the terminal has; null when nothing is known of them. */
  #rows: readonly string[] | null = null
  #isBusy = false
  #waiting: Wanted | null = null

  constructor(write: WriteFrame) {
    this.#write = write
  }

  /** Shows a frame, at once or when the one before has been taken. A frame that is overtaken while it waits is never shown. */
  paint(frame: Frame, size: Size, theme: Theme): void {
    const wanted = { frame, size, theme }
    if (this.#isBusy) {
      this.#waiting = wanted
      return
    }
    const rows = frame.map((line) => paintLine(line, theme))
    const text = frameUpdate(this.#rows, rows, (row) => lineWidth(frame[row] ?? []) < size.columns)
    this.#rows = rows
    if (text === null) return
    this.#isBusy = true
    this.#write(text, () => {
      this.#isBusy = false
      const next = this.#waiting
      this.#waiting = null
      if (next) this.paint(next.frame, next.size, next.theme)
    })
  }

  /** The terminal's picture is lost (resized, another program wrote, left): a frame that waits is dropped, the next one is drawn whole. */
  forget(): void {
    this.#rows = null
    this.#waiting = null
  }
}

/**
 * What turns the rows on the terminal into others; null when they are the same. `CSI ?2026 h` and `l` let a terminal that knows them
 * show the change at once (synchronized output).
 * @param isShort whether a row does not fill its line: then the rest is cleared. At the full width a clear would take the last cell
 */
export function frameUpdate(before: readonly string[] | null, rows: readonly string[], isShort: (row: number) => boolean): string | null {
  let changes = before === null ? CLEAR_ALL : ''
  for (const [index, row] of rows.entries()) {
    if (before?.[index] === row) continue
    changes += `\u001b[${index + 1};1H${row}`
    if (before !== null && isShort(index)) changes += CLEAR_TO_RIGHT
  }
  if (before !== null && before.length > rows.length) changes += `\u001b[${rows.length + 1};1H\u001b[J`
  return changes === '' ? null : `\u001b[?2026h${changes}\u001b[?2026l`
}

const CLEAR_TO_RIGHT = '\u001b[K'
const CLEAR_ALL = '\u001b[0m\u001b[2J'
