/**
 * Vacuum: removes data files of a table that no reader of its newest version needs. What it may not remove is settled in one order,
 * so that it may run beside writers of streamtop: the folder is listed; then it is asked whose writer is alive; then the log is read.
 * A file whose writer was dead when it was asked is in the log by then, or will never be. Writers of other engines are only safe
 * behind the retention, as with Delta's own VACUUM. The table gets no version by it.
 */
import { basename, dirname, join, relative } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { CommitContext } from './commit.js'
import { filesOfLivingWriters } from './data-file-name.js'
import { vectorFileOf } from './deletion-vector.js'
import { checkVacuumable } from './features.js'
import { FILE_IS_GONE, filePathOf, localPathOf } from './file-path.js'
import { durationText, retentionOf } from './retention.js'
import type { LoggedTable, SqliteLog } from './sqlite-log.js'
import { noSuchTable } from './store.js'
import { type ListedFile, listDataFiles } from './vacuum-listing.js'
import { type KnownFiles, planVacuum, type RemovedFile, type VacuumedFile } from './vacuum-plan.js'
import { parseVersion } from './version-text.js'

export interface VacuumChoices {
  /** Keeps what was removed, or orphaned, less long ago than this; the table's retention unless given. */
  readonly olderThanMs?: number | undefined
  /** Allows less than the table's retention. */
  readonly force?: boolean | undefined
  /** Only tells what it would remove. */
  readonly dryRun?: boolean | undefined
}

export interface VacuumReport {
  readonly table: string
  /** The version whose files stayed. */
  readonly version: number
  readonly olderThanMs: number
  readonly files: readonly VacuumedFile[]
  readonly bytes: number
  /** Files that no version names and that stayed, because their writer is at work. */
  readonly unfinished: number
  /** The oldest version that has lost none of these files; null when no version has. */
  readonly wholeFrom: number | null
}

/** @throws unknown-table, unsupported-feature, retention-too-short, bad-value, table-damaged */
export function vacuumTable(context: CommitContext, name: string, choices: VacuumChoices): VacuumReport {
  const { log, tablesFolder, fx } = context
  const folder = join(tablesFolder, name)
  const before = context.base(name)
  if (before === null) throw noSuchTable(name)
  const { metadata, protocol } = before.shape
  checkVacuumable(name, protocol, metadata)
  const olderThanMs = durationFor(name, retentionOf(name, metadata), choices)
  const keepAfterMs = fx.nowMs() - olderThanMs

  const listed = listDataFiles(folder, metadata.partitionColumns, fx)
  const ofLiving = filesOfLivingWriters(
    listed.map(({ path }) => path),
    fx,
  )
  // A joint commit is recorded and forgotten at once, so what is prepared is read before what is live.
  const prepared = preparedPaths(log, name)
  const base = context.base(name)
  if (base === null || base.table.tableKey !== before.table.tableKey) throw noSuchTable(name)
  const known = knownFiles(context, base.table, prepared, ofLiving, listed)

  const files = planVacuum(listed, known, keepAfterMs)
  if (!choices.dryRun) for (const { path } of files) removeWithChecksum(join(folder, path), fx)
  const lostBy = files.flatMap(({ path }) => known.removed.get(path)?.version ?? [])
  return {
    table: name,
    version: base.version,
    olderThanMs,
    files,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    unfinished: known.unfinished.size,
    wholeFrom: lostBy.length === 0 ? null : lostBy.reduce((newest, version) => Math.max(newest, version)),
  }
}

function durationFor(name: string, retentionMs: number, { olderThanMs = retentionMs, force = false }: VacuumChoices): number {
  if (force || olderThanMs >= retentionMs) return olderThanMs
  throw new StreamtopError(
    'retention-too-short',
    `table ${name} keeps removed files for ${durationText(retentionMs)}, and ${durationText(olderThanMs)} is less`,
    {
      hint: 'older versions cannot be shown any more, a stream that is behind stops, and what Spark is writing at this moment may be lost; --force does it all the same',
      condition: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
    },
  )
}

/** Paths that versions of joint commits name which are prepared and not recorded, as in `AddFile`. */
function preparedPaths(log: SqliteLog, name: string): string[] {
  const writes = log.joint.unsettled().flatMap(({ jointId }) => log.joint.writes(jointId))
  return writes
    .filter(({ table }) => table === name)
    .flatMap(({ text }) => parseVersion(text, `what was prepared for table ${name}`).adds.map(({ path }) => path))
}

