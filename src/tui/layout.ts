/** How many rows each part of the main screen gets. Pure. */
import type { PaneStyle } from './pane.js'
import { rowsAround } from './pane.js'
import type { Size } from './line.js'

export interface Layout {
  readonly style: PaneStyle
  /** Rows with content; a part with 0 is not drawn. */
  readonly rows: Readonly<Record<LayoutPart, number>>
  readonly footerRows: number
}

export type LayoutPart = 'queries' | 'batch' | 'logs' | 'said' | 'events'

/** In boxes with this much room and more. */
const BOXED: Size = { columns: 100, rows: 36 }

/** Below this width the sentence needs more lines than it has at 80. */
const NARROW_COLUMNS = 72

/** The first wishes on a narrow screen: the sentence whole before a second batch. */
const NARROW_WISHES: ReadonlyArray<readonly [LayoutPart, number]> = [
  ['logs', 2],
  ['said', 2],
  ['queries', 3],
  ['said', 5],
]

/**
 * What is given to whom, in this order, while rows are left: a part's rows up to a number. A part that is not there yet costs its
 * title too.
 */
const WISHES: ReadonlyArray<readonly [LayoutPart, number]> = [
  ['logs', 2],
  ['said', 2],
  ['queries', 3],
  ['logs', 3],
  ['said', 3],
  ['batch', 1],
  ['events', 1],
  ['batch', 3],
  ['said', 4],
  ['logs', 4],
  ['events', 3],
  ['queries', 6],
  ['events', 4],
  ['logs', 7],
  ['said', 5],
  ['events', 7],
  ['queries', 12],
  ['logs', 8],
  ['events', 10],
  ['queries', 40],
  ['logs', 16],
  ['events', Number.POSITIVE_INFINITY],
]

/**
 * Of a terminal of at least 60×15, or of what a play leaves of one.
 * @param queryCount how many the filter lets through
 * @param without parts that are not wanted
 */
export function layoutOf({ columns, rows }: Size, queryCount: number, without: readonly LayoutPart[] = []): Layout {
  const style: PaneStyle = columns >= BOXED.columns && rows >= BOXED.rows ? 'boxed' : 'ruled'
  const footerRows = rows >= 30 ? 2 : 1
  const given: Record<LayoutPart, number> = { queries: 1, batch: 0, logs: 0, said: 0, events: 0 }
  // The header, the titles of the table's columns, and the first query.
  let left = rows - 1 - footerRows - 2 - (style === 'boxed' ? 2 : 0)
  const limits: Record<LayoutPart, number> = {
    queries: Math.max(1, queryCount),
    // With names above and times below two lines are enough.
    batch: columns >= 116 ? 2 : columns >= 77 ? 3 : 1,
    logs: Number.POSITIVE_INFINITY,
    said: 8,
    events: Number.POSITIVE_INFINITY,
  }
  for (const [part, wanted] of [...(columns < NARROW_COLUMNS ? NARROW_WISHES : []), ...WISHES]) {
    const most = without.includes(part) ? 0 : Math.min(wanted, limits[part])
    const cost = given[part] === 0 ? rowsAround(style) : 0
    const more = Math.min(most - given[part], left - cost)
    if (more < 1) continue
    given[part] += more
    left -= more + cost
  }
  return { style, rows: given, footerRows }
}
