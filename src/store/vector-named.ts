/** Finding a column by name, as Delta does: without regard to upper and lower case. */
import { StreamtopError } from '../errors.js'
import type { Columns, Vector } from './columns.js'
import { columnIndex } from './schema.js'

/** The vector of the column with this name in any case; `schema-mismatch` when there is none. */
export function vectorNamed(columns: Columns, name: string): Vector {
  const vector = columns.vectors[columnIndex(columns.schema, name)]
  if (vector !== undefined) return vector
  const names = columns.schema.columns.map((column) => column.name).join(', ')
  throw new StreamtopError('schema-mismatch', `there is no column ${name} among ${names}`, { condition: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' })
}
