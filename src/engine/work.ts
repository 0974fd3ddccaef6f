/** What the loop has to do next: the batch that a checkpoint leaves pending, or the one after its newest. */
import { createQueryId, makeCheckpointFolder, removeStaleTemporaries, syncCheckpoint } from './checkpoint.js'
import type { CheckpointConf } from './checkpoint-conf.js'
import type { QueryLife } from './life.js'
import { findCheckpoint, planStart, type Start } from './start.js'

export interface Work {
  readonly queryId: string
  readonly batchId: number
  /** The end of the batch before; null for batch 0. */
  readonly start: string | null
  /** Where batch 0 starts, for a source that says so. */
  readonly initial: string | null
  /** The logged end of a batch that has to run again. */
  readonly pendingEnd: string | null
  /** The logged time of that batch. */
  readonly timestampMs: number
  readonly watermarkMs: number
  readonly conf: CheckpointConf
}

/**
 * Looks at the checkpoint, refuses what cannot be gone on from, waits for the source, and makes what a new query needs.
 * Everything is refused before anything is written.
 * @returns null when it was asked to stop before there was anything to read
 */
export async function beginQuery(life: QueryLife): Promise<Work | null> {
  const { folder, source, fx } = life
  const found = findCheckpoint(folder, fx)
  const start = planStart(found, { acceptGap: life.acceptGap })
  if (start.kind === 'run-again' && start.passedOver.length > 0) {
    life.report({ kind: 'note', batchId: start.batchId, text: `batches ${start.passedOver.join(', ')} have no commit and are taken as done (--accept-gap)` })
  }
  await life.trigger.sourceIsThere()
  if (life.stop.aborted) return null
  removeStaleTemporaries(folder, fx)
  makeCheckpointFolder(folder, fx)
  syncCheckpoint(folder, found, fx)
  await source.begin(start.kind === 'new')
  const queryId = start.queryId ?? createQueryId(folder, fx)
  life.began(queryId)
  return { queryId, initial: await source.initialOffset(), ...remaining(start) }
}

/** The work after a batch is done. */
export function workAfter(work: Work, end: string): Work {
  return { ...work, batchId: work.batchId + 1, start: end, pendingEnd: null }
}

function remaining(start: Start): Omit<Work, 'queryId' | 'initial'> {
  const { batchId, watermarkMs, conf } = start
  if (start.kind === 'run-again') {
    return { batchId, start: start.startOffset, pendingEnd: start.endOffset, timestampMs: start.timestampMs, watermarkMs, conf }
  }
  return { batchId, start: start.kind === 'next' ? start.startOffset : null, pendingEnd: null, timestampMs: 0, watermarkMs, conf }
}
