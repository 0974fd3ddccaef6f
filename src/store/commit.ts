/**
 * The commit of a version. In this order: data files written and synced; `_delta_log/<v+1>.json` linked, which decides; the
 * same text and its actions into the SQLite log, in one transaction with the ledger row. A death between the last two heals by
 * adoption. Whoever loses the race for v+1 adopts the winner and looks again.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { VERSION } from '../version.js'
import type { VersionActions } from './actions.js'
import type { WriteOutcome } from './attempt.js'
import { attemptJson } from './commit-info.js'
import type { WrittenFile } from './data-files.js'
import { DELTA_LOG, linkVersion } from './delta-log.js'
import { FILE_IS_GONE } from './file-path.js'
import { type Joint, jointJson } from './joint-version.js'
import type { WriteResult } from './ledger.js'
import { nobodyListens, type WriteKind } from './moments.js'
import { changesShape } from './replay.js'
import { checkSameTable } from './same-table.js'
import type { LoggedTable, Shape, SqliteLog } from './sqlite-log.js'
import { formatVersion } from './version-text.js'
import type { MergeEffect, WriteOptions, WriteReport } from './write.js'

/** The table that a draft is made for; null when there is none yet. */
export interface Base {
  readonly table: LoggedTable
  readonly version: number
  readonly shape: Shape
}

/** Everything a version says but who and when. */
export interface Draft {
  readonly operation: string
  readonly operationParameters: Readonly<Record<string, unknown>>
  readonly operationMetrics: Readonly<Record<string, string>>
  readonly isBlindAppend: boolean
  /** `Serializable` unless given. */
  readonly isolationLevel?: 'SnapshotIsolation'
  /** Of a MERGE. */
  readonly counts?: MergeEffect
  readonly actions: Pick<VersionActions, 'metadata' | 'protocol' | 'adds' | 'removes'>
}

/** A write to one table, ready to be committed alone or together with others. */
export interface PlannedWrite {
  readonly table: string
  readonly kind: WriteKind
  /** Of the rows given: what the ledger and a skip speak of. */
  readonly rowCount: number
  readonly options: WriteOptions
  /** Makes the draft for a base; called again after a lost race. Null: nothing would change. */
  draftFor(base: Base | null): Promise<Draft | null>
}

/** What a commit needs of the store. */
export interface CommitContext {
  readonly log: SqliteLog
  readonly tablesFolder: string
  readonly fx: Effects
  /** Adopts what is on disk and gives the newest version. */
  base(name: string): Base | null
  /** What to tell of a table's new data files. */
  written(name: string): WrittenFile
}

export const MERGE_TRIES_MAX = 3
export const APPEND_TRIES_MAX = 10_000

/**
 * Commits one version.
 * @throws conflict when a version in between changed the table's shape, or a MERGE lost three times
 */
export async function commitVersion(context: CommitContext, write: PlannedWrite): Promise<WriteReport> {
  const { table: name, kind, options } = write
  const { log, fx } = context
  const table = { table: name, kind }
  const onMoment = options.onMoment ?? nobodyListens
  const tableCommitted = (outcome: WriteOutcome) => onMoment('table-committed', { ...table, outcome })
  const folder = join(context.tablesFolder, name)
  let filesAreTold = false
  let tries = 0
  for (let base = context.base(name); ; base = checkWinners(context, name, base, ++tries)) {
    const skipped = skipOf(log, base, write)
    const draft = skipped ? null : await draftOrLost(context, write, base, tries)
    if (draft === LOST) continue
    if (draft === null) {
      const report = skipped ?? unchanged(write)
      noteWithoutVersion(context, write, base, report)
      await tableCommitted(report.outcome)
      return report
    }
    if (!filesAreTold) await onMoment('files-written', table)
    filesAreTold = true
    const version = (base?.version ?? -1) + 1
    const actions = complete(draft, base, options, null, fx)
    const text = formatVersion(actions)
    if (version === 0) fx.files.makeFolder(join(folder, DELTA_LOG))
    // The data files lie in the folder that the base was in: under another table they would be named and not be there.
    if (base && log.table(name)?.tableKey !== base.table.tableKey) throw droppedMeanwhile(name)
    if (base) checkSameTable(log, context.tablesFolder, base.table, fx)
    if (linkVersion(folder, version, text, fx) === 'exists') {
      // An optimize counts itself how often it had to be made anew.
      if (tries >= (draft.isBlindAppend || kind === 'optimize' ? APPEND_TRIES_MAX : MERGE_TRIES_MAX)) throw lostTooOften(name, version, tries)
      continue
    }
    await onMoment('version-linked', table)
    const report = committed(write, draft, version)
    log.record(name, version, text, actions, ledgerEntry(report, options, fx))
    await tableCommitted('committed')
    return report
  }
}

export const LOST = Symbol('lost')

/** The draft for a base; lost when a file of it was taken out by a newer version, and cleared up, before it was read. */
export async function draftOrLost(context: CommitContext, write: PlannedWrite, base: Base | null, tries: number): Promise<Draft | null | typeof LOST> {
  try {
    return await write.draftFor(base)
  } catch (error) {
    const isGone = error instanceof StreamtopError && error.condition === FILE_IS_GONE && tries < MERGE_TRIES_MAX
    if (isGone && base && (context.base(write.table)?.version ?? 0) > base.version) return LOST
    throw error
  }
}

