/** `t`: the newest rows of a table; `h`: its versions. */
import { isoTimeOf } from '../iso-time.js'
import type { HistoryLine } from '../observe/table-history.js'
import type { TableRows } from '../session/workspace-service.js'
import { type Column, fittedTable, type Reduction } from './columns.js'
import { passesFilter } from './filter.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import type { Line } from './line.js'
import { timeOfDay } from './local-time.js'
import { cellWidth, clip } from './width.js'

/** A table of text: the titles of its columns stay while the rest scrolls. */
export interface TableLines {
  readonly titles: Line
  readonly lines: readonly Line[]
}

/** No cell is shown with more code points. */
const MOST_CELL = 200
/** Titles are cut to this before anything else, cells to what a point in time takes; then columns at the right go. */
const LEAST_TITLE = 4
const LEAST_CELL = 19

/** The rows that fit the filter, or all when none does; columns as wide as they need, the widest ones cut until all fit. */
export function rowLines(content: TableRows, filter: string, width: number, look: Look): TableLines {
  return remembered(content, keyOf(filter, width, look), () => fitRows(content.columns, shownRows(content, filter), width, look))
}

export function shownRows({ rows }: TableRows, filter: string): TableRows['rows'] {
  return filtered(rows, filter, (row) => row.join(' '))
}

function fitRows(columns: readonly string[], rows: TableRows['rows'], width: number, { glyphs }: Look): TableLines {
  const texts = rows.map((row) => columns.map((_, index) => shownText(row[index] ?? '', glyphs.isAscii, MOST_CELL)))
  const titles = columns.map((name) => shownText(name, glyphs.isAscii, MOST_CELL))
  const cellWidths = columns.map((_, index) => texts.reduce((widest, row) => Math.max(widest, cellWidth(row[index] ?? '')), 0))
  const natural = titles.map((title, index) => Math.max(cellWidth(title), cellWidths[index] ?? 0))
  const least = natural.map((cells, index) => Math.min(cells, Math.max(LEAST_TITLE, Math.min(LEAST_CELL, cellWidths[index] ?? 0))))
  const widths = fittedWidths(natural, least, width)
  const fitted = widths.map((cells, index): Column<readonly string[]> => {
    const cut = (text: string) => clip(text, cells, glyphs.ellipsis)
    const isNumbers = texts.length > 0 && texts.every((row) => /^(-?[\d.]+|null|NULL)?$/.test(row[index] ?? ''))
    return { name: String(index), titles: [cut(titles[index] ?? '')], align: isNumbers ? 'right' : 'left', cell: (row) => ({ texts: [cut(row[index] ?? '')] }) }
  })
  const leftOut = columns.length - widths.length
  const rest: Column<readonly string[]> = { name: 'rest', titles: [`+${leftOut}`], align: 'left', cell: () => ({ texts: [glyphs.ellipsis] }) }
  return split(fittedTable(leftOut > 0 ? [...fitted, rest] : fitted, texts, { reductions: [], width, ellipsis: glyphs.ellipsis }))
}

/**
 * Widths that fit with a blank between: the widest columns give first, none below its least. What cannot fit even so is left out at
 * the right, and five cells stay for the column that says so.
 */
function fittedWidths(natural: readonly number[], least: readonly number[], width: number): number[] {
  for (let count = natural.length; count > 0; count--) {
    const widths = natural.slice(0, count)
    const room = width - (count - 1) - (count < natural.length ? 5 : 0)
    if (least.slice(0, count).reduce((sum, cells) => sum + cells, 0) > room) continue
    for (let excess = widths.reduce((sum, cells) => sum + cells, 0) - room; excess > 0; excess--) {
      let widest = -1
      widths.forEach((cells, index) => {
        if (cells > (least[index] ?? 0) && cells > (widths[widest] ?? 0)) widest = index
      })
      if (widest === -1) break
      widths[widest] = (widths[widest] ?? 1) - 1
    }
    return widths
  }
  return natural.length === 0 ? [] : [Math.max(0, width - 5)]
}

/** The versions that fit the filter, or all when none does, newest first. */
export function versionLines(versions: readonly HistoryLine[], filter: string, width: number, look: Look): TableLines {
  const options = { reductions: VERSION_REDUCTIONS, width, ellipsis: look.glyphs.ellipsis }
  return remembered(versions, keyOf(filter, width, look), () => {
    const shown = shownVersions(versions, filter)
    const columns = shown.some((version) => othersOf(version) !== '') ? [...versionColumns(look), togetherColumn(look)] : versionColumns(look)
    return split(fittedTable(columns, shown, options))
  })
}

