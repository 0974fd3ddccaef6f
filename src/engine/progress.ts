/** A batch's progress in the fields and the order of Spark's StreamingQueryProgress (formats page §8). */
import { isoTimeOf } from '../iso-time.js'
import type { WriteReport } from '../store/write.js'
import type { Attempt } from '../store/attempt.js'
import type { BatchClock } from './batch-clock.js'
import type { QueryDefinition } from './definition.js'
import type { Source } from './source.js'

export interface QueryProgress {
  readonly id: string
  readonly runId: string
  readonly name: string
  readonly timestamp: string
  readonly batchId: number
  readonly batchDuration: number
  readonly numInputRows: number
  readonly inputRowsPerSecond?: number
  readonly processedRowsPerSecond?: number
  readonly durationMs: Readonly<Record<string, number>>
  readonly stateOperators: readonly []
  readonly sources: readonly SourceProgress[]
  readonly sink: { readonly description: string; readonly numOutputRows: number }
}

export interface SourceProgress {
  readonly description: string
  readonly startOffset: unknown
  readonly endOffset: unknown
  readonly latestOffset: unknown
  readonly numInputRows: number
  readonly inputRowsPerSecond?: number
  readonly processedRowsPerSecond?: number
  /** Of a topic: what its query has left out because it was gone, of all its batches; absent for nothing. */
  readonly metrics?: { readonly lostOffsets: string }
}

export interface ProgressFacts {
  readonly attempt: Attempt
  readonly runId: string
  readonly definition: QueryDefinition
  readonly source: Source
  readonly writes: readonly WriteReport[]
  readonly inputRowCount: number
  readonly clock: BatchClock
  /** When the trigger before began, null for the first of a run. */
  readonly previousStartMs: number | null
  /** Offsets of its topic that were gone before this query's batches could read them. */
  readonly lostOffsets: number
}

/** The progress of a batch that is done. */
export function progressOf(facts: ProgressFacts): QueryProgress {
  const { attempt, clock, definition, source } = facts
  const parts = [...clock.parts].map(([part, ms]) => [part, Math.round(ms)] as const)
  const triggerMs = Math.round([...clock.parts.values()].reduce((sum, ms) => sum + ms, 0))
  // Spark counts what its plan read: of a batch whose write was skipped, nothing.
  const isSkipped = facts.writes.length > 0 && facts.writes.every((write) => write.outcome === 'already-committed')
  const numInputRows = isSkipped ? 0 : facts.inputRowCount
  const sinceMs = facts.previousStartMs === null ? null : clock.startedMs - facts.previousStartMs
  const rates = {
    ...(sinceMs !== null && sinceMs > 0 ? { inputRowsPerSecond: perSecond(numInputRows, sinceMs) } : {}),
    ...(triggerMs > 0 ? { processedRowsPerSecond: perSecond(numInputRows, triggerMs) } : {}),
  }
  return {
    id: attempt.queryId,
    runId: facts.runId,
    name: definition.name,
    timestamp: isoTimeOf(clock.startedMs),
    batchId: attempt.batchId,
    batchDuration: triggerMs,
    numInputRows,
    ...rates,
    durationMs: Object.fromEntries([...parts, ['triggerExecution', triggerMs] as const].sort(([left], [right]) => (left < right ? -1 : 1))),
    stateOperators: [],
    sources: [
      {
        description: source.description,
        startOffset: parsed(attempt.rangeStart),
        endOffset: parsed(attempt.rangeEnd),
        latestOffset: parsed(source.latestOffset()),
        numInputRows,
        ...rates,
        ...(facts.lostOffsets > 0 ? { metrics: { lostOffsets: String(facts.lostOffsets) } } : {}),
      },
    ],
    sink: { description: definition.sink.kind === 'append' ? `DeltaSink[${definition.sink.table}]` : 'ForeachBatchSink', numOutputRows: -1 },
  }
}

/** How many offsets a query had left out by the batch of this progress, given as JSON; null when it is none. */
export function lostOffsetsOf(progress: string): number | null {
  const read = parsed(progress) as { readonly sources?: readonly { readonly metrics?: { readonly lostOffsets?: unknown } }[] } | string | null
  if (typeof read !== 'object' || !Array.isArray(read?.sources)) return null
  return Number(read.sources[0]?.metrics?.lostOffsets ?? 0)
}

function perSecond(rows: number, ms: number): number {
  return Math.round((rows * 10_000) / ms) / 10
}

function parsed(offset: string | null): unknown {
  if (offset === null) return null
  try {
    return JSON.parse(offset)
  } catch {
    return offset
  }
}
