/**
 * Writing a batch: the native sink, or the user's foreachBatch. Both write through the store with the attempt named, so that the
 * ledger knows; both say at which step they are.
 */
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { SeenTxn, SkipJudgement, WriteOptions, WriteReport } from '../store/write.js'
import type { Attempt } from '../store/attempt.js'
import type { CommitMoment, MomentDetails } from '../store/moments.js'
import type { Store } from '../store/store.js'
import { Batch, type BatchWriter, type IdempotenceOptions } from './batch.js'
import type { QueryDefinition } from './definition.js'
import { judgeSkip } from './skip.js'
import type { Reach } from './steps.js'

/** One attempt of a batch, ready to be written. */
export interface AttemptToWrite {
  readonly attempt: Attempt
  readonly timestampMs: number
  readonly columns: Columns
  readonly appId: string
  /** Whether offsets/N was there before this life: then a skip is what a restart should do. */
  readonly isRestart: boolean
}

/** What the writes of one attempt came to, in order. */
export interface SinkReport {
  readonly writes: readonly (WriteReport & { readonly table: string })[]
}

/** Writes a batch; resolves when every write is committed, skipped or changed nothing. */
export async function writeBatch(definition: QueryDefinition, store: Store, work: AttemptToWrite, reach: Reach): Promise<SinkReport> {
  const writes: (WriteReport & { readonly table: string })[] = []
  const begun: { readonly writing: Promise<unknown>; readonly isSettled: () => boolean }[] = []
  let writeCount = 0
  let isOver = false
  const { attempt } = work
  const occurrences = new Map<CommitMoment, number>()

  const optionsFor = (txn: WriteOptions['txn']): WriteOptions => ({
    txn,
    source: { attempt, writeNumber: ++writeCount },
    onMoment: async (moment: CommitMoment, details: MomentDetails) => {
      const occurrence = (occurrences.get(moment) ?? 0) + 1
      occurrences.set(moment, occurrence)
      const { table, kind, outcome, syncHalf } = details
      await reach({ step: moment, batchId: attempt.batchId, attempt: attempt.attempt, table, kind, occurrence, ...(outcome ? { outcome } : {}) }, syncHalf)
    },
    onSkip: (seen: SeenTxn): SkipJudgement => judgeSkip(attempt, seen, work.isRestart),
  })
  const write = (table: string, start: () => Promise<WriteReport>): Promise<WriteReport> => {
    if (isOver) throw writeAfterTheEnd(definition.name, attempt.batchId, table)
    let isSettled = false
    const writing = (async () => {
      try {
        const report = await start()
        writes.push({ ...report, table })
        return report
      } finally {
        isSettled = true
      }
    })()
    begun.push({ writing, isSettled: () => isSettled })
    return writing
  }

  if (definition.sink.kind === 'append') {
    const { table } = definition.sink
    // The native sink's app id is the query's id, from the checkpoint's metadata: never a path or a name, which others may have had.
    const txn = attempt.idempotent ? { appId: attempt.queryId, version: attempt.batchId } : undefined
    const operation = { kind: 'streaming-update', queryId: attempt.queryId, epochId: attempt.batchId } as const
    await write(table, () => store.append(table, work.columns, operation, optionsFor(txn)))
    return { writes }
  }

  const writer: BatchWriter = {
    append: (table, columns, idempotence) => write(table, () => store.append(table, columns, { kind: 'write' }, optionsFor(txnOf(idempotence)))),
    merge: (table, columns, spec, idempotence) => write(table, () => store.merge(table, columns, spec, optionsFor(txnOf(idempotence)))),
    createTable: (table, schema) => store.createTable(table, schema),
  }
  const batch = new Batch(
    {
      id: attempt.batchId,
      timestampMs: work.timestampMs,
      range: { start: attempt.rangeStart, end: attempt.rangeEnd },
      idempotent: attempt.idempotent,
      appId: work.appId,
      columns: work.columns,
    },
    writer,
  )
  try {
    await definition.sink.run(batch)
    // A write that the function did not wait for belongs to the batch all the same: it must be there before the commit.
    await Promise.all(begun.filter(({ isSettled }) => !isSettled()).map(({ writing }) => writing))
  } catch (cause) {
    if (cause instanceof StreamtopError) throw cause
    throw new StreamtopError(
      'foreach-batch-failed',
      `the foreachBatch function of ${definition.name} failed in batch ${attempt.batchId}: ${(cause as Error)?.message ?? String(cause)}`,
      {
        hint: 'mend the function and start the query again: the batch runs again whole, with the same rows',
        condition: 'FOREACH_BATCH_USER_FUNCTION_ERROR',
        cause,
      },
    )
  }
  isOver = true
  return { writes }
}

function writeAfterTheEnd(query: string, batchId: number, table: string): StreamtopError {
  return new StreamtopError('foreach-batch-failed', `the foreachBatch function of ${query} writes to ${table} after batch ${batchId} has ended`, {
    hint: 'wait for every write inside the function (await)',
  })
}

function txnOf(idempotence: IdempotenceOptions): WriteOptions['txn'] {
  const { txnAppId, txnVersion } = idempotence
  return txnAppId === undefined || txnVersion === undefined ? undefined : { appId: txnAppId, version: txnVersion }
}
