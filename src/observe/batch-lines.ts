/** The newest batches of a query's two logs, side by side, so that an offset without its commit stands out. */
import type { Effects } from '../effects.js'
import { checkpointFolder, listBatches, readOffsets, readQueryId } from '../engine/checkpoint.js'
import type { QueryDefinition } from '../engine/definition.js'
import { settleStartingVersion } from '../engine/table-source-files.js'
import { readTopics } from '../engine/topic-offset.js'
import { readInitialOffsets } from '../engine/topic-source-files.js'
import { type BatchRange, batchRange } from './batch-range.js'
import { overlaidWrites } from './ledger-facts.js'
import { OverlaidLog } from './overlaid-log.js'

export interface BatchLine {
  readonly batchId: number
  /** Whether `offsets/N` and `commits/N` are there. */
  readonly isLogged: boolean
  readonly isCommitted: boolean
  /** What the batch reads, for people: `version 7`, `versions 3 to 7`, `offsets 45 to 51`, `2 partitions, 12 records`; null when it cannot be told. */
  readonly range: string | null
  /** Rows that it read, as the ledger or the range says; null when neither knows. */
  readonly rows: number | null
  /** Null when the ledger does not know it. */
  readonly attempts: number | null
}

/**
 * Newest first. Never throws: what cannot be read is null. Costs as much as it gives lines.
 * @param definition null for a checkpoint whose query is not known
 * @param opened the log of a look that is under way; opened for this unless given
 */
export function batchLines(
  workspace: string,
  query: string,
  definition: QueryDefinition | null,
  limit: number,
  fx: Effects,
  opened?: OverlaidLog,
): BatchLine[] {
  const folder = checkpointFolder(workspace, query)
  const { offsets, commits } = orNull(() => listBatches(folder, fx)) ?? { offsets: [], commits: [] }
  const batchIds = [...new Set([...offsets.slice(-limit), ...commits.slice(-limit)])].sort((a, b) => b - a).slice(0, limit)
  if (batchIds.length === 0) return []
  const log = opened ?? orNull(() => OverlaidLog.open(workspace, fx))
  try {
    const [logged, committed] = [new Set(offsets), new Set(commits)]
    const queryId = orNull(() => readQueryId(folder, fx))
    const overlaid = writesBehindTheLog(log, definition?.table ?? null)
    return batchIds.map((batchId) => {
      const known = queryId === null || log === null ? NOTHING : knownOf(log, queryId, batchId, definition?.table ?? null, overlaid)
      const range = orNull(() => rangeOf(folder, batchId, known.rangeStart, fx))
      return {
        batchId,
        isLogged: logged.has(batchId),
        isCommitted: committed.has(batchId),
        range: range?.text ?? null,
        rows: known.rows ?? range?.records ?? null,
        attempts: known.attempts,
      }
    })
  } finally {
    if (opened === undefined) log?.close()
  }
}

type Overlaid = ReturnType<typeof overlaidWrites>

/** What the log says of a batch. */
interface Known {
  readonly rows: number | null
  readonly attempts: number | null
  /** Where the batch started; undefined when nobody says. */
  readonly rangeStart: string | null | undefined
}

const NOTHING: Known = { rows: null, attempts: null, rangeStart: undefined }

/** Writes of versions that are linked and not in the SQLite log. */
function writesBehindTheLog(log: OverlaidLog | null, table: string | null): Overlaid {
  return (log && table !== null ? orNull(() => overlaidWrites(log, table)) : null) ?? []
}

function knownOf(log: OverlaidLog, queryId: string, batchId: number, table: string | null, overlaid: Overlaid): Known {
  const ledger = orNull(() => log.sqlite?.ledger.attempts(queryId, batchId)) ?? []
  const writes = overlaid.filter((write) => write.queryId === queryId && write.batchId === batchId)
  const attempts = [...ledger, ...writes].map(({ attempt }) => attempt)
  if (attempts.length === 0) return NOTHING
  const finished = [...ledger.filter((row) => row.outcome !== 'started' && (table === null || row.tableName === table)), ...writes]
  const newest = Math.max(...finished.map(({ attempt }) => attempt))
  // An attempt may write one table in several writes; what it is given in the next attempt is the same.
  const rows = finished.filter(({ attempt }) => attempt === newest).reduce((sum, write) => sum + (write.rows ?? 0), 0)
  const first = ledger[0]
  return { rows: finished.length === 0 ? null : rows, attempts: Math.max(...attempts), rangeStart: first ? first.rangeStart : undefined }
}

/** @param ledgerStart where the ledger says that the batch started, for a batch whose forerunner was purged */
function rangeOf(folder: string, batchId: number, ledgerStart: string | null | undefined, fx: Effects): BatchRange | null {
  const { sources } = readOffsets(folder, batchId, fx)
  const [end] = sources
  if (end === null || end === undefined) return null
  if (sources.length > 1) return { text: `${sources.length} sources`, records: null }
  const before = batchId === 0 ? null : orNull(() => readOffsets(folder, batchId - 1, fx).sources[0])
  const topic = [...(readTopics(end)?.keys() ?? [])][0]
  return batchRange({
    start: batchId === 0 ? null : (before ?? ledgerStart ?? undefined),
    end,
    initialOffsets: topic === undefined ? null : orNull(() => readInitialOffsets(folder, topic, fx)),
    startingVersion: topic !== undefined || batchId > 0 ? null : orNull(() => settleStartingVersion(folder, false, null, fx)),
  })
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
