/**
 * One commit over several tables. In this order: every data file written and synced; all versions stored as prepared in one SQLite
 * transaction; the first version linked, which decides; the others linked, as whatever number is free; all of them recorded in one
 * SQLite transaction with the ledger's rows. From the first link on whoever finds it goes on with it (joint-recovery.ts); before,
 * it is forgotten. So it is whole or absent for every reader of streamtop.
 */
import { join } from 'node:path'
import { StreamtopError } from '../errors.js'
import type { WriteOutcome } from './attempt.js'
import {
  APPEND_TRIES_MAX,
  type Base,
  type CommitContext,
  checkWinners,
  committed,
  complete,
  type Draft,
  draftOrLost,
  droppedMeanwhile,
  LOST,
  ledgerEntry,
  lostTooOften,
  MERGE_TRIES_MAX,
  noteWithoutVersion,
  type PlannedWrite,
  skipOf,
  unchanged,
} from './commit.js'
import { DELTA_LOG, linkVersion, readVersionText } from './delta-log.js'
import { linkJoint, recordJoint, takenReason } from './joint-recovery.js'
import { type Joint, jointOf } from './joint-version.js'
import { nobodyListens, type OnMoment } from './moments.js'
import { checkSameTable } from './same-table.js'
import type { SqliteLog } from './sqlite-log.js'
import { ownProcess } from './uncommitted.js'
import { formatVersion } from './version-text.js'
import type { WriteReport } from './write.js'

/** A write that will leave a version. */
interface Part {
  readonly write: PlannedWrite
  readonly base: Base | null
  readonly draft: Draft
}

/**
 * Commits writes to different tables at once. A write whose txn its table has is left out, as it would be alone; a write without
 * one is left out when the joint commit that set the txn of another one has written its table too.
 * @param plan makes the writes, given what their moments go to
 * @param onMoment told of each moment once
 * @returns what each write came to, in their order
 * @throws usage, conflict, and what the writes throw
 */
export async function commitTogether(
  context: CommitContext,
  plan: (moment: OnMoment) => readonly PlannedWrite[],
  onMoment: OnMoment = nobodyListens,
): Promise<WriteReport[]> {
  let midWriteIsTold = false
  const writes = plan(async (moment, details) => {
    if (midWriteIsTold) return
    midWriteIsTold = true
    await onMoment(moment, details)
  })
  checkWrites(writes)
  const [first] = writes
  if (!first) return []
  const about = { table: first.table, kind: first.kind }
  const drafts = new Map<PlannedWrite, Part>()
  let filesAreTold = false
  let mergeTries = 0
  for (let tries = 0; tries <= APPEND_TRIES_MAX && mergeTries <= MERGE_TRIES_MAX; tries++) {
    const bases = new Map(writes.map((write) => [write, context.base(write.table)]))
    const reports = new Map<PlannedWrite, WriteReport>()
    const parts: Part[] = []
    let isLost = false
    for (const write of writes) {
      const base = bases.get(write) ?? null
      const skipped = skipOf(context.log, base, write) ?? skipWithOthers(context.log, base, write, bases)
      const part = skipped ? null : await partOf(context, write, base, drafts, mergeTries)
      isLost ||= part === LOST
      if (part === LOST) break
      if (part) parts.push(part)
      else reports.set(write, skipped ?? unchanged(write))
    }
    if (isLost) {
      mergeTries++
      continue
    }
    if (parts.length > 0 && !filesAreTold) await onMoment('files-written', about)
    filesAreTold = true

    // From here to the last link nothing is waited for. What has changed since the bases were taken is looked at first.
    const changed = writes.filter((write) => hasChanged(context, write, bases.get(write) ?? null, tries))
    const linked = changed.length > 0 ? null : linkParts(context, inLinkOrder(parts))
    if (linked === null) {
      if (parts.some(isMerge) && (changed.length === 0 || changed.some(({ kind }) => kind === 'merge'))) mergeTries++
      continue
    }
    if (parts.length > 0) await onMoment('version-linked', about)
    for (const [write, report] of reports) noteWithoutVersion(context, write, bases.get(write) ?? null, report)
    for (const [write, report] of linked.record()) reports.set(write, report)
    const all = writes.map((write) => reports.get(write) as WriteReport)
    await onMoment('table-committed', { ...about, outcome: outcomeOf(all) })
    return all
  }
  const lost = writes.find(({ kind }) => kind === 'merge') ?? first
  throw lostTooOften(lost.table, context.base(lost.table)?.version ?? 0, mergeTries > MERGE_TRIES_MAX ? MERGE_TRIES_MAX : APPEND_TRIES_MAX)
}

function checkWrites(writes: readonly PlannedWrite[]): void {
  const twice = writes.find(({ table }, index) => writes.findIndex((write) => write.table === table) !== index)
  if (twice) {
    throw new StreamtopError('usage', `a commit over several tables writes each of them once, and table ${twice.table} is named twice`, {
      hint: 'give all its rows in one write',
    })
  }
  const merges = writes.filter(({ kind }) => kind === 'merge').map(({ table }) => table)
  if (merges.length > 1) {
    throw new StreamtopError('usage', `a commit over several tables has at most one MERGE, and there are ${merges.length}: into ${merges.join(' and ')}`, {
      hint: 'write one of them apart: only the first version of such a commit can still be taken back, and a MERGE may have to be',
    })
  }
}

