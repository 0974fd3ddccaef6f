/** A checkpoint as `status` shows it, ours or not, whole or damaged. Read-only, and it never throws: damage is a part of the answer. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { listBatches, offsetsPath, readFile, readOffsets, readQueryId } from './checkpoint.js'
import { logLines } from './damaged-file.js'
import type { OffsetsFile } from './offsets-file.js'
import { findCheckpoint, planAnyStart } from './start.js'

export interface CheckpointSummary {
  /** The query's id, null when it is missing or unreadable. */
  readonly id: string | null
  /** Numbers of the files in both logs, ascending. */
  readonly offsets: readonly number[]
  readonly commits: readonly number[]
  /** The newest batch whose offsets can be read, null for none, and what its file says. */
  readonly batchId: number | null
  /** The source lines of that batch: its end. Null for a source without an offset; no lines when no file can be read. */
  readonly sources: ReadonlyArray<string | null>
  /** The source lines of the newest offsets file that has any, as they stand there, damaged or not; of version 2 with the sources' ids. */
  readonly sourceLines: readonly string[]
  /** The source lines of the batch before: where that batch starts. No lines for batch 0, or when they cannot be read. */
  readonly sourcesBefore: ReadonlyArray<string | null>
  /** The time of that batch, milliseconds since the epoch. */
  readonly timestampMs: number | null
  readonly stateful: boolean
  /** Why a start would refuse the folder, its kind (stateful, several sources) aside. */
  readonly damage: StreamtopError | null
}

/** The summary of a folder; of one that is not there, an empty one. Reads the newest files of each log only. */
export function readCheckpoint(folder: string, fx: Effects): CheckpointSummary {
  const { offsets, commits } = attempt(() => listBatches(folder, fx)) ?? { offsets: [], commits: [] }
  const newest = newestReadable(folder, offsets, fx)
  const before = newest === null || newest.batchId === 0 ? null : attempt(() => readOffsets(folder, newest.batchId - 1, fx))
  return {
    id: attempt(() => readQueryId(folder, fx)),
    offsets,
    commits,
    batchId: newest?.batchId ?? null,
    sources: newest?.file.sources ?? [],
    sourceLines: newestSourceLines(folder, offsets, fx),
    sourcesBefore: before?.sources ?? [],
    timestampMs: newest?.file.timestampMs ?? null,
    stateful: (attempt(() => fx.files.list(join(folder, 'state'))) ?? []).length > 0,
    damage: damageOf(folder, fx),
  }
}

const MOST_DAMAGED_FILES = 5

/** Files below the newest are tried only as far as one is damaged; more than a few are never, so they are not looked through for long. */
function newestReadable(folder: string, offsets: readonly number[], fx: Effects): { readonly batchId: number; readonly file: OffsetsFile } | null {
  for (const batchId of offsets.slice(-MOST_DAMAGED_FILES).reverse()) {
    const file = attempt(() => readOffsets(folder, batchId, fx))
    if (file !== null) return { batchId, file }
  }
  return null
}

function newestSourceLines(folder: string, offsets: readonly number[], fx: Effects): readonly string[] {
  for (const batchId of offsets.slice(-MOST_DAMAGED_FILES).reverse()) {
    const [, , ...lines] = logLines(attempt(() => readFile(offsetsPath(folder, batchId), fx)) ?? '')
    if (lines.length > 0) return lines
  }
  return []
}

function damageOf(folder: string, fx: Effects): StreamtopError | null {
  try {
    planAnyStart(findCheckpoint(folder, fx), {})
    return null
  } catch (error) {
    if (error instanceof StreamtopError) return error
    return new StreamtopError('checkpoint-damaged', `${folder} cannot be read (${error instanceof Error ? error.message : String(error)})`, { cause: error })
  }
}

function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
