/** What a query's source holds up to an offset, as files of a table: what its sink is compared with. */
import { tableSourceOptions } from '../engine/source-options.js'
import { compareTableOffsets, formatTableOffset, parseTableOffset, type TableOffset } from '../engine/table-offset.js'
import { filesOfRange } from '../engine/table-source-plan.js'
import { StreamtopError } from '../errors.js'
import type { AddFile } from '../store/actions.js'
import type { CheckpointFacts } from './checkpoint-facts.js'
import type { OverlaidLog } from './overlaid-log.js'
import { inNewestFiles, rowsBehind } from './rewritten-files.js'
import { type TableView, tryViewOf } from './table-view.js'

export interface TableSourceFacts {
  readonly kind: 'table'
  readonly name: string
  readonly view: TableView | StreamtopError | null
  /** Files with the rows up to the newest commit, or why they are not known. */
  readonly committed: readonly AddFile[] | StreamtopError
  /** Files with all rows that can have been written: up to the newest logged batch, and what the ledger says was written. */
  readonly logged: readonly AddFile[] | StreamtopError
  /** Files that were taken out of the table with their rows up to there: the stream may have read them before. */
  readonly removed: readonly AddFile[]
  /** Rows behind the newest commit. */
  readonly lagRows: number | null
}

/** The facts of one source from look to look: the same as long as neither the table nor the checkpoint has moved. */
export class TableSourceMemory {
  #known: { readonly key: string; readonly view: unknown; readonly facts: TableSourceFacts } | null = null

  /** As `tableSourceFacts`. */
  facts(log: OverlaidLog, name: string, checkpoint: CheckpointFacts, written: readonly string[]): TableSourceFacts {
    const snapshot = log.errorOf(name) === null && log.newestVersion(name) !== null ? log.snapshot(name) : null
    const { committedEnd, loggedEnd, summary } = checkpoint
    const key = JSON.stringify([name, committedEnd, loggedEnd, summary.offsets.length === 0, written])
    if (snapshot !== null && this.#known?.key === key && this.#known.view === snapshot) return this.#known.facts
    const facts = tableSourceFacts(log, name, checkpoint, written)
    this.#known = { key, view: snapshot, facts }
    return facts
  }
}

/**
 * The facts of a table as a source. Never throws.
 * @param written ends of ranges that the ledger says were written to the sink, whichever life of the query did
 */
export function tableSourceFacts(log: OverlaidLog, name: string, checkpoint: CheckpointFacts, written: readonly string[]): TableSourceFacts {
  const view = tryViewOf(log, name)
  const base = { kind: 'table', name, view } as const
  if (view === null || view instanceof Error) {
    const unknown = view ?? new StreamtopError('source-missing', `there is no table ${name} to compare with`)
    const isNothing = view === null && checkpoint.summary.offsets.length === 0
    return { ...base, committed: isNothing ? [] : unknown, logged: isNothing ? [] : unknown, removed: [], lagRows: isNothing ? 0 : null }
  }
  const { path } = checkpoint
  const committed = orError(() => {
    if (checkpoint.committedEnd === 'unknown') throw new StreamtopError('checkpoint-damaged', 'where the newest committed batch ends cannot be read')
    return checkpoint.committedEnd === null ? [] : filesUpTo(log, name, parseTableOffset(checkpoint.committedEnd, path))
  })
  const { loggedEnd } = checkpoint
  // Where the checkpoint does not say how far it got, all rows of the source can have been written.
  const greatest =
    loggedEnd === 'unknown'
      ? null
      : orError(() =>
          greatestOf(
            [loggedEnd, ...written].filter((line) => line !== null),
            path,
          ),
        )
  const everything = view.snapshot.files
  const isCommittedEnd = greatest !== null && !(greatest instanceof StreamtopError) && formatTableOffset(greatest) === checkpoint.committedEnd
  const logged =
    greatest instanceof StreamtopError ? greatest : greatest === null ? everything : isCommittedEnd ? committed : orError(() => filesUpTo(log, name, greatest))
  const removed = orError(() => log.removedFiles(name, view.snapshot.version))
  return {
    ...base,
    committed,
    logged,
    removed: removed instanceof StreamtopError ? [] : removed,
    lagRows: committed instanceof StreamtopError ? null : rowsBehind(log, name, everything, committed),
  }
}

/** With changed rows left out a range can be told of any table; what is left out are rows that the sink does not have. */
const LENIENT = tableSourceOptions(['skipChangeCommits=true'])

function filesUpTo(log: OverlaidLog, table: string, end: TableOffset): readonly AddFile[] {
  return inNewestFiles(log, table, filesOfRange(log, table, null, end, LENIENT).files, log.snapshot(table)?.files ?? [])
}

function greatestOf(lines: readonly string[], path: string): TableOffset | null {
  const offsets = lines.map((line) => parseTableOffset(line, path))
  let greatest: TableOffset | null = null
  for (const offset of offsets) {
    if (greatest !== null && greatest.tableId !== offset.tableId) {
      throw new StreamtopError(
        'table-recreated',
        `the sink was written from two tables, ${greatest.tableId} and ${offset.tableId}: their rows cannot be compared`,
      )
    }
    if (greatest === null || compareTableOffsets(offset, greatest) > 0) greatest = offset
  }
  return greatest
}

function orError<T>(read: () => T): T | StreamtopError {
  try {
    return read()
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
}
