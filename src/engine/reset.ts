/**
 * Taking a checkpoint, or its newest commit, away. Both take the query's lock first, so that they never happen under a running
 * query.
 */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { checkpointFolder, removeCommit, removeResetRemains, resetPath } from './checkpoint.js'
import { acquireLock, isLockThere } from './lock.js'
import { findCheckpoint, planStart } from './start.js'

/**
 * Removes a query's checkpoint; false when there is none. The folder is renamed to a dot name first, so that a death in between
 * leaves a whole checkpoint or none.
 * @throws concurrent-query
 */
export async function resetQuery(workspace: string, query: string, fx: Effects): Promise<boolean> {
  if (!hasRun(workspace, query, fx)) return false
  const folder = checkpointFolder(workspace, query)
  const lock = await acquireLock(workspace, query, fx)
  try {
    removeResetRemains(folder, fx)
    if (fx.files.status(folder) === null) return false
    const aside = resetPath(folder, fx)
    fx.files.rename(folder, aside)
    fx.files.removeFolder(aside)
    return true
  } finally {
    lock.release()
  }
}

/**
 * Takes the commit of the newest batch away, so that the batch runs again: what a death between write and commit leaves.
 * @returns the number of the batch
 * @throws checkpoint-damaged and what else the start table refuses; usage when the newest batch has no commit to take away
 */
export async function replayNewestBatch(workspace: string, query: string, fx: Effects): Promise<number> {
  if (!hasRun(workspace, query, fx)) throw nothingToReplay(`${query} has no batch to replay`, query)
  const folder = checkpointFolder(workspace, query)
  // A lock makes a folder of Spark's ours, so one that is refused is looked at before.
  if (!isLockThere(workspace, query, fx)) committedBatch(query, folder, fx)
  const lock = await acquireLock(workspace, query, fx)
  try {
    const batchId = committedBatch(query, folder, fx)
    removeCommit(folder, batchId, fx)
    return batchId
  } finally {
    lock.release()
  }
}

/** The newest batch of the offsets log, which has a commit. */
function committedBatch(query: string, folder: string, fx: Effects): number {
  const start = planStart(findCheckpoint(folder, fx))
  if (start.kind === 'next') return start.batchId - 1
  throw nothingToReplay(
    start.kind === 'new' ? `${query} has no batch to replay` : `batch ${start.batchId} of ${query} has no commit: it runs again anyway`,
    query,
  )
}

/**
 * Whether there can be a checkpoint, or what a reset has left of one. Where not, no lock is taken: a mistyped name leaves nothing behind.
 * A folder that may not be looked into is not taken for one in which there is none.
 */
function hasRun(workspace: string, query: string, fx: Effects): boolean {
  checkName('query', query)
  return fx.files.status(checkpointFolder(workspace, query)) !== null || isLockThere(workspace, query, fx)
}

function nothingToReplay(why: string, query: string): StreamtopError {
  return new StreamtopError('usage', why, { hint: `run it: "streamtop run ${query}"` })
}
