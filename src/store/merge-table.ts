/**
 * MERGE into a table: finds the files that may hold a matching row by their statistics, decides on their rows (merge.ts), writes
 * only the touched ones again. When another writer was faster, all of it is computed again on the new snapshot.
 */
import { join } from 'node:path'
import { StreamtopError } from '../errors.js'
import type { AddFile, RemoveFile } from './actions.js'
import { candidateFiles } from './candidate-files.js'
import { type Columns, concatColumns, sliceRows } from './columns.js'
import type { Base, CommitContext, Draft, PlannedWrite } from './commit.js'
import { readDataFile, writeDataFiles } from './data-files.js'
import { checkWritable } from './features.js'
import { Merge, type MergeCounts, type MergeFile } from './merge.js'
import { mergeMetrics, mergeOperation } from './merge-commit.js'
import { clausesOf, type MergeSpec } from './merge-spec.js'
import { nobodyListens } from './moments.js'
import type { Schema } from './schema.js'
import { noSuchTable } from './store.js'
import { rowCountOf } from './version-text.js'
import type { MergeEffect, WriteOptions } from './write.js'

/** Rows of a file that a MERGE writes: small enough that a later MERGE into a few keys rewrites little. */
const ROWS_PER_FILE_MAX = 50_000

/**
 * The MERGE of rows into a table.
 * @throws unknown-table, merge-ambiguous, schema-mismatch, when it is committed
 */
export function mergeWrite(context: CommitContext, name: string, source: Columns, spec: MergeSpec, options: WriteOptions): PlannedWrite {
  const folder = join(context.tablesFolder, name)
  const { fx } = context
  const draftFor = async (base: Base | null): Promise<Draft | null> => {
    if (!base) throw noSuchTable(name)
    checkWritable(name, base.shape.protocol, base.shape.metadata, true)
    const startedMs = fx.monotonicMs()
    const { merge, rewritten } = await decide(context, folder, base, source, spec)
    const inserted = merge.insertedRows()
    const scannedMs = fx.monotonicMs()
    if (rewritten.length === 0 && inserted === null && !options.txn) return null
    const parts = filesToWrite(base.shape.schema, rewritten, inserted)
    const adds = await writeDataFiles(folder, parts, options.onMoment ?? nobodyListens, context.written(name), { table: name, kind: 'merge' }, fx)
    const removes = rewritten.map(({ file }) => removal(file, fx.nowMs()))
    const endedMs = fx.monotonicMs()
    const metrics = mergeMetrics(merge.counts, {
      filesAdded: adds.length,
      filesRemoved: removes.length,
      bytesAdded: adds.reduce((sum, add) => sum + add.size, 0),
      bytesRemoved: removes.reduce((sum, remove) => sum + (remove.size ?? 0), 0),
      executionTimeMs: Math.round(endedMs - startedMs),
      scanTimeMs: Math.round(scannedMs - startedMs),
      rewriteTimeMs: Math.round(endedMs - scannedMs),
    })
    return {
      operation: 'MERGE',
      operationParameters: mergeOperation(spec, base.shape.schema),
      operationMetrics: metrics,
      isBlindAppend: false,
      counts: effectOf(merge.counts, spec),
      actions: { metadata: null, protocol: null, adds, removes },
    }
  }
  return { table: name, kind: 'merge', rowCount: source.rowCount, options, draftFor }
}

function effectOf({ sourceRows, inserted, updated, deleted }: MergeCounts, spec: MergeSpec): MergeEffect {
  const { matched, notMatched } = clausesOf(spec)
  const asksOnlyForNewer = matched.length > 0 && matched.every(({ when }) => when !== null && typeof when === 'object')
  const insertsAllOthers = notMatched.some(({ when }) => when === null)
  // Where the table has a key more than once, its rows are counted and not those given.
  const ignored = Math.max(0, sourceRows - inserted - updated - deleted)
  return { inserted, updated, deleted, ignored, isIgnoredLate: asksOnlyForNewer && insertsAllOthers }
}

/** Each candidate file is read, decided on, and let go unless it changes. */
async function decide(
  context: CommitContext,
  folder: string,
  base: Base,
  source: Columns,
  spec: MergeSpec,
): Promise<{ readonly merge: Merge; readonly rewritten: MergeFile<AddFile>[] }> {
  const { schema } = base.shape
  const merge = new Merge(source, spec, schema)
  const rewritten: MergeFile<AddFile>[] = []
  const snapshot = context.log.snapshot(base.table, base.version)
  for (const file of candidateFiles(snapshot.files, merge.keys, schema)) {
    const columns = merge.mergeFile(await readDataFile(folder, schema, file, context.fx))
    if (columns !== null) rewritten.push({ file, columns })
  }
  return { merge, rewritten }
}

/** New rows join the touched files, which are written again anyway, so that small files do not pile up. */
function filesToWrite(schema: Schema, rewritten: readonly MergeFile<AddFile>[], inserted: Columns | null): Columns[] {
  const parts = rewritten.map(({ columns }) => columns)
  if (inserted) parts.push(inserted)
  const files: Columns[] = []
  let open: Columns[] = []
  let openRowCount = 0
  const close = () => {
    if (openRowCount > 0) files.push(open.length === 1 && open[0] ? open[0] : concatColumns(schema, open))
    open = []
    openRowCount = 0
  }
  for (const part of parts) {
    for (let start = 0; start < part.rowCount; ) {
      const end = Math.min(part.rowCount, start + ROWS_PER_FILE_MAX - openRowCount)
      open.push(start === 0 && end === part.rowCount ? part : sliceRows(part, start, end))
      openRowCount += end - start
      start = end
      if (openRowCount >= ROWS_PER_FILE_MAX) close()
    }
  }
  close()
  return files
}

function removal(file: AddFile, nowMs: number): RemoveFile {
  if (file.deletionVector) throw new StreamtopError('unsupported-feature', 'a file with a deletion vector cannot be rewritten')
  return {
    path: file.path,
    deletedMs: nowMs,
    dataChange: true,
    deletionVector: null,
    size: file.size,
    partitionValues: file.partitionValues,
    rowCount: rowCountOf(file.statistics),
  }
}
