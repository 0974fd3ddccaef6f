/** For a hall: the selected query's figures large, side by side, and beside them which batches its two logs have. */
import type { BatchLine } from '../observe/batch-lines.js'
import { batchLinesOf } from './checkpoint-pane.js'
import { acrossFigures, figuresOf } from './figures-overlay.js'
import { shownText } from './foreign-text.js'
import type { Glyphs, Look } from './glyphs.js'
import type { Line, Size, Span } from './line.js'
import { rule } from './pane.js'
import { beside, span } from './spans.js'
import { isAlive, type Subject } from './subject.js'

/** Four figures of two large digits: they stand still while nine rows become eighteen. */
const FIGURE_COLUMNS = 60
const LOG_COLUMNS = 16

/** A title and what is below it; at most so many rows, nothing where there are too few. */
export function presenterFigures(subject: Subject, { columns, rows }: Size, look: Look): Line[] {
  const { glyphs } = look
  const { name, condition, live, status } = subject
  const hasLogs = columns >= FIGURE_COLUMNS + LOG_COLUMNS + 2
  const figures = acrossFigures(figuresOf(subject), { columns: hasLogs ? FIGURE_COLUMNS : columns - 2, rows: rows - 1 }, look)
  if (figures === null) return []
  const step = live.attempt?.steps.at(-1)?.event.step ?? status?.step ?? null
  const title: Line = [
    span(shownText(name, glyphs.isAscii, 40), 'title'),
    span(`  ${glyphs.condition[condition.name]} ${condition.word}`, condition.tone),
    ...(step === null ? [] : [span(`  ${step}`)]),
  ]
  const logs = hasLogs ? logLines(subject, columns - FIGURE_COLUMNS - 2, glyphs) : []
  const lines = beside(figures.lines, hasLogs ? FIGURE_COLUMNS + 1 : columns - 2, logs, glyphs.ellipsis)
  return [rule(title, [], columns, glyphs), ...lines.map((line) => [span(' '), ...line])]
}

/** The batches of `offsets/` and of `commits/` below each other, oldest first, as many of the newest as fit. */
function logLines(subject: Subject, width: number, { border }: Glyphs): Line[] {
  const title = 'offsets/'
  let shown: readonly BatchLine[] = []
  for (const batch of batchLinesOf(subject)) {
    const more = [batch, ...shown]
    if (title.length + more.reduce((sum, { batchId }) => sum + 1 + String(batchId).length, 0) > width) break
    shown = more
  }
  const missing = isAlive(subject) ? 'flight' : 'alarm'
  const cells = (isThere: (batch: BatchLine) => boolean): Span[] =>
    shown.flatMap((batch) => {
      const id = String(batch.batchId)
      return [span(' '), isThere(batch) ? span(id) : span(border.horizontal.repeat(id.length), missing)]
    })
  return [[], [span(title), ...cells(({ isLogged }) => isLogged)], [span('commits/'), ...cells(({ isCommitted }) => isCommitted)]]
}
