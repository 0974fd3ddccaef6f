/** `--size 120x40`: the size of a screen that is drawn without a terminal. */
import { StreamtopError } from '../errors.js'

const SIZE = /^([1-9]\d{0,2})x([1-9]\d{0,2})$/

/** @throws usage for a text that is no size */
export function parseScreenSize(text: string): { readonly columns: number; readonly rows: number } {
  const [, columns, rows] = SIZE.exec(text) ?? []
  if (columns === undefined)
    throw new StreamtopError('usage', `--size takes COLUMNSxROWS, each up to 999, not "${text}"`, { hint: 'for example: --size 120x40' })
  return { columns: Number(columns), rows: Number(rows) }
}
