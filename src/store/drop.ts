/**
 * Drop: marked as dropping (durable), the folder renamed to a dot name, removed, forgotten. Whoever opens the store next ends a
 * drop that died in between. The id of a dropped table is remembered, so that a folder put back is not adopted by accident.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { adoptVersions } from './adopt.js'
import { settleJoints } from './joint-recovery.js'
import { isTableFolder, versionPath } from './delta-log.js'
import { readTableFile } from './read-file.js'
import type { LoggedTable, SqliteLog } from './sqlite-log.js'
import { parseVersion } from './version-text.js'

const DROPPED = '.dropped-'

/** Drops a table; false when there is none of that name. */
export function dropTable(log: SqliteLog, tablesFolder: string, name: string, fx: Effects): boolean {
  const table = log.table(name) ?? adoptVersions(log, tablesFolder, name, fx)
  if (!table) return false
  // A joint commit that is linked in part is ended first, so that its other tables do not wait for this one.
  settleJoints(log, tablesFolder, fx)
  log.markDropping(table)
  remove(log, tablesFolder, table, fx)
  return true
}

/** Ends drops that were begun, and removes what they left. */
export function finishDrops(log: SqliteLog, tablesFolder: string, fx: Effects): void {
  for (const table of log.droppingTables()) remove(log, tablesFolder, table, fx)
  for (const name of fx.files.list(tablesFolder)) {
    if (name.startsWith(DROPPED)) fx.files.removeFolder(join(tablesFolder, name))
  }
}

/** In one transaction, for several may end the same drop: only one of them finds it undone, and it cannot take away a table that was made meanwhile. */
function remove(log: SqliteLog, tablesFolder: string, table: LoggedTable, fx: Effects): void {
  const folder = join(tablesFolder, table.name)
  const aside = join(tablesFolder, `${DROPPED}${table.name}-${fx.randomUuid()}`)
  log.transaction(() => {
    if (!log.droppingTables().some(({ tableKey }) => tableKey === table.tableKey)) return
    if (isTableFolder(folder, fx) && holds(log, folder, table, fx)) fx.files.rename(folder, aside)
    log.forget(table.tableKey)
  })
  fx.files.removeFolder(aside)
}

/** A table that was made anew under the same name meanwhile is not ours to remove; one whose first version is gone is. */
function holds(log: SqliteLog, folder: string, table: LoggedTable, fx: Effects): boolean {
  const path = versionPath(folder, 0)
  const first = readTableFile(path, fx)
  return first === null || log.idsOf(table).has(parseVersion(first.toString('utf8'), path).metadata?.id ?? '')
}