/** @throws table-damaged when a live file is not there */
function knownFiles(
  { log, tablesFolder, fx }: CommitContext,
  table: LoggedTable,
  prepared: readonly string[],
  ofLiving: readonly string[],
  listed: readonly ListedFile[],
): KnownFiles {
  const folder = join(tablesFolder, table.name)
  const isThere = new Set(listed.map(({ path }) => path))
  const live = new Set<string>()
  const elsewhere: string[] = []
  const keep = (path: string) => {
    const below = pathBelow(folder, path)
    if (below === null) elsewhere.push(path)
    else live.add(below)
  }
  for (const path of [...prepared, ...log.files.wholePathsOfOthers(table.tableKey)]) keep(path)
  const removed = new Map<string, RemovedFile>()
  const timeOf = removalTimes(log, table)
  for (const { path, deletionVector, removedVersion } of log.files.named(table.tableKey)) {
    const vectorFile = deletionVector && vectorFileOf(folder, deletionVector)
    const vectorPath = vectorFile === null ? null : relative(folder, vectorFile)
    if (removedVersion === null) {
      keep(path)
      if (vectorPath !== null) live.add(vectorPath)
      continue
    }
    for (const below of [pathBelow(folder, path), vectorPath]) {
      // A file that was added again with another deletion vector was removed when it was last removed.
      if (below !== null && isThere.has(below) && removedVersion >= (removed.get(below)?.version ?? 0))
        removed.set(below, { version: removedVersion, removedMs: timeOf(path, removedVersion) })
    }
  }
  const unfinished = new Set(ofLiving.filter((path) => !live.has(path) && !removed.has(path)))
  return { live, liveFileIds: fileIdsOf(table.name, folder, { live, elsewhere, prepared }, fx), removed, unfinished }
}

/** When a version removed a file: what it says of that, and not before the versions before it. */
function removalTimes(log: SqliteLog, table: LoggedTable): (path: string, version: number) => number | null {
  const byVersion = new Map<number, { readonly latestMs: number | null; readonly saidMs: ReadonlyMap<string, number | null> }>()
  return (path, version) => {
    let times = byVersion.get(version)
    if (times === undefined) {
      const text = log.versionText(table.tableKey, version)
      const removes = text === null ? [] : parseVersion(text, `version ${version} of table ${table.name}`).removes
      times = { latestMs: log.files.latestTimeMs(table.tableKey, version), saidMs: new Map(removes.map((remove) => [remove.path, remove.deletedMs])) }
      byVersion.set(version, times)
    }
    const said = times.saidMs.get(path) ?? null
    return said === null ? times.latestMs : Math.max(said, times.latestMs ?? said)
  }
}

/** Where a path of the log lies below the table's folder; null for a file that lies elsewhere. */
function pathBelow(folder: string, path: string): string | null {
  try {
    const below = relative(folder, filePathOf(folder, path))
    return below.startsWith('..') ? null : below
  } catch (error) {
    // In another store.
    if (error instanceof StreamtopError) return null
    throw error
  }
}

/**
 * Which files those are that stay, by whatever name. Where a live one is not found under its own, names are not understood, and no other
 * can be called an orphan.
 */
function fileIdsOf(
  name: string,
  folder: string,
  { live, elsewhere, prepared }: { readonly live: ReadonlySet<string>; readonly elsewhere: readonly string[]; readonly prepared: readonly string[] },
  fx: Effects,
): Set<string> {
  const fileIds = new Set<string>()
  for (const path of live) {
    const found = fx.files.status(join(folder, path))
    if (found !== null) fileIds.add(found.fileId)
    else if (!prepared.includes(path)) throw liveFileIsGone(name, join(folder, path))
  }
  for (const path of elsewhere) {
    const local = localPathOf(folder, path)
    const found = local === null ? null : fx.files.status(local)
    if (found !== null) fileIds.add(found.fileId)
  }
  return fileIds
}

function liveFileIsGone(name: string, path: string): StreamtopError {
  return new StreamtopError('table-damaged', `${path} is gone although the newest version of table ${name} names it: nothing was removed`, {
    hint: 'restore the file from a copy, or drop the table',
    condition: FILE_IS_GONE,
  })
}

/** With the checksum that Hadoop puts beside a file. */
function removeWithChecksum(path: string, fx: Effects): void {
  fx.files.remove(path)
  fx.files.remove(join(dirname(path), `.${basename(path)}.crc`))
}
