/**
 * Rows drawn as Spark's `df.show()` draws them, letter by letter: right-aligned, cells cut to 20 characters, full-width characters
 * counted as two. Control, direction and invisible characters that Spark would send to the terminal are shown as marks instead.
 */
import { UNSAFE } from '../safe-text.js'
import { castToString, hexText } from './cast-to-string.js'
import type { Columns, Vector } from './columns.js'
import { valueAt } from './values.js'

export interface ShowOptions {
  /** How many rows are drawn; the last line says so when there are more. Default 20. */
  readonly limit?: number
}

/** The table as text. It ends with an empty line, as what Spark prints does. */
export function showRows(columns: Columns, { limit = 20 }: ShowOptions = {}): string {
  const shown = Math.min(columns.rowCount, Math.max(0, limit))
  const cells = columns.vectors.map((vector) => [
    escapeCell(vector.column.name),
    ...Array.from({ length: shown }, (_, row) => cutCell(escapeCell(cellText(vector, row)))),
  ])
  const widths = cells.map((column) => column.reduce((width, cell) => Math.max(width, widthOf(cell)), MIN_WIDTH))
  const border = `+${widths.map((width) => '-'.repeat(width)).join('+')}+\n`
  const line = (row: number) => `|${cells.map((column, c) => padLeft(column[row] ?? '', widths[c] ?? 0)).join('|')}|\n`
  const body = Array.from({ length: shown }, (_, row) => line(row + 1)).join('')
  const more = columns.rowCount > shown ? `only showing top ${shown} ${shown === 1 ? 'row' : 'rows'}\n` : ''
  return `${border}${line(0)}${border}${body}${border}${more}\n`
}

const MIN_WIDTH = 3
const MAX_CELL_LENGTH = 20

/** A value as a cell says it, neither cut nor made safe. */
export function cellText(vector: Vector, row: number): string {
  const value = valueAt(vector, row)
  if (value instanceof Uint8Array) return `[${hexText(value).replace(/..(?=.)/g, '$& ')}]`
  return castToString(vector.column.type, value) ?? 'NULL'
}

/** Spark counts UTF-16 units here. A surrogate pair is not cut in half, which would print as a question mark. */
function cutCell(cell: string): string {
  if (cell.length <= MAX_CELL_LENGTH) return cell
  const start = cell.slice(0, MAX_CELL_LENGTH - 3)
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}...`
}

function padLeft(cell: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(cell))) + cell
}

/** Spark's half-width length: one for each UTF-16 unit, one more for each full-width character. */
function widthOf(cell: string): number {
  return cell.length + (cell.match(FULL_WIDTH)?.length ?? 0)
}

const FULL_WIDTH = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g

/** Spark escapes seven control characters; every other character that would act on a terminal, or not be seen there, is shown by its number. */
function escapeCell(cell: string): string {
  return cell.replace(UNSAFE, (character) => SPARK_ESCAPES.get(character) ?? `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

const SPARK_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\f', '\\f'],
  ['\b', '\\b'],
  ['\v', '\\v'],
  ['\u0007', '\\a'],
])
