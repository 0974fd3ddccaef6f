/**
 * Adoption: a version file that the SQLite log lacks is recorded in it, whoever wrote it. That is how a death between link and
 * record heals, how Spark may write at any time, and how a deleted `_log.db` is built again.
 */
import { dirname, join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { VersionActions } from './actions.js'
import { isTableFolder, readVersionText, versionPath } from './delta-log.js'
import type { Attempt } from './attempt.js'
import type { WriteResult } from './ledger.js'
import { type LoggedTable, type SqliteLog, tableIsAnother } from './sqlite-log.js'
import { findLogStart } from './table-checkpoint.js'
import { parseVersion } from './version-text.js'

/**
 * Records what `_delta_log` of a table has and the log lacks.
 * @returns the table, or null when there is none of that name
 */
export function adoptVersions(log: SqliteLog, tablesFolder: string, name: string, fx: Effects): LoggedTable | null {
  const folder = join(tablesFolder, name)
  let table = log.table(name) ?? recordStart(log, folder, name, fx)
  if (!table && !isTableFolder(folder, fx)) return null
  let next = table ? (log.newestVersion(table.tableKey) ?? -1) + 1 : 0
  for (;;) {
    const text = readVersionText(folder, next, fx)
    if (text === null) return table
    const actions = parseVersion(text, versionPath(folder, next))
    if (!table && actions.metadata && log.isDroppedId(actions.metadata.id)) return null
    // The version before must be the one that the log has, or these are another table's; and what is recorded durably must be durable itself.
    if (table) checkSameTable(log, tablesFolder, table, fx)
    fx.files.syncFile(versionPath(folder, next))
    fx.files.syncFolder(dirname(versionPath(folder, next)))
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
  if (foundId && foundId !== table.tableId) throw tableIsAnother(table, foundId)
  throw new StreamtopError(
    'table-damaged',
    `${versionPath(folder, newest)} is ${onDisk === null ? 'gone' : 'not what was committed'}, but the log has version ${newest}`,
    {
      hint: `restore it from a copy, or run "streamtop drop ${table.name}" to forget the table`,
    },
  )
}

/** Which attempt wrote a version, from its commitInfo; null when it was not streamtop. */
export function attemptOf(actions: VersionActions): { readonly attempt: Attempt; readonly writeNumber: number } | null {
  const said = actions.commitInfo?.streamtop as Partial<Record<string, unknown>> | undefined
  if (typeof said !== 'object' || said === null) return null
  const { query, queryId, batch, attempt, write, start, end, idempotent } = said
  if (typeof query !== 'string' || typeof queryId !== 'string' || typeof batch !== 'number' || typeof attempt !== 'number') return null
  if (typeof end !== 'string') return null
  return {
    attempt: { query, queryId, batchId: batch, attempt, rangeStart: typeof start === 'string' ? start : null, rangeEnd: end, idempotent: idempotent === true },
    writeNumber: typeof write === 'number' ? write : 1,
  }
}

/** What commitInfo says of an attempt, the inverse of `attemptOf`. */
export function attemptJson(attempt: Attempt, writeNumber: number): Record<string, unknown> {
  return {
    query: attempt.query,
    queryId: attempt.queryId,
    batch: attempt.batchId,
    attempt: attempt.attempt,
    write: writeNumber,
    start: attempt.rangeStart,
    end: attempt.rangeEnd,
    idempotent: attempt.idempotent,
  }
}

function writtenBy(actions: VersionActions, nowMs: number): WriteResult | null {
  const by = attemptOf(actions)
  if (by === null) return null
  const metrics = actions.commitInfo?.operationMetrics as Record<string, unknown> | undefined
  const txn = actions.txns[0]
  return {
    ...by,
    // Of a MERGE the rows that it was given, as its writer says: its output counts copied rows too.
    rows: Number(metrics?.numSourceRows ?? metrics?.numOutputRows ?? 0),
    appId: txn?.appId ?? null,
    txnVersion: txn?.version ?? null,
    outcome: 'committed',
    leftOutRows: null,
    reason: null,
    nowMs,
  }
}
