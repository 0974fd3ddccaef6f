/**
 * Judging a skip. A table that has an app id's number skips the write, as Delta does. That is right when the same batch wrote it,
 * and loses rows when another batch did: the same query with another range is refused, another query is skipped and said loudly.
 */
import { join } from 'node:path'
import { StreamtopError } from '../errors.js'
import { attemptOf } from '../store/commit-info.js'
import type { SeenTxn, SkipJudgement } from '../store/write.js'
import type { Attempt } from '../store/attempt.js'
import type { LedgerRow } from '../store/ledger.js'
import { damagedFile } from './damaged-file.js'

/**
 * What a skip leaves out.
 * @param isRestart whether this batch was logged in an earlier life: then nobody's record of the range is needed to trust it
 * @throws range-changed when this query wrote the batch with another range
 */
export function judgeSkip(attempt: Attempt, seen: SeenTxn, isRestart: boolean): SkipJudgement {
  const writer = seen.written && attemptOf(seen.written)
  const { txn, table, heldBy, rowCount } = seen
  const holder = heldBy === table ? table : `${table} was written together with ${heldBy}, which`
  if (writer && writer.attempt.queryId === attempt.queryId) {
    if (writer.attempt.attempt === attempt.attempt) {
      return { leftOutRows: rowCount, reason: `${holder} has txn (${txn.appId}, ${attempt.batchId}) from an earlier write of this batch` }
    }
    if (writer.attempt.rangeStart === attempt.rangeStart && writer.attempt.rangeEnd === attempt.rangeEnd) {
      return { leftOutRows: 0, reason: `${holder} has txn (${txn.appId}, ${attempt.batchId}) from attempt ${writer.attempt.attempt} of this batch` }
    }
    throw rangeChanged(attempt, writer.attempt)
  }
  const has = `${holder} has txn (${txn.appId}, ${txn.version}) already`
  if (!writer && isRestart && txn.version === attempt.batchId) return { leftOutRows: 0, reason: has }
  const by = writer
    ? `written by ${writer.attempt.query} with another checkpoint (query id ${writer.attempt.queryId})`
    : 'written by someone who recorded no range'
  return {
    leftOutRows: rowCount,
    reason: `${has}, ${by}`,
  }
}

/**
 * The range fence: a batch that this query has written must have the same range when it runs again.
 * @param earlier the ledger's rows of this batch
 * @throws range-changed
 */
export function checkRange(attempt: Omit<Attempt, 'attempt'>, earlier: readonly LedgerRow[]): void {
  const other = earlier.find((row) => row.outcome !== 'started' && (row.rangeEnd !== attempt.rangeEnd || row.rangeStart !== attempt.rangeStart))
  if (other) throw rangeChanged(attempt, other)
}

/**
 * That a checkpoint's `metadata` still has its id: a pending batch that this query has begun under another id, after the batch was
 * logged in this very checkpoint, is that id's, and with another it could be written twice.
 * @param timestampMs when the batch was logged
 * @param earlier the ledger's rows of a batch of this number under other ids
 * @throws checkpoint-damaged
 */
export function checkIdentity(attempt: Omit<Attempt, 'attempt'>, timestampMs: number, earlier: readonly LedgerRow[], folder: string): void {
  const same = earlier.find(
    (row) => row.rangeEnd === attempt.rangeEnd && row.rangeStart === attempt.rangeStart && (row.startedMs ?? row.finishedMs ?? 0) >= timestampMs,
  )
  if (same === undefined) return
  throw damagedFile(
    join(folder, 'metadata'),
    `has the id ${attempt.queryId}, and batch ${attempt.batchId} of this checkpoint was begun by the query with the id ${same.queryId}`,
    {
      safe: `or write {"id":"${same.queryId}"} into it when this checkpoint is that query's`,
    },
  )
}

function rangeChanged(now: Omit<Attempt, 'attempt'>, then: Pick<Attempt, 'rangeStart' | 'rangeEnd'>): StreamtopError {
  return new StreamtopError(
    'range-changed',
    `batch ${now.batchId} of ${now.query} was written with the range ${then.rangeStart ?? 'start'} to ${then.rangeEnd}, and is now to run with ${now.rangeStart ?? 'start'} to ${now.rangeEnd}`,
    {
      hint: `skipping it would lose rows, writing it would double some: the checkpoint was changed or is an old copy. Put checkpoints/${now.query} back as it was, or "streamtop reset ${now.query}" and choose what to do with the table`,
    },
  )
}
