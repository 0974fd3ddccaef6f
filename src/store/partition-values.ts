/**
 * Partition columns: their values stand in the log, one text a file, and not in the file (Delta protocol, "Partition Value
 * Serialization"). The log alone counts: what a folder is called, or a file holds, does not.
 */
import { StreamtopError } from '../errors.js'
import type { AddFile } from './actions.js'
import { nullVector, takeRows, type Vector } from './columns.js'
import { columnsFromRows } from './columns-from-rows.js'
import { type Column, sameName, storedName, typeName } from './schema.js'

/**
 * A partition column of a file, the same value in every row. No text and the empty one are null; a timestamp without a zone is UTC.
 * @throws table-damaged when the text is no value of the column's type
 */
export function partitionVector(column: Column, values: AddFile['partitionValues'], rowCount: number): Vector {
  const text = textOf(storedName(column), values)
  if (text === null || text === '') return { ...nullVector(column, rowCount), column }
  const value = column.type.kind === 'binary' ? Buffer.from(text, 'utf8') : text
  try {
    const [vector] = takeRows(
      columnsFromRows({ columns: [{ name: VALUE, type: column.type, nullable: true }] }, [{ [VALUE]: value }]),
      new Int32Array(rowCount),
    ).vectors
    if (vector) return { ...vector, column }
  } catch (cause) {
    throw new StreamtopError(
      'table-damaged',
      `the log gives a file ${JSON.stringify(text.slice(0, 60))} for its partition column ${column.name}, which is ${typeName(column.type)}`,
      { cause },
    )
  }
  return nullVector(column, rowCount)
}

const VALUE = 'value'

function textOf(name: string, values: AddFile['partitionValues']): string | null {
  const exact = values[name]
  if (exact !== undefined) return exact
  const other = Object.keys(values).find((key) => sameName(key, name))
  return other === undefined ? null : (values[other] ?? null)
}
