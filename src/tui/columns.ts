/** A table of cells fitted to a width: columns become short, or go, in a given order. */
import type { Line, Tone } from './line.js'
import { span } from './spans.js'
import { cellWidth, padLeft, padRight } from './width.js'

export interface Cell {
  /** Longest first; a cell without a shorter text keeps its last. */
  readonly texts: readonly string[]
  readonly tone?: Tone
}

export interface Column<Row> {
  readonly name: string
  /** As of a cell. */
  readonly titles: readonly string[]
  readonly align: 'left' | 'right'
  /** So that columns stay where they are while numbers grow; of the longest texts only. */
  readonly leastWidth?: number
  readonly cell: (row: Row) => Cell
}

/** `drop`: the column goes. `shorten`: its next shorter texts. `squeeze`: it gives of its width what is too much. */
export interface Reduction {
  readonly column: string
  readonly how: 'drop' | 'shorten' | 'squeeze'
}

interface Placed<Row> {
  readonly column: Column<Row>
  /** Which of the texts: 0 is the longest. */
  readonly level: number
  readonly width: number
}

/**
 * A line of titles, then one for each row, none wider than `width` if the reductions, made one after the other, can do it.
 * @param all the rows that columns are measured by, where not all of them are drawn
 */
export function fittedTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  {
    reductions,
    width,
    ellipsis,
    all = rows,
  }: { readonly reductions: readonly Reduction[]; readonly width: number; readonly ellipsis: string; readonly all?: readonly Row[] },
): Line[] {
  const placed = place(columns, all, reductions, width)
  const draw = (one: Placed<Row>, text: string, tone: Tone) =>
    span(one.column.align === 'right' ? padLeft(text, one.width, ellipsis) : padRight(text, one.width, ellipsis), tone)
  const titles = placed.map((one) => draw(one, textAt(one.column.titles, one.level), 'title'))
  const lines = rows.map((row) =>
    placed.map((one) => {
      const { texts, tone } = one.column.cell(row)
      return draw(one, textAt(texts, one.level), tone ?? 'text')
    }),
  )
  const isRoomy = placed.reduce((sum, one) => sum + one.width + 2, -2) <= width
  const gap = span(isRoomy ? '  ' : ' ')
  return [titles, ...lines].map((cells) => cells.flatMap((cell, index) => (index === 0 ? [cell] : [gap, cell])))
}

function place<Row>(columns: readonly Column<Row>[], rows: readonly Row[], reductions: readonly Reduction[], width: number): Placed<Row>[] {
  const measured = (column: Column<Row>, level: number): Placed<Row> => {
    let widest = Math.max(cellWidth(textAt(column.titles, level)), level === 0 ? (column.leastWidth ?? 0) : 0)
    for (const row of rows) widest = Math.max(widest, cellWidth(textAt(column.cell(row).texts, level)))
    return { column, level, width: widest }
  }
  let placed = columns.map((column) => measured(column, 0))
  for (const { column: name, how } of reductions) {
    const excess = placed.reduce((sum, one) => sum + one.width + 1, -1) - width
    if (excess <= 0) break
    if (how === 'drop') placed = placed.filter(({ column }) => column.name !== name)
    else
      placed = placed.map((one) => {
        if (one.column.name !== name) return one
        return how === 'shorten' ? measured(one.column, one.level + 1) : { ...one, width: Math.max(1, one.width - excess) }
      })
  }
  return placed
}

function textAt(texts: readonly string[], level: number): string {
  return texts[Math.min(level, texts.length - 1)] ?? ''
}
