/**
 * A joint commit from its first link on. Whoever meets it goes on with it: links what is not linked yet, and records all versions
 * in one transaction. Several may do so at once: a version's number is free until it is linked, and all look at them in order.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Metadata, Protocol, VersionActions } from './actions.js'
import { writtenBy } from './commit-info.js'
import { DELTA_LOG, isTableFolder, linkVersion, missingVersion, readVersionText, versionPath } from './delta-log.js'
import { checkWritable } from './features.js'
import type { PreparedWrite } from './joint-log.js'
import { jointOf, textWithoutShape } from './joint-version.js'
import { type PendingVersion, readPending } from './pending-version.js'
import { changesShape } from './replay.js'
import { findColumn, sameType } from './schema.js'
import type { SqliteLog } from './sqlite-log.js'
import { tableSchema } from './table-schema.js'
import { isRunning, ownProcess } from './uncommitted.js'
import { parseVersion } from './version-text.js'

/** What became of a prepared write. `taken`: another version has its txn, so it is skipped; `gone`: its table was dropped. */
export type LinkedPart = { readonly write: PreparedWrite } & (
  | { readonly outcome: 'linked' | 'taken'; readonly version: number }
  | { readonly outcome: 'gone'; readonly version: null }
)

/** Joint commits whose parts are all linked, ready to be recorded at once. */
export interface LinkedJoint {
  /** The one that was asked for, and those that lie between its versions. */
  readonly jointIds: readonly string[]
  readonly parts: readonly LinkedPart[]
  /** Every version up to theirs that the log lacks, ascending in each table. */
  readonly versions: readonly PendingVersion[]
}

/**
 * Links what is left of a joint commit whose first write is linked.
 * @throws conflict when a table was changed meanwhile so that its part does not fit any more; table-recreated, table-damaged
 */
export function linkJoint(log: SqliteLog, tablesFolder: string, jointId: string, fx: Effects): LinkedJoint {
  const jointIds = [jointId]
  const parts: LinkedPart[] = []
  const versions: PendingVersion[] = []
  const next = new Map<string, number>()
  for (const id of jointIds) {
    for (const write of log.joint.writes(id)) {
      const part = linkPart(log, tablesFolder, write, fx)
      parts.push(part)
      if (part.outcome === 'gone') continue
      // A version before it may be of a joint commit that is not recorded either: then both are recorded at once.
      for (let version = next.get(write.table) ?? firstLacking(log, write.table); version <= part.version; version++) {
        const pending = readPending(log, tablesFolder, write.table, version, fx)
        if (pending === null) throw missingVersion(join(tablesFolder, write.table), version - 1, part.version)
        versions.push(pending)
        next.set(write.table, version + 1)
        const other = jointOf(pending.actions)
        if (other !== null && !jointIds.includes(other.id)) jointIds.push(other.id)
      }
    }
  }
  return { jointIds, parts, versions }
}

/** Records joint commits in one transaction, with the ledger's rows; what another process has recorded meanwhile is left alone. */
export function recordJoint(log: SqliteLog, { jointIds, parts, versions }: LinkedJoint, fx: Effects): void {
  const nowMs = fx.nowMs()
  const recorded = versions.map((pending) => ({ ...pending, written: writtenBy(pending.actions, nowMs) }))
  log.recordTogether(recorded, () => {
    for (const part of parts) if (part.outcome === 'taken') noteTaken(log, part.write, part.version, nowMs)
    for (const jointId of jointIds) log.joint.settle(jointId)
  })
}

/** Ends what deaths have left: goes on with joint commits that are linked in part, and forgets those of which nothing is linked. */
export function settleJoints(log: SqliteLog, tablesFolder: string, fx: Effects): void {
  for (const { jointId, writer } of log.joint.unsettled()) {
    const isAlive = writer === ownProcess(fx) ? log.joint.isUnderWay(jointId) : isRunning(writer, fx)
    try {
      if (log.joint.writes(jointId).some((write) => findLinked(tablesFolder, write, fx) !== null)) {
        recordJoint(log, linkJoint(log, tablesFolder, jointId, fx), fx)
      } else if (!isAlive) log.joint.settle(jointId)
    } catch (error) {
      // Whoever uses one of its tables hears of it; the others must not suffer.
      if (!(error instanceof StreamtopError)) throw error
    }
  }
}

/** The version as which a prepared write is linked; null when it is not. */
export function findLinked(tablesFolder: string, write: PreparedWrite, fx: Effects): number | null {
  const folder = join(tablesFolder, write.table)
  for (let version = write.version; ; version++) {
    const there = readVersionText(folder, version, fx)
    if (there === null) return null
    if (there === textAs(write, version)) return version
  }
}

/** The text of a prepared write as a version: a table that another writer made first has its metadata and protocol already. */
export function textAs(write: PreparedWrite, version: number): string {
  return write.tableKey === null && version > 0 ? textWithoutShape(write.text, `what was prepared for table ${write.table}`) : write.text
}

