/**
 * Adoption: a version file that the SQLite log lacks is recorded in it, whoever wrote it. That is how a death between link and
 * record heals, how Spark may write at any time, and how a deleted `_log.db` is built again. A version of a joint commit that is
 * still prepared is recorded together with the others of that commit.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { writtenBy } from './commit-info.js'
import { checkNoLink, isTableFolder, readVersionText, versionPath } from './delta-log.js'
import { linkJoint, recordJoint } from './joint-recovery.js'
import { jointOf } from './joint-version.js'
import { readPending } from './pending-version.js'
import type { LoggedTable, SqliteLog } from './sqlite-log.js'
import { findLogStart } from './table-checkpoint.js'
import { parseVersion } from './version-text.js'

export { attemptOf } from './commit-info.js'
export { checkSameTable } from './same-table.js'

/**
 * Records what `_delta_log` of a table has and the log lacks.
 * @returns the table, or null when there is none of that name
 * @throws unsupported-feature for a symbolic link in its place, table-damaged, table-recreated
 */
export function adoptVersions(log: SqliteLog, tablesFolder: string, name: string, fx: Effects): LoggedTable | null {
  const folder = join(tablesFolder, name)
  checkNoLink(folder, fx)
  let table = log.table(name) ?? recordStart(log, folder, name, fx)
  if (!table && !isTableFolder(folder, fx)) return null
  let next = table ? (log.newestVersion(table.tableKey) ?? -1) + 1 : 0
  for (;;) {
    const pending = readPending(log, tablesFolder, name, next, fx)
    if (pending === null) return table
    const { text, actions } = pending
    if (!table && actions.metadata && log.isDroppedId(actions.metadata.id)) return null
    const joint = jointOf(actions)
    if (joint !== null && log.joint.writes(joint.id).length > 0) {
      recordJoint(log, linkJoint(log, tablesFolder, joint.id, fx), fx)
      // Recorded just now, or by another process meanwhile; if neither, it is recorded below like any other.
      table = log.table(name)
      if (table !== null && (log.newestVersion(table.tableKey) ?? -1) >= next) {
        next = (log.newestVersion(table.tableKey) ?? -1) + 1
        continue
      }
    }
    table = log.record(name, next, text, actions, writtenBy(actions, fx.nowMs()))
    next++
  }
}

/** Records the beginning of a log that does not begin at version 0; null when it does, or there is none. */
function recordStart(log: SqliteLog, folder: string, name: string, fx: Effects): LoggedTable | null {
  if (!isTableFolder(folder, fx)) return null
  const start = findLogStart(folder, fx)
  if (start === null || start.base === null || log.isDroppedId(start.base.state.metadata.id)) return null
  const { base, versions } = start
  // Without a JSON of its own the base is recorded together with the version behind it: a table always has a newest text.
  const last = Math.max(base.version, versions[0] ?? base.version)
  const texts = versions
    .filter((version) => version <= last)
    .map((version) => {
      const text = readVersionText(folder, version, fx) ?? ''
      const actions = parseVersion(text, versionPath(folder, version))
      return { version, text, actions, written: writtenBy(actions, fx.nowMs()) }
    })
  return log.recordStart(name, base, texts)
}
