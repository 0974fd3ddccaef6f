/**
 * OPTIMIZE: small files of a table are written again as few larger ones. No row changes (`dataChange` is false in every action), so a
 * stream that reads the table passes over the version, and an append of the same moment is committed before or behind it. It is a
 * commit like any other, with the same moments.
 */
import { dirname, join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { AddFile, RemoveFile } from './actions.js'
import { type Base, type CommitContext, commitVersion, type Draft, MERGE_TRIES_MAX } from './commit.js'
import { bytesOf, COMPACTION_PARAMETERS, compactionMetrics, filesToCompact } from './compaction.js'
import { readDataFiles, type WrittenFile, writeDataFiles } from './data-files.js'
import { checkCompactable } from './features.js'
import { nobodyListens, type OnMoment } from './moments.js'
import { fileKey } from './replay.js'
import type { Schema } from './schema.js'
import { noSuchTable } from './store.js'
import { rowCountOf } from './version-text.js'

/** Parquet files of this size are left alone: a read of one is quick, and a MERGE that touches it rewrites no more. */
const TARGET_BYTES = 16 * 1024 * 1024

export interface OptimizeChoices {
  /** Files smaller than this are put together up to it; 16 MiB unless given. */
  readonly targetBytes?: number | undefined
  readonly onMoment?: OnMoment | undefined
}

export interface OptimizeReport {
  readonly table: string
  /** The version that it made; null when there was nothing to do. */
  readonly version: number | null
  readonly filesRemoved: number
  readonly filesAdded: number
  readonly bytesRemoved: number
  readonly bytesAdded: number
  readonly rows: number
}

/** What was written for a snapshot. It is good for any later one that still has the files. */
interface Rewritten {
  readonly removed: readonly AddFile[]
  readonly added: readonly AddFile[]
  readonly rows: number
}

const NOTHING: Rewritten = { removed: [], added: [], rows: 0 }

/**
 * @param written told of each new file, at once
 * @throws unknown-table, unsupported-feature, conflict when others rewrote the same files four times meanwhile
 */
export async function optimizeTable(context: CommitContext, name: string, choices: OptimizeChoices, written: WrittenFile): Promise<OptimizeReport> {
  const { targetBytes = TARGET_BYTES, onMoment = nobodyListens } = choices
  let midWriteIsTold = false
  const moment: OnMoment = async (which, details) => {
    if (which === 'mid-write' && midWriteIsTold) return
    midWriteIsTold ||= which === 'mid-write'
    await onMoment(which, details)
  }
  let rewritten = NOTHING
  let rewrites = 0
  const draftFor = async (base: Base | null): Promise<Draft | null> => {
    if (base === null) throw noSuchTable(name)
    checkCompactable(name, base.shape.protocol, base.shape.metadata)
    const { files } = context.log.snapshot(base.table, base.version)
    const live = new Set(files.map(fileKey))
    if (rewrites === 0 || !rewritten.removed.every((file) => live.has(fileKey(file)))) {
      if (rewrites++ > MERGE_TRIES_MAX) throw rewrittenByOthers(name, base.version)
      rewritten = await rewrite(context, base, filesToCompact(files, targetBytes), moment, written)
    }
    return rewritten.removed.length === 0 ? null : draftOf(rewritten, context.fx.nowMs())
  }
  const { version } = await commitVersion(context, { table: name, kind: 'optimize', rowCount: 0, options: { onMoment: moment }, draftFor })
  const { removed, added, rows } = rewritten
  return {
    table: name,
    version,
    filesRemoved: removed.length,
    filesAdded: added.length,
    bytesRemoved: bytesOf(removed),
    bytesAdded: bytesOf(added),
    rows,
  }
}

/** One bin after the other, so that only the rows of one are in memory. */
async function rewrite(context: CommitContext, { table, shape }: Base, bins: readonly AddFile[][], moment: OnMoment, written: WrittenFile): Promise<Rewritten> {
  const { fx } = context
  const folder = join(context.tablesFolder, table.name)
  // The values of partition columns stand in the log alone; what is kept of rows is of whole ones.
  const inFiles: Schema = { columns: shape.schema.columns.filter((column) => !column.stored?.isPartition) }
  const isWhole = inFiles.columns.length === shape.schema.columns.length
  const added: AddFile[] = []
  let rows = 0
  for (const bin of bins) {
    const columns = await readDataFiles(folder, inFiles, bin, fx)
    rows += columns.rowCount
    const [like] = bin
    if (like === undefined || columns.rowCount === 0) continue
    const below = folderBeside(folder, like.path, fx)
    const details = { table: table.name, kind: 'optimize' } as const
    const adds = await writeDataFiles(join(folder, below), [columns], moment, (path) => isWhole && written(join(below, path), columns), details, fx)
    added.push(...adds.map((add) => ({ ...add, path: join(below, add.path), dataChange: false, partitionValues: like.partitionValues })))
  }
  return { removed: bins.flat(), added, rows }
}

/**
 * The folder below the table's where a file lies that is replaced: that of its partition. The table's own where it lies elsewhere: a
 * table cloned without its files names them by whole paths or addresses, and nothing is written outside or behind a link.
 */
function folderBeside(folder: string, path: string, fx: Effects): string {
  const parts = dirname(path).split('/')
  const isInside = !path.startsWith('/') && !/^[a-z][a-z\d+.-]+:\//i.test(path) && !parts.includes('..')
  const isPlain = isInside && parts.every((_, at) => !fx.files.isLink(join(folder, ...parts.slice(0, at + 1))))
  return isPlain ? dirname(path) : '.'
}

function draftOf({ removed, added }: Rewritten, nowMs: number): Draft {
  return {
    operation: 'OPTIMIZE',
    operationParameters: COMPACTION_PARAMETERS,
    operationMetrics: compactionMetrics(removed, added),
    isBlindAppend: false,
    isolationLevel: 'SnapshotIsolation',
    actions: { metadata: null, protocol: null, adds: added, removes: removed.map((file) => removalOf(file, nowMs)) },
  }
}

function removalOf({ path, deletionVector, size, partitionValues, statistics }: AddFile, nowMs: number): RemoveFile {
  return { path, deletedMs: nowMs, dataChange: false, deletionVector, size, partitionValues, rowCount: rowCountOf(statistics) }
}

function rewrittenByOthers(name: string, version: number): StreamtopError {
  return new StreamtopError(
    'conflict',
    `files of table ${name} were rewritten by others each time they had been put together; the last was before version ${version}`,
    {
      hint: 'run it again when nobody merges into the table',
      condition: 'DELTA_CONCURRENT_DELETE_READ',
    },
  )
}
