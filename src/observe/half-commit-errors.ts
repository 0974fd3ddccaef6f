/** Commits over several tables that are not whole, as lines of the status: one for each table and what is missing. */
import { StreamtopError } from '../errors.js'
import { type HalfCommit, halfCommits } from '../store/half-commits.js'
import { jointOf } from '../store/joint-version.js'
import type { OverlaidLog } from './overlaid-log.js'
import type { StatusError } from './status.js'
import { statusErrorOf } from './status-error.js'

export class HalfCommitErrors {
  readonly #whole = new Set<string>()

  /** None without a SQLite log. Never throws: a table that cannot be read is told of elsewhere. */
  of(log: OverlaidLog): StatusError[] {
    if (log.sqlite === null) return []
    try {
      const halves = withoutLaidOver(halfCommits(log.sqlite, this.#whole), log)
      return [...byTable(halves).values()].map((ofTable) => statusErrorOf(halfCommitError(ofTable)))
    } catch (error) {
      if (error instanceof StreamtopError) return []
      throw error
    }
  }
}

/** A log that was lost is built again table by table: what it lacks of a table may be on disk all the same. */
function withoutLaidOver(halves: readonly HalfCommit[], log: OverlaidLog): HalfCommit[] {
  const laidOver = new Map<string, ReadonlySet<string | undefined>>()
  const jointsOf = (table: string) => {
    const known = laidOver.get(table) ?? new Set(log.errorOf(table) === null ? log.overlaid(table).map(({ actions }) => jointOf(actions)?.id) : [])
    laidOver.set(table, known)
    return known
  }
  return halves.flatMap((half) => {
    const id = jointOf(log.changes(half.table, half.version))?.id
    const missing = half.missing.filter((table) => !jointsOf(table).has(id))
    return missing.length === 0 ? [] : [{ ...half, missing }]
  })
}

function byTable(halves: readonly HalfCommit[]): Map<string, HalfCommit[]> {
  const groups = new Map<string, HalfCommit[]>()
  for (const half of halves) {
    const key = JSON.stringify([half.table, half.missing])
    groups.set(key, [...(groups.get(key) ?? []), half])
  }
  return groups
}

/** @param halves of one table, which lack the same */
function halfCommitError(halves: readonly HalfCommit[]): StreamtopError {
  const [{ table, missing }] = halves as [HalfCommit]
  const versions = halves.map(({ version }) => version)
  const newest = Math.max(...versions)
  const others = missing.join(' and ')
  const what =
    versions.length === 1
      ? `version ${newest} of table ${table} is of a commit over several tables, whose version in ${others} is not there`
      : `${versions.length} versions of table ${table}, the newest of them ${newest}, are of commits over several tables, whose versions in ${others} are not there`
  return new StreamtopError('table-damaged', `${what}: _log.db was deleted in the middle of one, or after ${others} was dropped`, {
    hint: 'a batch with ids writes what is missing, and nothing else, when it runs again; rows that no batch brings have to be written by hand',
  })
}
