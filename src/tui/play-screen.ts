/** The main screen while a scenario is played: the queries, the selected one's batch and logs, and below them the play. */
import { presenterFigures } from './presenter-figures.js'
import { footer } from './footer.js'
import type { Look } from './glyphs.js'
import { header } from './header.js'
import { layoutOf } from './layout.js'
import type { Line, Size } from './line.js'
import { eventsBlock, messageLine, nothingBlock, queriesBlock, shownSubjects, subjectBlocks, tableLines, windowOf } from './main-screen.js'
import type { Model } from './model.js'
import { span } from './spans.js'
import { playFooter, playPart, playRows } from './play-pane.js'
import type { PlayState } from './play-state.js'

/** From here on there are rows for the sentence and the log, too. */
const TALL_ROWS = 34
/** Less than this above the play, and only the queries are shown there. */
const LEAST_PANE_ROWS = 9
/** The header, the titles of the table and a query. */
const LEAST_ABOVE_ROWS = 3

/** @param size at least 40×8 */
export function playScreen(model: Model, play: PlayState, size: Size, look: Look): Line[] {
  const { columns, rows } = size
  const { subjects, selected } = shownSubjects(model)
  const wished = Math.min(playRows(play, size, look), rows - LEAST_ABOVE_ROWS - 1)
  const isNarrow = columns < 60 || rows - wished < LEAST_PANE_ROWS
  // Where no pane is shown above it, the play has what the queries leave.
  const partRows = isNarrow ? Math.max(wished, rows - 3 - Math.max(1, subjects.length)) : wished
  const aboveRows = rows - partRows
  const isTall = rows >= TALL_ROWS && !play.setting.isPresenter
  // A tall screen has a log, which carries it.
  const message = isTall ? null : messageLine(model, look)
  const bottom = (footerRows: number): Line[] => [
    ...playPart(play, model.state, { columns, rows: partRows }, look, message),
    playFooter(play, columns, look.glyphs),
    ...(footerRows > 1 ? footer(model, columns, footerRows - 1, look.glyphs) : []),
  ]
  if (isNarrow || play.setting.isPresenter) {
    const figures = isNarrow || selected === null ? [] : presenterFigures(selected, { columns, rows: aboveRows - 3 - Math.min(3, subjects.length) }, look)
    const tableRows = Math.max(1, Math.min(subjects.length, aboveRows - 3 - figures.length))
    const window = windowOf(subjects, tableRows)
    const table = tableLines(model, window, columns - 2, tableRows + 1, look).map((line) => [span(' '), ...line])
    const above = [header(model, columns, look, window.hidden), ...table, ...figures]
    return [...Array.from({ length: aboveRows - 1 }, (_, row) => above[row] ?? []), ...bottom(1)]
  }
  const layout = layoutOf({ columns, rows: aboveRows }, subjects.length, isTall ? [] : ['said', 'events'])
  const window = windowOf(subjects, layout.rows.queries)
  const above = [
    header(model, columns, look, window.hidden),
    ...queriesBlock(model, window, layout, columns, look),
    ...(selected === null ? nothingBlock(model, layout, columns, look) : subjectBlocks(selected, { model, layout, columns, look })),
    ...eventsBlock(model, layout, columns, look),
  ]
  return [...Array.from({ length: aboveRows - layout.footerRows }, (_, row) => above[row] ?? []), ...bottom(layout.footerRows)]
}
