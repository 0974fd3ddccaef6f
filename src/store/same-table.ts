/** Whether a table's folder still holds the table that the log knows. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { readVersionText, versionPath } from './delta-log.js'
import type { LoggedTable, SqliteLog } from './sqlite-log.js'
import { parseVersion } from './version-text.js'

/**
 * That the folder still holds the table that the log knows.
 * @throws table-recreated or table-damaged
 */
export function checkSameTable(log: SqliteLog, tablesFolder: string, table: LoggedTable, fx: Effects): void {
  const folder = join(tablesFolder, table.name)
  const newest = log.newestVersion(table.tableKey)
  if (newest === null) return
  const onDisk = readVersionText(folder, newest, fx)
  if (onDisk === log.versionText(table.tableKey, newest)) return
  const first = readVersionText(folder, 0, fx)
  const foundId = first === null ? null : parseVersion(first, versionPath(folder, 0)).metadata?.id
  if (foundId && !log.idsOf(table).has(foundId)) throw tableIsAnother(table, foundId)
  throw new StreamtopError(
    'table-damaged',
    `${versionPath(folder, newest)} is ${onDisk === null ? 'gone' : 'not what was committed'}, but the log has version ${newest}`,
    {
      hint: `restore it from a copy; if it is right as it is, delete tables/_log.db, which is built again; or run "streamtop drop ${table.name}" to forget the table`,
    },
  )
}

function tableIsAnother(table: LoggedTable, foundId: string): StreamtopError {
  return new StreamtopError('table-recreated', `tables/${table.name} holds another table (id ${foundId}) than the log knows (id ${table.tableId})`, {
    hint: `it was dropped and made again outside of streamtop; run "streamtop drop ${table.name}" to forget it, or put the old folder back`,
    condition: 'DELTA_TABLE_ID_MISMATCH',
  })
}
