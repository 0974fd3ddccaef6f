/**
 * Every death of the matrix, and what must lie on disk before and after the restart. Pure, and known beforehand: it follows from what a
 * step leaves on disk (docs/ARCHITECTURE.md, "The way of a batch") and from whether the tables know a batch that comes again.
 */
import { STEPS, type Step } from '../engine/steps.js'
import type { VerdictName } from '../observe/status.js'
import type { WayOfWriting } from './ways.js'

export interface Death {
  readonly way: WayOfWriting
  readonly step: Step
  /** 2: in the write to the second table, when the first has all of its rows. */
  readonly occurrence: number
}

/** What is found, or must be; null is what cannot be told. */
export interface Outcome {
  /** In the order of the way's tables. */
  readonly tables: readonly TableOutcome[]
  /** Attempts that ran the batch again. */
  readonly replayed: number | null
}

export interface TableOutcome {
  readonly name: string
  /** After the death and before the restart, as a reader finds them. */
  readonly rowsWhenDead: number | null
  readonly rows: number | null
  readonly distinct: number | null
  readonly verdict: VerdictName | null
}

interface OnDisk {
  /** The batch's range is fixed. */
  readonly isLogged: boolean
  /** The table that is being written has the rows: a version names them. */
  readonly isWritten: boolean
  /** The checkpoint knows it. */
  readonly isCommitted: boolean
}

const ON_DISK: Readonly<Record<Step, OnDisk>> = {
  planned: { isLogged: false, isWritten: false, isCommitted: false },
  'offsets-logged': { isLogged: true, isWritten: false, isCommitted: false },
  'rows-read': { isLogged: true, isWritten: false, isCommitted: false },
  'mid-write': { isLogged: true, isWritten: false, isCommitted: false },
  'files-written': { isLogged: true, isWritten: false, isCommitted: false },
  'version-linked': { isLogged: true, isWritten: true, isCommitted: false },
  'table-committed': { isLogged: true, isWritten: true, isCommitted: false },
  'batch-committed': { isLogged: true, isWritten: true, isCommitted: true },
}

/** The steps that come once for each write. */
const OF_A_WRITE: ReadonlySet<Step> = new Set(['mid-write', 'files-written', 'version-linked', 'table-committed'])

/** Every moment at which a way of writing can die, in order of time within each step. */
export function deathsOf(way: WayOfWriting): Death[] {
  const writes = way.isTogether ? 1 : way.tables.length
  return STEPS.flatMap((step) => Array.from({ length: OF_A_WRITE.has(step) ? writes : 1 }, (_, index) => ({ way, step, occurrence: index + 1 })))
}

/** What a death must leave, and what must come of the restart. */
export function expectedOf({ way, step, occurrence }: Death): Outcome {
  const { isLogged, isWritten, isCommitted } = ON_DISK[step]
  // A batch that is logged and not committed runs again whole.
  const isReplayed = isLogged && !isCommitted
  const tables = way.tables.map((name, index) => {
    const isThere = isCommitted || (way.isTogether || index === occurrence - 1 ? isWritten : index < occurrence - 1)
    const times = isThere && isReplayed && !way.isIdempotent ? 2 : 1
    return {
      name,
      rowsWhenDead: isThere ? way.rows : 0,
      rows: way.rows * times,
      distinct: way.rows,
      verdict: times > 1 ? ('duplicated' as const) : ('exactly-once' as const),
    }
  })
  return { tables, replayed: isReplayed ? 1 : 0 }
}

/** `table-committed`, or with the write that it is of, where there are several: `table-committed:2`. */
export function stepText({ way, step, occurrence }: Death): string {
  return OF_A_WRITE.has(step) && way.tables.length > 1 && !way.isTogether ? `${step}:${occurrence}` : step
}
