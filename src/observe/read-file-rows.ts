/** The rows of one data file of a table, with the values of partition columns, which stand in the log and not in the file. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import type { AddFile } from '../store/actions.js'
import { type Columns, takeRows } from '../store/columns.js'
import { columnsFromRows } from '../store/columns-from-rows.js'
import type { Schema } from '../store/schema.js'
import { sameName } from '../store/schema.js'
import type { TableView } from './table-view.js'

/**
 * Rows of a data file.
 * @param names only these columns; all of the table's unless given
 * @throws table-damaged when the file is not there or cannot be read
 */
export async function readFileRows(view: TableView, file: AddFile, fx: Effects, names?: readonly string[]): Promise<Columns> {
  const { snapshot, tablesFolder } = view
  const { partitionColumns } = snapshot.metadata
  const wanted = names === undefined ? snapshot.schema : { columns: snapshot.schema.columns.filter((column) => names.some((name) => sameName(name, column.name))) }
  const isPartition = (column: string) => partitionColumns.some((name) => sameName(name, column))
  const inFile: Schema = partitionColumns.length === 0 ? wanted : { columns: wanted.columns.filter((column) => !isPartition(column.name)) }
  const { readDataFile } = await import('../store/data-files.js')
  const rows = await readDataFile(join(tablesFolder, snapshot.table), inFile, file, fx)
  if (inFile.columns.length === wanted.columns.length) return rows

  const partitions = columnsFromRows({ columns: wanted.columns.filter((column) => isPartition(column.name)) }, [
    // An empty text stands for null (Delta protocol, "Partition Value Serialization").
    Object.fromEntries(Object.entries(file.partitionValues).filter(([name, value]) => value !== null && value !== '' && wanted.columns.some((column) => sameName(column.name, name)))),
  ])
  const repeated = takeRows(partitions, new Int32Array(rows.rowCount))
  const vectors = wanted.columns.map((column) => {
    const found = [...rows.vectors, ...repeated.vectors].find((vector) => vector.column.name === column.name)
    if (found) return found
    throw new Error(`column ${column.name} is in neither the file nor its partition`)
  })
  return { schema: wanted, rowCount: rows.rowCount, vectors }
}
