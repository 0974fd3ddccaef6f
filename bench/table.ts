/** Figures as a table of text. */
import type { Figure } from './figure.js'

/** Columns are as wide as what is in them; the last column says whether the budget is met. */
export function tableOf(figures: readonly Figure[]): string {
  const header = ['what', 'measured', 'floor', 'ratio', 'budget', '']
  const lines = figures.map((figure) => [
    figure.what,
    amount(figure.value, figure.unit),
    figure.floor ? `${amount(figure.floor.value, figure.floor.unit)} (${figure.floor.what})` : '',
    figure.ratio === null ? '' : `${figure.ratio.toFixed(2)} ×`,
    figure.budget ?? '',
    figure.isMet === null ? '' : figure.isMet ? 'met' : 'MISSED',
  ])
  return drawn([header, ...lines], new Set([1, 3]))
}

/** Rows of cells, the first one a header; columns in `right` are set to the right. */
export function drawn(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const text = (row: readonly string[]) =>
    row
      .map((cell, column) => (right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  const [header = [], ...rest] = rows
  return `${[text(header), '-'.repeat(text(header).length), ...rest.map(text)].join('\n')}\n`
}

export function amount(value: number, unit: string): string {
  if (Number.isNaN(value)) return '-'
  const digits = Math.abs(value) >= 1_000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 3
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: unit === 's' || unit === 'ms' ? Math.min(digits, 2) : 0 })} ${unit}`
}
