/**
 * Joint commits of which the tables have a part and not all: `_log.db`, and what was prepared in it, was deleted between two links.
 * What was linked was adopted alone. A part that its batch has written since, when it ran again, is not missing.
 */
import { attemptOf } from './commit-info.js'
import { jointOf } from './joint-version.js'
import type { SqliteLog } from './sqlite-log.js'

export interface HalfCommit {
  readonly table: string
  readonly version: number
  /** The tables that do not have their part. */
  readonly missing: readonly string[]
}

/**
 * All of them, by table and version; none in a workspace whose log was never lost.
 * @param whole what an earlier look found to lack nothing, kept up by this one: after a drop that is each older version
 */
export function halfCommits(log: SqliteLog, whole = new Set<string>()): HalfCommit[] {
  return log.joint.incomplete().flatMap(({ jointId, table: name, version }): HalfCommit[] => {
    const table = log.table(name)
    const key = `${jointId} ${name}`
    if (table === null || whole.has(key)) return []
    const actions = log.changes(table, version)
    const by = attemptOf(actions)?.attempt
    const writes = by ? log.ledger.attempts(by.queryId, by.batchId) : []
    const missing = (jointOf(actions)?.tables ?? []).filter((other) => {
      const there = log.table(other.name)
      if (log.isDroppedId(other.id) || (there && log.joint.versionOf(jointId, there.tableKey) !== null)) return false
      return !writes.some((write) => write.tableName === other.name && write.outcome === 'committed')
    })
    if (missing.length === 0) whole.add(key)
    return missing.length === 0 ? [] : [{ table: name, version, missing: missing.map((other) => other.name) }]
  })
}
