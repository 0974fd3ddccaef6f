/**
 * The batch loop: plan, log the offsets, read, write, log the commit. After every durable effect it says where it is (`reach`),
 * and that is all it knows of kills, pauses and screens. What a death at each step leaves, and what the restart then does, is
 * the table in docs/ARCHITECTURE.md.
 */
import type { Attempt } from '../store/attempt.js'
import { createCommit, createOffsets } from './checkpoint.js'
import type { QueryLife } from './life.js'
import { writeBatch } from './sink.js'
import { checkIdentity, checkRange } from './skip.js'
import { beginQuery, type Work, workAfter } from './work.js'

/** Runs a query until its trigger has no more work, or it is asked to stop. */
export async function runQuery(life: QueryLife): Promise<void> {
  const { definition, folder, store, source, control, reach, fx } = life
  let work: Work | null = await beginQuery(life)
  while (work !== null) {
    const clock = life.startClock()
    const end = work.pendingEnd ?? (await life.trigger.next(work.start, clock.hasWaited))
    if (end === null || life.stop.aborted) return
    clock.lap('latestOffset')

    const { batchId, queryId, start } = work
    const idempotent = control.settings.idempotent ?? definition.idempotent
    const range = { query: definition.name, queryId, batchId, rangeStart: start ?? work.initial, rangeEnd: end, idempotent }
    const earlier = store.ledger.attempts(queryId, batchId)
    checkRange(range, earlier)
    if (work.pendingEnd !== null && earlier.length === 0) {
      checkIdentity(range, work.timestampMs, store.ledger.attemptsUnderOtherIds(definition.name, queryId, batchId), folder)
    }
    const attempt: Attempt = { ...range, attempt: store.ledger.attemptCount(queryId, batchId) + 1 }
    const at = { batchId, attempt: attempt.attempt, occurrence: 1 }
    // Nothing new is on disk: a death here means that the batch is planned again, perhaps with more rows.
    await reach({ step: 'planned', ...at })

    const timestampMs = work.pendingEnd === null ? fx.nowMs() : work.timestampMs
    clock.restart()
    if (work.pendingEnd === null) {
      createOffsets(folder, batchId, { watermarkMs: work.watermarkMs, timestampMs, conf: work.conf, sources: [end] }, fx)
      clock.lap('walCommit')
    }
    store.ledger.begin(attempt, fx.nowMs())
    // The range is fixed: from here on a death means that this batch runs again with exactly these rows.
    await reach({ step: 'offsets-logged', ...at })

    clock.restart()
    const { columns, rejected, inputRowCount, notes, lostOffsets = 0 } = await source.read(start ?? work.initial, end)
    for (const note of notes) life.report({ kind: 'note', batchId, text: note })
    clock.lap('getBatch')
    await reach({ step: 'rows-read', ...at })

    clock.restart()
    const isRestart = work.pendingEnd !== null
    const { writes, notes: sinkNotes } = await writeBatch(definition, store, { attempt, timestampMs, columns, rejected, appId: life.appId, isRestart }, reach)
    for (const note of sinkNotes) life.report({ kind: 'note', batchId, text: note })
    clock.lap('addBatch')

    createCommit(folder, batchId, work.watermarkMs, fx)
    clock.lap('commitOffsets')
    await reach({ step: 'batch-committed', ...at })

    work = workAfter(work, end)
    await life.afterBatch({ attempt, writes, inputRowCount, lostOffsets, timestampMs, clock })
  }
}
