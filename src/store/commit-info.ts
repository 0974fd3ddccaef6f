/** What `commitInfo` says of the attempt that wrote a version. */
import type { VersionActions } from './actions.js'
import type { Attempt } from './attempt.js'
import type { WriteResult } from './ledger.js'

/** Which attempt wrote a version, from its commitInfo; null when it was not streamtop. */
export function attemptOf(actions: VersionActions): { readonly attempt: Attempt; readonly writeNumber: number } | null {
  const said = actions.commitInfo?.streamtop as Partial<Record<string, unknown>> | undefined
  if (typeof said !== 'object' || said === null) return null
  const { query, queryId, batch, attempt, write, start, end, idempotent } = said
  if (typeof query !== 'string' || typeof queryId !== 'string' || typeof batch !== 'number' || typeof attempt !== 'number') return null
  if (typeof end !== 'string') return null
  return {
    attempt: { query, queryId, batchId: batch, attempt, rangeStart: typeof start === 'string' ? start : null, rangeEnd: end, idempotent: idempotent === true },
    writeNumber: typeof write === 'number' ? write : 1,
  }
}

/** What commitInfo says of an attempt, the inverse of `attemptOf`. */
export function attemptJson(attempt: Attempt, writeNumber: number): Record<string, unknown> {
  return {
    query: attempt.query,
    queryId: attempt.queryId,
    batch: attempt.batchId,
    attempt: attempt.attempt,
    write: writeNumber,
    start: attempt.rangeStart,
    end: attempt.rangeEnd,
    idempotent: attempt.idempotent,
  }
}

/** What a version means for the ledger; null when it was not an attempt of streamtop's that wrote it. */
export function writtenBy(actions: VersionActions, nowMs: number): WriteResult | null {
  const by = attemptOf(actions)
  if (by === null) return null
  const metrics = actions.commitInfo?.operationMetrics as Record<string, unknown> | undefined
  const txn = actions.txns[0]
  return {
    ...by,
    // Of a MERGE the rows that it was given, as its writer says: its output counts copied rows too.
    rows: Number(metrics?.numSourceRows ?? metrics?.numOutputRows ?? 0),
    appId: txn?.appId ?? null,
    txnVersion: txn?.version ?? null,
    outcome: 'committed',
    leftOutRows: null,
    reason: null,
    nowMs,
  }
}
