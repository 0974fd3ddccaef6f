/** A version file that the SQLite log lacks, read to be recorded. */
import { dirname, join } from 'node:path'
import type { Effects } from '../effects.js'
import type { VersionActions } from './actions.js'
import { readVersionText, versionPath } from './delta-log.js'
import { checkSameTable } from './same-table.js'
import type { SqliteLog } from './sqlite-log.js'
import { parseVersion } from './version-text.js'

export interface PendingVersion {
  readonly name: string
  readonly version: number
  readonly text: string
  readonly actions: VersionActions
}

/**
 * A version of a table, made durable; null when it is not there.
 * @throws table-recreated, table-damaged
 */
export function readPending(log: SqliteLog, tablesFolder: string, name: string, version: number, fx: Effects): PendingVersion | null {
  const folder = join(tablesFolder, name)
  const text = readVersionText(folder, version, fx)
  if (text === null) return null
  const path = versionPath(folder, version)
  const actions = parseVersion(text, path)
  // The newest version must be the one that the log has, or these are another table's; and what is recorded durably must be durable itself.
  const table = log.table(name)
  if (table) checkSameTable(log, tablesFolder, table, fx)
  fx.files.syncFile(path)
  fx.files.syncFolder(dirname(path))
  return { name, version, text, actions }
}