/** A write without a txn, left out because what its table got in the same commit as another one's txn is there. */
function skipWithOthers(log: SqliteLog, own: Base | null, write: PlannedWrite, bases: ReadonlyMap<PlannedWrite, Base | null>): WriteReport | null {
  const { table, rowCount, options } = write
  if (own === null || options.txn) return null
  for (const [other, base] of bases) {
    const { txn } = other.options
    const at = base && txn ? log.versionOfTxn(base.table.tableKey, txn.appId, txn.version) : null
    if (!base || !txn || at === null) continue
    const joint = jointOf(log.changes(base.table, at))
    const version = joint && log.joint.versionOf(joint.id, own.table.tableKey)
    if (version === null) continue
    const seen = { table, heldBy: other.table, txn: { ...txn, lastUpdatedMs: null }, written: log.changes(own.table, version), rowCount }
    return { outcome: 'already-committed', version: null, rowCount, ...(options.onSkip?.(seen) ?? { leftOutRows: null, reason: null }) }
  }
  return null
}

/** What a write would do; what was made for the same version of the table is taken again. */
async function partOf(
  context: CommitContext,
  write: PlannedWrite,
  base: Base | null,
  drafts: Map<PlannedWrite, Part>,
  tries: number,
): Promise<Part | null | typeof LOST> {
  const known = drafts.get(write)
  if (known && known.base?.version === base?.version && known.base?.table.tableKey === base?.table.tableKey) return known
  const draft = await draftOrLost(context, write, base, tries)
  if (draft === null || draft === LOST) return draft
  const part = { write, base, draft }
  drafts.set(write, part)
  return part
}

/** Whether a table has another version than a write was planned for; refused when it is another table, or of another shape. */
function hasChanged(context: CommitContext, { table }: PlannedWrite, before: Base | null, tries: number): boolean {
  const now = context.base(table)
  if (now?.version === before?.version && now?.table.tableKey === before?.table.tableKey) {
    if (now) checkSameTable(context.log, context.tablesFolder, now.table, context.fx)
    return false
  }
  if (now === null) throw droppedMeanwhile(table)
  checkWinners(context, table, before, tries)
  return true
}

/** The first must be the one that may be refused: a MERGE, else one that makes its table. The others stay in their order. */
function inLinkOrder(parts: readonly Part[]): Part[] {
  const rank = (part: Part) => (isMerge(part) ? 0 : part.base === null ? 1 : 2)
  return [...parts].sort((left, right) => rank(left) - rank(right))
}

function isMerge({ write }: Part): boolean {
  return write.kind === 'merge'
}

/** Versions that are linked and have to be recorded. */
interface LinkedParts {
  record(): Map<PlannedWrite, WriteReport>
}

/** Null when another writer was faster with the first of them: then nothing is linked. */
function linkParts(context: CommitContext, parts: readonly Part[]): LinkedParts | null {
  const [first] = parts
  if (!first) return { record: () => new Map() }
  const { log, tablesFolder, fx } = context
  const joint: Joint | null = parts.length === 1 ? null : { id: fx.randomUuid(), tables: parts.map(tableOf) }
  const versions = parts.map((part) => {
    const { write, base, draft } = part
    const version = (base?.version ?? -1) + 1
    const actions = complete(draft, base, write.options, joint, fx)
    if (version === 0) fx.files.makeFolder(join(tablesFolder, write.table, DELTA_LOG))
    return { write, base, draft, version, actions, text: formatVersion(actions) }
  })
  const [decisive] = versions as [(typeof versions)[number]]
  log.transaction(() => {
    for (const { write, base } of versions) if (base && log.table(write.table)?.tableKey !== base.table.tableKey) throw droppedMeanwhile(write.table)
    if (joint === null) return
    const prepared = versions.map(({ write, base, version, text }, position) => {
      return { jointId: joint.id, position, table: write.table, tableKey: base?.table.tableKey ?? null, version, text }
    })
    log.joint.prepare(prepared, ownProcess(fx))
  })
  const folder = join(tablesFolder, decisive.write.table)
  // What cannot be linked is forgotten, also when it failed; but never when the file is there in spite of an error.
  const forget = () => {
    if (joint && readVersionText(folder, decisive.version, fx) !== decisive.text) log.joint.settle(joint.id)
  }
  try {
    if (linkVersion(folder, decisive.version, decisive.text, fx) === 'exists') {
      forget()
      return null
    }
  } catch (error) {
    forget()
    throw error
  }
  if (joint === null) {
    const { write, draft, version, actions, text } = decisive
    const report = committed(write, draft, version)
    return {
      record() {
        log.record(write.table, version, text, actions, ledgerEntry(report, write.options, fx))
        return new Map([[write, report]])
      },
    }
  }
  const linked = linkJoint(log, tablesFolder, joint.id, fx)
  return {
    record() {
      recordJoint(log, linked, fx)
      // Whoever has recorded it, this process or another that met it meanwhile, the log says what came of each part.
      return new Map(versions.map((part) => [part.write, reportOf(log, joint, part)]))
    },
  }
}

function tableOf({ write, base, draft }: Part): Joint['tables'][number] {
  return { name: write.table, id: base?.table.tableId ?? draft.actions.metadata?.id ?? '' }
}

function reportOf(log: SqliteLog, joint: Joint, { write, base, draft }: Part): WriteReport {
  const table = log.table(write.table)
  const version = table && log.joint.versionOf(joint.id, table.tableKey)
  if (table === null || version === null || (base && base.table.tableKey !== table.tableKey)) throw droppedMeanwhile(write.table)
  if (jointOf(log.changes(table, version))?.id === joint.id) return committed(write, draft, version)
  return { outcome: 'already-committed', version: null, rowCount: write.rowCount, leftOutRows: write.rowCount, reason: takenReason(write.table, version) }
}

/** Of all writes as one: what anything of it came to. */
function outcomeOf(reports: readonly WriteReport[]): WriteOutcome {
  if (reports.some(({ outcome }) => outcome === 'committed')) return 'committed'
  return reports.every(({ outcome }) => outcome === 'unchanged') ? 'unchanged' : 'already-committed'
}
