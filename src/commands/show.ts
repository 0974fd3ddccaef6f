/** `streamtop show`: rows of a table, drawn as Spark's `show()` draws them. */
import { safeJson } from '../safe-text.js'
import type { Context, Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface ShowOptions {
  readonly version?: number
  readonly limit?: number
}

export const show: Verb<ShowOptions> = {
  name: 'show',
  summary: "rows of a table, drawn as Spark's show() draws them",
  description:
    'Draws the first rows of a table, in the order of its files. With --json each row is an object; decimals, longs, dates and timestamps are texts that hold the exact value, binary is in hexadecimal digits.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  options: [
    { flags: '--version <n>', description: 'the table as it was at this version', parse: wholeNumber('--version', 0) },
    { flags: '--limit <n>', description: 'so many rows at most; 20 unless given', parse: wholeNumber('--limit', 0) },
  ],
  examples: [
    { command: 'streamtop show orders', does: 'the first twenty rows' },
    { command: 'streamtop show events_copy --version 0', does: 'before the batch ran again' },
  ],
  run: runShow,
}

const DEFAULT_LIMIT = 20

async function runShow({ workspace, arguments: [table = ''], options, json, output, fx }: Context<ShowOptions>): Promise<number> {
  const { checkTableToRead } = await import('../observe/table-to-read.js')
  const { readTableRows } = await import('../observe/read-table.js')
  checkTableToRead(workspace, table, fx)
  const limit = options.limit ?? DEFAULT_LIMIT
  // One more than is shown, so that it can be said whether there are more.
  const found = await readTableRows(workspace, table, { version: options.version, enough: limit + 1 }, fx)
  if (found === null) {
    const { noSuchTable } = await import('../store/store.js')
    throw noSuchTable(table)
  }
  if (json) {
    const { jsonRows } = await import('../observe/json-rows.js')
    const rows = jsonRows(found.columns, limit)
    output.stdout(`${safeJson({ table, version: found.version, rows, more: found.columns.rowCount > limit }, 2)}\n`)
    return 0
  }
  const { showRows } = await import('../store/show.js')
  output.stdout(showRows(found.columns, { limit }))
  return 0
}
