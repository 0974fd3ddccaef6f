/**
 * What a start does with the checkpoint it finds: run a logged batch again, plan the next one, or refuse. Pure over what was
 * found. Each refusal names the file or the batches, says what that means, and what is safe to do.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { commitPath, listBatches, offsetsPath, readCommit, readOffsets, readQueryId } from './checkpoint.js'
import { type CheckpointConf, SPARK_CONF } from './checkpoint-conf.js'
import type { CommitsFile } from './commits-file.js'
import { damagedFile } from './damaged-file.js'
import type { OffsetsFile } from './offsets-file.js'

/** A checkpoint as a start finds it. */
export interface FoundCheckpoint {
  readonly folder: string
  /** Null when there is no `metadata`. */
  readonly queryId: string | null
  /** Numbers of the files in both logs, ascending. */
  readonly offsets: readonly number[]
  readonly commits: readonly number[]
  /** Whether something lies in `state/`. */
  readonly hasState: boolean
  readOffsets(batchId: number): OffsetsFile
  readCommit(batchId: number): CommitsFile
}

export type Start =
  /** Nothing was ever logged: plan batch 0. `queryId` is there when `metadata` is. */
  | { readonly kind: 'new'; readonly batchId: 0; readonly queryId: string | null; readonly watermarkMs: number; readonly conf: CheckpointConf }
  /** The newest batch has no commit: run it again with its logged range, time and conf. */
  | {
      readonly kind: 'run-again'
      readonly batchId: number
      readonly queryId: string
      /** The end of the batch before, as it stands there; null when the source begins here. */
      readonly startOffset: string | null
      readonly endOffset: string
      readonly timestampMs: number
      readonly watermarkMs: number
      readonly conf: CheckpointConf
      /** With `acceptGap`: the uncommitted batches that are taken as done. */
      readonly passedOver: readonly number[]
    }
  /** The newest batch is done: plan the next one from its end. */
  | {
      readonly kind: 'next'
      readonly batchId: number
      readonly queryId: string
      readonly startOffset: string | null
      readonly watermarkMs: number
      readonly conf: CheckpointConf
    }

/**
 * Looks at a folder; lists its logs, and reads their files when asked.
 * @throws checkpoint-damaged when it is a file, or `metadata` or a log cannot be read
 */
export function findCheckpoint(folder: string, fx: Effects): FoundCheckpoint {
  if (fx.files.status(folder)?.isFolder === false) throw damagedFile(folder, 'is a file where a folder should be')
  return {
    folder,
    queryId: readQueryId(folder, fx),
    ...listBatches(folder, fx),
    hasState: fx.files.list(join(folder, 'state')).length > 0,
    readOffsets: (batchId) => readOffsets(folder, batchId, fx),
    readCommit: (batchId) => readCommit(folder, batchId, fx),
  }
}

/**
 * The start table.
 * @param options.acceptGap do for missing commits below the newest batch what Spark does: take those batches as done
 * @throws stateful-checkpoint, metadata-missing, checkpoint-damaged, checkpoint-gap, several-sources, unsupported-feature
 */
export function planStart(found: FoundCheckpoint, options: { readonly acceptGap?: boolean } = {}): Start {
  if (found.hasState) throw stateful(found)
  const start = planAnyStart(found, options)
  // Lines of other sources would be lost with the next offsets file.
  if (start.file !== null && start.file.sources.length !== 1) throw severalSources(found, start.file)
  if (start.file !== null && start.file.version !== 1) throw namedSources(found)
  return start.plan
}

/** What the start table says with the rules left out that are about our own limits and not about the folder's health. */
export function planAnyStart(found: FoundCheckpoint, options: { readonly acceptGap?: boolean }): { readonly plan: Start; readonly file: OffsetsFile | null } {
  const { queryId } = found
  const newest = found.offsets.at(-1)
  const committed = found.commits.at(-1) ?? -1
  if (queryId === null && (newest !== undefined || committed >= 0)) throw withoutMetadata(found)
  if (newest === undefined) {
    if (committed >= 0) throw withoutOffsets(found)
    return { plan: { kind: 'new', batchId: 0, queryId, watermarkMs: 0, conf: SPARK_CONF }, file: null }
  }
  if (queryId === null) throw withoutMetadata(found)
  if (committed > newest) throw commitsAhead(found, newest, committed)

  const end = found.readOffsets(newest)
  const before = newest === 0 ? null : readBefore(found, newest)
  if (before !== null && before.sources.length !== end.sources.length) {
    throw damagedFile(offsetsPath(found.folder, newest), `has ${end.sources.length} source lines, and the batch before has ${before.sources.length}`)
  }
  // The newest commit is read even where its number alone decides: a log that cannot be read is not one to build on.
  const commit = committed >= 0 ? found.readCommit(committed) : null
  if (commit !== null && committed === newest) {
    const watermarkMs = Math.max(end.watermarkMs, commit.nextWatermarkMs)
    return { plan: { kind: 'next', batchId: newest + 1, queryId, startOffset: end.sources[0] ?? null, watermarkMs, conf: end.conf }, file: end }
  }

  const passedOver = found.offsets.filter((batchId) => batchId > committed && batchId < newest)
  if (committed < newest - 1 && !options.acceptGap) throw gap(found, newest, committed, passedOver)
  // One of several sources may have nothing yet.
  const endOffset = end.sources.find((source) => source !== null) ?? null
  if (endOffset === null) throw damagedFile(offsetsPath(found.folder, newest), `has no offset for the source: where batch ${newest} ends is not known`)
  const startOffset = before?.sources[0] ?? null
  const { timestampMs, watermarkMs, conf } = end
  return { plan: { kind: 'run-again', batchId: newest, queryId, startOffset, endOffset, timestampMs, watermarkMs, conf, passedOver }, file: end }
}

