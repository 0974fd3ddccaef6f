/**
 * Appends: rows that are added and nothing read, so a lost race only means the next number. The first append makes the table.
 */
import { join } from 'node:path'
import { StreamtopError } from '../errors.js'
import type { AddFile, Metadata } from './actions.js'
import type { Columns } from './columns.js'
import { projectColumns } from './columns.js'
import { type Base, type CommitContext, commitVersion, type Draft, type PlannedWrite } from './commit.js'
import { writeDataFiles } from './data-files.js'
import { checkWritable, PLAIN_PROTOCOL } from './features.js'
import { nobodyListens } from './moments.js'
import type { AppendOperation, WriteOptions } from './write.js'
import { formatSchemaString, type Schema } from './schema.js'

/**
 * The append of rows to a table, made when it is not there.
 * @throws schema-mismatch, when it is committed, for rows that do not fit the table's columns
 */
export function appendWrite(context: CommitContext, name: string, columns: Columns, operation: AppendOperation, options: WriteOptions): PlannedWrite {
  const folder = join(context.tablesFolder, name)
  let adds: AddFile[] | null = null
  return {
    table: name,
    kind: 'append',
    rowCount: columns.rowCount,
    options,
    async draftFor(base) {
      const rows = base ? fitting(base, columns) : columns
      // A plain write of no rows is no version (as Delta's); a streaming sink commits its batch all the same.
      if (rows.rowCount === 0 && operation.kind === 'write' && !options.txn) return null
      if (adds === null) {
        context.fx.files.makeFolder(folder)
        adds =
          rows.rowCount === 0
            ? []
            : await writeDataFiles(folder, [rows], options.onMoment ?? nobodyListens, context.written(name), { table: name, kind: 'append' }, context.fx)
      }
      return appendDraft(operation, columns.schema, base, adds, rows.rowCount, context)
    },
  }
}

/** Makes an empty table, unless there is one: `CREATE TABLE IF NOT EXISTS`. */
export async function createTable(context: CommitContext, name: string, schema: Schema): Promise<void> {
  if (context.base(name)) return
  try {
    await commitVersion(context, {
      table: name,
      kind: 'create',
      rowCount: 0,
      options: {},
      draftFor: async (base) =>
        base
          ? null
          : {
              operation: 'CREATE TABLE',
              operationParameters: { partitionBy: '[]', clusterBy: '[]', description: null, isManaged: 'false', properties: '{}' },
              operationMetrics: {},
              isBlindAppend: true,
              actions: { ...newTable(schema, context), adds: [], removes: [] },
            },
    })
  } catch (error) {
    // Another process made it in the same moment, which is what was asked for.
    if (!(error instanceof StreamtopError && error.code === 'conflict' && context.base(name))) throw error
  }
}

/** The metadata and protocol of a new table. */
export function newTable(schema: Schema, context: CommitContext): { readonly metadata: Metadata; readonly protocol: typeof PLAIN_PROTOCOL } {
  return {
    metadata: {
      id: context.fx.randomUuid(),
      schemaString: formatSchemaString(schema),
      partitionColumns: [],
      configuration: {},
      createdTimeMs: context.fx.nowMs(),
    },
    protocol: PLAIN_PROTOCOL,
  }
}

/** The rows in the table's columns, or a refusal: by name, and none may be left over. */
export function fitting(base: Base, columns: Columns): Columns {
  const { table, shape } = base
  checkWritable(table.name, shape.protocol, shape.metadata, false)
  const known = new Set(shape.schema.columns.map((column) => column.name.toLowerCase()))
  const extra = columns.schema.columns.find((column) => !known.has(column.name.toLowerCase()))
  if (extra) {
    throw new StreamtopError('schema-mismatch', `table ${table.name} has no column ${extra.name}`, {
      hint: 'leave the column out of the rows, or drop the table so that it is made with it',
      condition: 'DELTA_METADATA_MISMATCH',
    })
  }
  return projectColumns(columns, shape.schema)
}

function appendDraft(operation: AppendOperation, schema: Schema, base: Base | null, adds: AddFile[], rowCount: number, context: CommitContext): Draft {
  const bytes = String(adds.reduce((sum, add) => sum + add.size, 0))
  const files = String(adds.length)
  const rows = String(rowCount)
  return {
    ...(operation.kind === 'write'
      ? {
          operation: 'WRITE',
          operationParameters: { mode: 'Append', partitionBy: '[]' },
          operationMetrics: { numFiles: files, numOutputRows: rows, numOutputBytes: bytes },
        }
      : {
          operation: 'STREAMING UPDATE',
          operationParameters: { outputMode: 'Append', queryId: operation.queryId, epochId: String(operation.epochId) },
          operationMetrics: { numRemovedFiles: '0', numAddedFiles: files, numOutputRows: rows, numOutputBytes: bytes },
        }),
    isBlindAppend: true,
    actions: { ...(base ? { metadata: null, protocol: null } : newTable(schema, context)), adds, removes: [] },
  }
}
