/** The rows that came to a table last, as cells. */
import type { Effects } from '../effects.js'
import { cellText } from '../store/show.js'
import { lookAt } from './counts.js'
import { readFileRows } from './read-file-rows.js'
import { rowsOf } from './table-history.js'

export interface NewestRows {
  readonly version: number
  readonly columns: readonly string[]
  /** Newest first; each cell as `show` says it, neither cut nor safe to print. */
  readonly rows: ReadonlyArray<readonly string[]>
  /** Of the whole table. */
  readonly rowCount: number
}

/**
 * The rows of the files that were added last, and no file before them; null when there is no such table.
 * @throws what makes the table unreadable
 */
export async function newestRows(workspace: string, table: string, limit: number, fx: Effects): Promise<NewestRows | null> {
  const view = lookAt(workspace, table, undefined, fx)
  if (view === null) return null
  const { files, schema, version } = view.snapshot
  const rows: string[][] = []
  let rowCount = 0
  for (const file of [...files].reverse()) {
    const counted = rowsOf(file)
    if (rows.length >= limit && counted !== null) {
      rowCount += counted
      continue
    }
    const { vectors, rowCount: found } = await readFileRows(view, file, fx)
    rowCount += found
    for (let row = found - 1; row >= 0 && rows.length < limit; row--) rows.push(vectors.map((vector) => cellText(vector, row)))
  }
  return { version, columns: schema.columns.map(({ name }) => name), rows, rowCount }
}