/** Finds a part on disk, or links it as the next version. The first part is linked before this is called, or never. */
function linkPart(log: SqliteLog, tablesFolder: string, write: PreparedWrite, fx: Effects): LinkedPart {
  const folder = join(tablesFolder, write.table)
  const gone = { write, outcome: 'gone', version: null } as const
  const prepared = parseVersion(write.text, `what was prepared for table ${write.table}`)
  let shape: Pick<VersionActions, 'metadata' | 'protocol'> | null = null
  for (let version = write.version; ; ) {
    if (isGone(log, write)) return gone
    const there = readVersionText(folder, version, fx)
    if (there === textAs(write, version)) return { write, outcome: 'linked', version }
    if (write.position === 0) return gone
    if (there === null) {
      if (write.tableKey === null) fx.files.makeFolder(join(folder, DELTA_LOG))
      else if (!isTableFolder(folder, fx)) return gone
      linkVersion(folder, version, textAs(write, version), fx)
      continue
    }
    const winner = parseVersion(there, versionPath(folder, version))
    if (hasTxnOf(winner, prepared)) return { write, outcome: 'taken', version }
    if (changesShape(winner)) {
      const before: Pick<VersionActions, 'metadata' | 'protocol'> = shape ?? shapeBefore(log, write, prepared)
      shape = { metadata: winner.metadata ?? before.metadata, protocol: winner.protocol ?? before.protocol }
      checkFits(write, shapeBefore(log, write, prepared), shape, version)
    }
    version++
  }
}

function isGone(log: SqliteLog, { table, tableKey }: PreparedWrite): boolean {
  return tableKey !== null && log.table(table)?.tableKey !== tableKey
}

function firstLacking(log: SqliteLog, name: string): number {
  const table = log.table(name)
  return table === null ? 0 : (log.newestVersion(table.tableKey) ?? -1) + 1
}

function hasTxnOf(winner: VersionActions, prepared: VersionActions): boolean {
  return prepared.txns.some((txn) => winner.txns.some(({ appId, version }) => appId === txn.appId && version >= txn.version))
}

/** The metadata and protocol that a write was prepared for. */
function shapeBefore(log: SqliteLog, write: PreparedWrite, prepared: VersionActions): Pick<VersionActions, 'metadata' | 'protocol'> {
  const table = log.table(write.table)
  return write.tableKey === null || table === null ? prepared : log.shape(table, write.version - 1)
}

/** @throws conflict when rows written for one shape of a table cannot be added to it in another */
function checkFits(write: PreparedWrite, before: Partial<Shape>, after: Partial<Shape>, version: number): void {
  if (!before.metadata || !after.metadata || !after.protocol) return
  try {
    checkWritable(write.table, after.protocol, after.metadata, false)
  } catch (cause) {
    throw doesNotFit(write, version, (cause as Error).message, cause)
  }
  const columns = tableSchema(before.metadata).columns
  const schema = tableSchema(after.metadata)
  const lost = columns.find(({ name, type }) => {
    const column = findColumn(schema, name)
    return column === null || !sameType(column.type, type)
  })
  const required = schema.columns.find((column) => !column.nullable && !columns.some(({ name }) => name.toLowerCase() === column.name.toLowerCase()))
  if (lost) throw doesNotFit(write, version, `column ${lost.name} is gone or of another type`)
  if (required) throw doesNotFit(write, version, `column ${required.name} may not be null`)
}

interface Shape {
  readonly metadata: Metadata | null
  readonly protocol: Protocol | null
}

function doesNotFit({ table }: PreparedWrite, version: number, why: string, cause?: unknown): StreamtopError {
  return new StreamtopError(
    'conflict',
    `another table has its part of a commit over several tables, and table ${table} cannot take its own: version ${version} changed it meanwhile (${why})`,
    { hint: `change ${table} back, or "streamtop drop ${table}": then the commit is ended without it`, condition: 'DELTA_METADATA_CHANGED', cause },
  )
}

/** A part that another version has already counts as there; the ledger has it as skipped. */
function noteTaken(log: SqliteLog, write: PreparedWrite, version: number, nowMs: number): void {
  const prepared = parseVersion(write.text, `what was prepared for table ${write.table}`)
  const table = log.table(write.table)
  const written = writtenBy(prepared, nowMs)
  if (table === null) return
  log.joint.note(write.jointId, table.tableKey, version, jointOf(prepared)?.tables.length ?? 1)
  if (written === null) return
  const reason = `version ${version} of ${write.table}, written meanwhile, has its txn`
  log.ledger.fill({
    ...written,
    outcome: 'already-committed',
    leftOutRows: written.rows,
    reason,
    tableName: write.table,
    tableId: table.tableId,
    version: null,
  })
}

/** Why a part is skipped in the last moment. */
export function takenReason(table: string, version: number): string {
  return `version ${version} of ${table}, written meanwhile, has its txn`
}
