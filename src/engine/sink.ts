/**
 * Writing a batch: the native sink, or the user's foreachBatch. Both write through the store with the attempt named, so that the
 * ledger knows; both say at which step they are.
 */
import { isMachineError, StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { SeenTxn, SkipJudgement, TableWrite, WriteOptions, WriteReport } from '../store/write.js'
import type { Attempt } from '../store/attempt.js'
import type { CommitMoment, MomentDetails, OnMoment } from '../store/moments.js'
import type { Store } from '../store/store.js'
import { Batch, type BatchWrite, type BatchWriter, type IdempotenceOptions } from './batch.js'
import type { QueryDefinition, RejectedRecord } from './definition.js'
import { badRecord, rejectedAsRows, rejectedNote } from './rejected-records.js'
import { judgeSkip } from './skip.js'
import type { Reach } from './steps.js'

/** One attempt of a batch, ready to be written. */
export interface AttemptToWrite {
  readonly attempt: Attempt
  readonly timestampMs: number
  readonly columns: Columns
  /** Records of the batch that are no rows. */
  readonly rejected?: readonly RejectedRecord[] | undefined
  readonly appId: string
  /** Whether offsets/N was there before this life: then a skip is what a restart should do. */
  readonly isRestart: boolean
}

/** What the writes of one attempt came to, in order. */
export interface SinkReport {
  readonly writes: readonly (WriteReport & { readonly table: string })[]
  /** What people should read. */
  readonly notes: readonly string[]
}

/** Writes a batch; resolves when every write is committed, skipped or changed nothing. */
export async function writeBatch(definition: QueryDefinition, store: Store, work: AttemptToWrite, reach: Reach): Promise<SinkReport> {
  const writes: (WriteReport & { readonly table: string })[] = []
  const notes: string[] = []
  const begun: { readonly writing: Promise<unknown>; readonly isSettled: () => boolean }[] = []
  let writeCount = 0
  let isOver = false
  const { attempt } = work
  const occurrences = new Map<CommitMoment, number>()

  const onMoment = async (moment: CommitMoment, details: MomentDetails) => {
    const occurrence = (occurrences.get(moment) ?? 0) + 1
    occurrences.set(moment, occurrence)
    const { table, kind, outcome, syncHalf } = details
    await reach({ step: moment, batchId: attempt.batchId, attempt: attempt.attempt, table, kind, occurrence, ...(outcome ? { outcome } : {}) }, syncHalf)
  }
  const optionsFor = (txn: WriteOptions['txn']): WriteOptions => ({
    txn,
    source: { attempt, writeNumber: ++writeCount },
    onMoment,
    onSkip: (seen: SeenTxn): SkipJudgement => judgeSkip(attempt, seen, work.isRestart),
  })
  /** Writes that are one commit: the steps of a write come once for all of them. */
  const write = <Answer>(together: readonly TableWrite[], answer: (reports: WriteReport[]) => Answer): Promise<Answer> => {
    if (isOver) throw writeAfterTheEnd(definition.name, attempt.batchId, together.map(({ table }) => table).join(' and '))
    let isSettled = false
    const writing = (async () => {
      try {
        const reports = await start(store, together, onMoment)
        const named = reports.map((report, index) => ({ ...report, table: together[index]?.table ?? '' }))
        writes.push(...named)
        notes.push(...mixedNote(attempt.batchId, named))
        return answer(reports)
      } finally {
        isSettled = true
      }
    })()
    begun.push({ writing, isSettled: () => isSettled })
    return writing
  }

  const { rejected = [] } = work
  if (definition.sink.kind === 'append') {
    const { table } = definition.sink
    // The native sink's app id is the query's id, from the checkpoint's metadata: never a path or a name, which others may have had.
    const txn = attempt.idempotent ? { appId: attempt.queryId, version: attempt.batchId } : undefined
    const operation = { kind: 'streaming-update', queryId: attempt.queryId, epochId: attempt.batchId } as const
    const appendTo = (table: string, columns: Columns): TableWrite => ({ kind: 'append', table, columns, operation, options: optionsFor(txn) })
    // A batch of rejected records alone is a version of the table too, without rows: it says that the batch is done.
    const together = [appendTo(table, work.columns)]
    const rejectedRows = rejectedOf(definition, rejected)
    if (rejectedRows) together.push(appendTo(rejectedRows.table, rejectedRows.columns))
    await write(together, () => undefined)
    if (rejectedRows) notes.push(rejectedNote(rejected, rejectedRows.table))
    return { writes, notes }
  }
  rejectedOf(definition, rejected)

  const planned = (one: BatchWrite): TableWrite => {
    const { table, columns, idempotence } = one
    const options = optionsFor(txnOf(idempotence))
    return one.kind === 'merge'
      ? { kind: 'merge', table, columns, spec: one.spec, options }
      : { kind: 'append', table, columns, operation: { kind: 'write' }, options }
  }
  const writer: BatchWriter = {
    write: (one) => write([planned(one)], ([report]) => report as WriteReport),
    writeTogether: (all) => write(all.map(planned), (reports) => reports),
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
    if (cause instanceof StreamtopError || isMachineError(cause)) throw cause
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
  return { writes, notes }
}

async function start(store: Store, together: readonly TableWrite[], onMoment: OnMoment): Promise<WriteReport[]> {
  const [only] = together
  if (!only || together.length > 1) return store.commitTogether(together, onMoment)
  return [
    only.kind === 'merge'
      ? await store.merge(only.table, only.columns, only.spec, only.options)
      : await store.append(only.table, only.columns, only.operation, only.options),
  ]
}

/** Told of a commit of which one table had its part already: `_log.db` was deleted in the middle of it, or a table was dropped since. */
function mixedNote(batchId: number, writes: readonly (WriteReport & { readonly table: string })[]): string[] {
  const of = (outcome: WriteReport['outcome']) => writes.filter((write) => write.outcome === outcome).map(({ table }) => table)
  const [had, written] = [of('already-committed'), of('committed')]
  if (had.length === 0 || written.length === 0) return []
  return [`batch ${batchId} was in ${had.join(' and ')} already and not in ${written.join(' and ')}, which has it now`]
}

/** The rows for the table of rejected records; null when there are none. Throws bad-record when the query has no such table. */
function rejectedOf(definition: QueryDefinition, rejected: readonly RejectedRecord[]): { readonly table: string; readonly columns: Columns } | null {
  const [first] = rejected
  if (!first) return null
  const { rejectedTable: table, source, name } = definition
  if (table === null) throw badRecord(name, source.name, first, rejected.length)
  return { table, columns: rejectedAsRows(rejected, source.name) }
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