function readBefore(found: FoundCheckpoint, newest: number): OffsetsFile {
  if (found.offsets.at(-2) === newest - 1) return found.readOffsets(newest - 1)
  throw damagedFile(offsetsPath(found.folder, newest - 1), `is missing: batch ${newest} starts where batch ${newest - 1} ended`)
}

function stateful(found: FoundCheckpoint): StreamtopError {
  return new StreamtopError('stateful-checkpoint', `${found.folder} belongs to a stateful query: its state/ holds aggregates that streamtop does not keep`, {
    hint: 'go on with Spark, or run the query with a new checkpoint',
  })
}

function withoutMetadata(found: FoundCheckpoint): StreamtopError {
  return new StreamtopError(
    'metadata-missing',
    `${join(found.folder, 'metadata')} is missing, and the checkpoint has batches: with a new id they could be written twice`,
    {
      hint: 'restore the file from a copy, or write {"id":"<the app id in the txn of a native sink\'s table>"} into it; "streamtop reset" makes a new checkpoint',
      condition: 'STREAMING_CHECKPOINT_MISSING_METADATA_FILE',
    },
  )
}

function withoutOffsets(found: FoundCheckpoint): StreamtopError {
  return damagedFile(
    join(found.folder, 'offsets'),
    `is empty, and ${describe(found.commits)} ${found.commits.length === 1 ? 'is' : 'are'} committed: the offsets log was deleted, and a batch 0 of today would be taken for the old one`,
  )
}

function commitsAhead(found: FoundCheckpoint, newest: number, committed: number): StreamtopError {
  return new StreamtopError(
    'checkpoint-damaged',
    `${commitPath(found.folder, committed)} commits batch ${committed}, and the offsets end at batch ${newest}: offsets were deleted, or two queries used the checkpoint`,
    {
      hint: `restore offsets/${newest + 1} and what follows from a copy; without one, "streamtop reset" makes a new checkpoint, which reads everything again`,
      condition: 'CONCURRENT_STREAM_LOG_UPDATE',
    },
  )
}

function gap(found: FoundCheckpoint, newest: number, committed: number, passedOver: readonly number[]): StreamtopError {
  const lost = passedOver.length > 0 ? passedOver : [newest - 1]
  const before = committed < 0 ? 'nothing is committed' : `the commits end at batch ${committed}`
  return new StreamtopError(
    'checkpoint-gap',
    `${found.folder} has offsets up to batch ${newest}, and ${before}: whether ${describe(lost)} ${lost.length === 1 ? 'was' : 'were'} written is not known`,
    {
      hint: `look for ${describe(lost)} in the table ("streamtop history"); when they are there, --accept-gap takes them as done and runs batch ${newest} again, as Spark does unasked; otherwise their rows would be lost`,
    },
  )
}

function severalSources(found: FoundCheckpoint, file: OffsetsFile): StreamtopError {
  return new StreamtopError('several-sources', `${found.folder} belongs to a query with ${file.sources.length} sources; a query of streamtop has one`, {
    hint: 'go on with Spark, or run the query with a new checkpoint',
  })
}

function namedSources(found: FoundCheckpoint): StreamtopError {
  return new StreamtopError(
    'unsupported-feature',
    `${found.folder} has offsets of version 2 (Spark's source evolution), which streamtop reads and does not write`,
    {
      hint: 'go on with Spark, or run the query with a new checkpoint',
    },
  )
}

/** "batch 3", "batches 1 and 2", "batches 4 to 9". */
function describe(batchIds: readonly number[]): string {
  const [first, second] = [batchIds[0], batchIds.at(-1)]
  if (batchIds.length === 1) return `batch ${first}`
  return `batches ${first} ${batchIds.length === 2 ? 'and' : 'to'} ${second}`
}
