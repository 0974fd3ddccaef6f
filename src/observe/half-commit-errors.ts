/** Commits over several tables of which a part is not there, as lines of the status: one for each table and what is missing. */
import { StreamtopError } from '../errors.js'
import { type HalfCommit, halfCommits } from '../store/half-commits.js'
import type { SqliteLog } from '../store/sqlite-log.js'
import type { StatusError } from './status.js'
import { statusErrorOf } from './status-error.js'

export class HalfCommitErrors {
  readonly #whole = new Set<string>()

  /** None without a log. Never throws: a table that cannot be read is told of elsewhere. */
  of(log: SqliteLog | null): StatusError[] {
    if (log === null) return []
    try {
      return [...byTable(halfCommits(log, this.#whole)).values()].map((halves) => statusErrorOf(halfCommitError(halves)))
    } catch (error) {
      if (error instanceof StreamtopError) return []
      throw error
    }
  }
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
      ? `version ${newest} of table ${table} is of a commit over several tables, whose part in ${others} is not there`
      : `${versions.length} versions of table ${table}, the newest of them ${newest}, are of commits over several tables, whose parts in ${others} are not there`
  return new StreamtopError(
    'table-damaged',
    `${what}: _log.db was deleted in the middle of one, or after ${others} was dropped`,
    { hint: 'a batch with ids that runs again writes the missing part alone; what else is missing has to be written by hand' },
  )
}
