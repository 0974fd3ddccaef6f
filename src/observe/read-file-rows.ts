/** The rows of one data file of a table, all its columns or some of them. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { knownError } from '../errors.js'
import type { AddFile } from '../store/actions.js'
import type { Columns } from '../store/columns.js'
import { sameName } from '../store/schema.js'
import type { TableView } from './table-view.js'

/**
 * Rows of a data file.
 * @param names only these columns; all of the table's unless given
 * @throws table-damaged when the file is not there or broken, not-permitted, disk-failed: one table's trouble, and not the whole look's
 */
export async function readFileRows(view: TableView, file: AddFile, fx: Effects, names?: readonly string[]): Promise<Columns> {
  const { snapshot, tablesFolder } = view
  const { schema } = snapshot
  const wanted = names === undefined ? schema : { columns: schema.columns.filter((column) => names.some((name) => sameName(name, column.name))) }
  const { readDataFile } = await import('../store/data-files.js')
  try {
    return await readDataFile(join(tablesFolder, snapshot.table), wanted, file, fx)
  } catch (error) {
    throw knownError(error) ?? error
  }
}
