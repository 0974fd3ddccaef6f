/** What a terminal says that is too small for anything else. */
import type { Line, Size } from './line.js'
import { span, wrapSpans } from './spans.js'

export const SMALLEST: Size = { columns: 40, rows: 8 }

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows
}

export function tooSmall({ columns, rows }: Size): Line[] {
  const needed = `${SMALLEST.columns}x${SMALLEST.rows}`
  const texts = [`streamtop needs ${needed}, this is ${columns}x${rows}. q quits.`, `${needed} needed, q quits`, needed]
  const fitting = texts.map((text) => wrapSpans([span(text, 'said')], columns - 1)).find((lines) => lines.length <= rows)
  return fitting ?? []
}
