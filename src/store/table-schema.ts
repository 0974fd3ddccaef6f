/**
 * The columns of a table with what its metadata says of how its files hold them: column mapping (Delta protocol, "Column Mapping") and
 * partition columns. For a plain table it is the schema alone.
 */
import { StreamtopError } from '../errors.js'
import type { Metadata } from './actions.js'
import { type Column, parseSchemaString, type Schema, sameName } from './schema.js'

/** What a table's `delta.columnMapping.mode` says; a mode that is not known is given as it stands. */
export function mappingModeOf(metadata: Metadata): string {
  return metadata.configuration['delta.columnMapping.mode'] ?? 'none'
}

/** The schema of a table. Throws as `parseSchemaString`, and `table-damaged` when a mapped column has no physical name. */
export function tableSchema(metadata: Metadata): Schema {
  const schema = parseSchemaString(metadata.schemaString)
  const mode = mappingModeOf(metadata)
  if (mode === 'none' && metadata.partitionColumns.length === 0) return schema
  const fields = mode === 'none' ? [] : (JSON.parse(metadata.schemaString) as { fields: readonly { metadata?: Record<string, unknown> }[] }).fields
  return {
    columns: schema.columns.map((column, index) => {
      const isPartition = metadata.partitionColumns.some((name) => sameName(name, column.name))
      if (mode !== 'none') return mapped(column, fields[index]?.metadata ?? {}, mode, isPartition)
      return isPartition ? { ...column, stored: { name: column.name, fieldId: null, isPartition } } : column
    }),
  }
}

function mapped(column: Column, field: Readonly<Record<string, unknown>>, mode: string, isPartition: boolean): Column {
  const name = field['delta.columnMapping.physicalName']
  const id = field['delta.columnMapping.id']
  if (typeof name !== 'string' || (mode === 'id' && typeof id !== 'number')) {
    throw new StreamtopError('table-damaged', `column ${column.name} has no physical name or id although the table maps its columns (mode ${mode})`, {
      hint: 'restore the table’s log from a copy',
      condition: 'DELTA_COLUMN_MAPPING_PHYSICAL_NAME_MISSING',
    })
  }
  return { ...column, stored: { name, fieldId: mode === 'id' ? Number(id) : null, isPartition } }
}