export function shownVersions(versions: readonly HistoryLine[], filter: string): readonly HistoryLine[] {
  return filtered(versions, filter, (line) => {
    const { version, operation, query, batchId, txns } = line
    return [version, operation ?? '?', query ?? '-', batchId ?? '-', txns.map((txn) => `${txn.appId} ${txn.version}`).join(', '), othersOf(line)].join(' ')
  })
}

function versionColumns({ glyphs: { isAscii }, timeZoneOffsetMinutes }: Look): Column<HistoryLine>[] {
  const name = (text: string) => shownText(text, isAscii, 60)
  return [
    { name: 'version', titles: ['version', 'v'], align: 'right', cell: ({ version }) => ({ texts: [String(version)], tone: 'title' }) },
    {
      name: 'time',
      titles: ['time'],
      align: 'left',
      cell: ({ timestampMs }) => {
        if (timestampMs === null) return { texts: ['?'] }
        const local = isoTimeOf(timestampMs + timeZoneOffsetMinutes * 60_000)
        return { texts: [local.slice(0, 19).replace('T', ' '), timeOfDay(timestampMs, timeZoneOffsetMinutes)] }
      },
    },
    { name: 'operation', titles: ['operation'], align: 'left', cell: ({ operation }) => ({ texts: [name(operation ?? '?')] }) },
    { name: 'query', titles: ['query'], align: 'left', cell: ({ query }) => ({ texts: [query === null ? '-' : name(query)] }) },
    {
      name: 'batch',
      titles: ['batch'],
      align: 'right',
      cell: ({ batchId, attempt }) => ({ texts: [batchId === null ? '-' : (attempt ?? 1) === 1 ? String(batchId) : `${batchId} #${attempt}`] }),
    },
    {
      name: 'txn',
      titles: ['txn'],
      align: 'left',
      cell: ({ txns }) => ({ texts: [txns.length === 0 ? 'none' : name(txns.map(({ appId, version }) => `${appId} ${version}`).join(', '))] }),
    },
    { name: 'rows', titles: ['rows'], align: 'right', cell: ({ rowsAdded, rowsRemoved }) => ({ texts: [change(rowsAdded, rowsRemoved)] }) },
    { name: 'files', titles: ['files'], align: 'right', cell: ({ filesAdded, filesRemoved }) => ({ texts: [change(filesAdded, filesRemoved)] }) },
  ]
}

/** Of one commit over several tables: the others, which have their versions by the same moment of decision. */
function togetherColumn({ glyphs: { isAscii } }: Look): Column<HistoryLine> {
  return {
    name: 'together',
    titles: ['together with', 'with'],
    align: 'left',
    cell: (line) => ({ texts: [shownText(othersOf(line), isAscii, 60)] }),
  }
}

function othersOf({ togetherWith = [] }: HistoryLine): string {
  return togetherWith.join(', ')
}

const VERSION_REDUCTIONS: readonly Reduction[] = [
  { column: 'time', how: 'shorten' },
  { column: 'version', how: 'shorten' },
  { column: 'files', how: 'drop' },
  { column: 'query', how: 'drop' },
  { column: 'time', how: 'drop' },
  { column: 'together', how: 'shorten' },
  { column: 'txn', how: 'squeeze' },
  { column: 'together', how: 'squeeze' },
  { column: 'operation', how: 'squeeze' },
]

/** `+6 -3`; an unknown number is `?`. */
function change(added: number | null, removed: number | null): string {
  return `+${added ?? '?'}${removed === 0 ? '' : ` -${removed ?? '?'}`}`
}

function filtered<Row>(rows: readonly Row[], filter: string, textOf: (row: Row) => string): readonly Row[] {
  if (filter === '') return rows
  const shown = rows.filter((row) => passesFilter(filter, textOf(row)))
  return shown.length === 0 ? rows : shown
}

/**
 * Tables of hundreds of rows are fitted once, not for every frame and every line that is scrolled. What was read never changes, so the
 * newest result for each is all that is kept.
 */
const REMEMBERED = new WeakMap<object, { readonly key: string; readonly table: TableLines }>()

function remembered(content: object, key: string, make: () => TableLines): TableLines {
  const last = REMEMBERED.get(content)
  if (last?.key === key) return last.table
  const table = make()
  REMEMBERED.set(content, { key, table })
  return table
}

function keyOf(filter: string, width: number, { glyphs, timeZoneOffsetMinutes }: Look): string {
  return `${width} ${glyphs.isAscii} ${timeZoneOffsetMinutes} ${filter}`
}

function split([titles = [], ...lines]: readonly Line[]): TableLines {
  return { titles, lines }
}