/** Adopts who won, and refuses when the winner changed what this write was planned on. */
export function checkWinners(context: CommitContext, name: string, lost: Base | null, tries: number): Base {
  const base = context.base(name)
  if (base === null || base.version === (lost?.version ?? -1)) {
    throw new StreamtopError('conflict', `version ${(lost?.version ?? -1) + 1} of table ${name} is on disk but cannot be adopted (attempt ${tries})`, {
      hint: `the folder tables/${name} belongs to a table that was dropped; remove it or choose another name`,
    })
  }
  if (lost && base.table.tableKey !== lost.table.tableKey) throw droppedMeanwhile(name)
  for (let version = (lost?.version ?? base.version) + 1; version <= base.version; version++) {
    const winner = context.log.changes(base.table, version)
    if (changesShape(winner)) {
      throw new StreamtopError('conflict', `version ${version} of table ${name} changed its metadata or protocol while this write was under way`, {
        hint: 'start the query again: it runs the batch again on the table as it is now',
        condition: winner.protocol ? 'DELTA_PROTOCOL_CHANGED' : 'DELTA_METADATA_CHANGED',
      })
    }
  }
  return base
}

export function droppedMeanwhile(name: string): StreamtopError {
  return new StreamtopError('conflict', `table ${name} was dropped while this write was under way`, {
    hint: 'start the query again: it runs the batch again on what is there now; a query should name every table it writes (alsoWrites), so that drop waits for it',
  })
}

export function lostTooOften(name: string, version: number, tries: number): StreamtopError {
  return new StreamtopError(
    'conflict',
    `table ${name} was written by others ${tries + 1} times while this write was being made; the last was version ${version}`,
    {
      hint: 'start the query again when the other writer has ended',
      condition: 'DELTA_CONCURRENT_APPEND',
    },
  )
}

/** The report of a write whose number the table has already; null when it has not. */
export function skipOf(log: SqliteLog, base: Base | null, { table, rowCount, options }: PlannedWrite): WriteReport | null {
  const { txn } = options
  if (!base || !txn) return null
  const newest = log.newestTxn(base.table, txn.appId)
  if (newest === null || newest.version < txn.version) return null
  const at = log.versionOfTxn(base.table.tableKey, txn.appId, txn.version)
  const written = at === null ? null : log.changes(base.table, at)
  const judged = options.onSkip?.({ table, heldBy: table, txn: newest, written, rowCount }) ?? { leftOutRows: null, reason: null }
  return { outcome: 'already-committed', version: null, rowCount, ...judged }
}

export function committed({ rowCount }: PlannedWrite, { counts }: Draft, version: number): WriteReport {
  return { outcome: 'committed', version, rowCount, leftOutRows: null, reason: null, ...(counts ? { counts } : {}) }
}

export function unchanged({ rowCount }: PlannedWrite): WriteReport {
  return { outcome: 'unchanged', version: null, rowCount, leftOutRows: null, reason: null }
}

/** Fills in the ledger's row of a write that leaves no version. */
export function noteWithoutVersion({ log, fx }: CommitContext, { table, options }: PlannedWrite, base: Base | null, report: WriteReport): void {
  const entry = ledgerEntry(report, options, fx)
  if (entry) log.ledger.fillAlone(entry, table, base?.table.tableId ?? '')
}

export function ledgerEntry(report: WriteReport, options: WriteOptions, fx: Effects): WriteResult | null {
  if (!options.source) return null
  return {
    ...options.source,
    rows: report.rowCount,
    appId: options.txn?.appId ?? null,
    txnVersion: options.txn?.version ?? null,
    outcome: report.outcome,
    leftOutRows: report.leftOutRows,
    reason: report.reason,
    nowMs: fx.nowMs(),
  }
}

/**
 * The actions of a version.
 * @param joint the joint commit that it belongs to, null for a version that is written alone
 */
export function complete(draft: Draft, base: Base | null, { txn, source }: WriteOptions, joint: Joint | null, fx: Effects): VersionActions {
  const nowMs = fx.nowMs()
  const said = { ...(source ? attemptJson(source.attempt, source.writeNumber) : {}), ...(joint ? jointJson(joint) : {}) }
  return {
    commitInfo: {
      timestamp: nowMs,
      operation: draft.operation,
      operationParameters: draft.operationParameters,
      ...(base ? { readVersion: base.version } : {}),
      isolationLevel: draft.isolationLevel ?? 'Serializable',
      isBlindAppend: draft.isBlindAppend,
      operationMetrics: draft.operationMetrics,
      engineInfo: `streamtop/${VERSION}`,
      txnId: joint?.id ?? fx.randomUuid(),
      ...(source || joint ? { streamtop: said } : {}),
    },
    ...draft.actions,
    // A retention property drops entries by their time, and one without a time at once: so the time is always there.
    txns: txn ? [{ appId: txn.appId, version: txn.version, lastUpdatedMs: nowMs }] : [],
  }
}
