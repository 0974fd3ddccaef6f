/**
 * Which files of a table the next batch takes, and which ones a logged range holds: pure over a log of the table. Rules,
 * numbers and names of errors are those of Delta's streaming source (formats page §4.2 to 4.4), so that its offsets and ours
 * mean the same. Only versions from the start offset on are looked at, so that planning costs the same in an old table.
 */
import { StreamtopError } from '../errors.js'
import type { AddFile, VersionActions } from '../store/actions.js'
import { type Column, type Schema, sameType, storedName } from '../store/schema.js'
import type { TableLog } from '../store/table-log.js'
import { tableSchema } from '../store/table-schema.js'
import { liveRowCountOf } from '../store/version-text.js'
import type { TableSourceOptions } from './source-options.js'
import { inStreamOrder } from './stream-order.js'
import { BASE_INDEX, compareTableOffsets, startOfVersion, type TableOffset } from './table-offset.js'

/** What a range of a table holds. */
export interface RangeFiles {
  /** In the order in which the source numbers them. */
  readonly files: readonly AddFile[]
  /** Versions left out whole by `skipChangeCommits`, and the rows in the files they added; null when those are not known. */
  readonly skipped: ReadonlyArray<{ readonly version: number; readonly rows: number | null }>
}

/**
 * Where the next batch ends, or null when the table has nothing new.
 * @param start where the batch before ended; null for a new stream
 * @param upTo with availableNow, what `endOfAvailable` gave: nothing behind it is taken
 * @throws source-missing, table-recreated, source-truncated, and for what a version did source-changed or source-deleted, before anything is logged
 */
export function latestTableOffset(
  log: TableLog,
  table: string,
  start: TableOffset | null,
  options: TableSourceOptions,
  upTo: TableOffset | null = null,
): TableOffset | null {
  const source = openSource(log, table, start ?? upTo)
  const newest = upTo === null ? source.newest : Math.min(source.newest, upTo.version - 1)
  const budget = createBudget(options)
  let position = start ?? firstPosition(source, newest, options)
  if (position.version > newest && !position.isInitialSnapshot) return start === null && options.startingVersion === 'latest' ? position : null

  if (position.isInitialSnapshot) {
    const files = initialFiles(source, position.version)
    for (let index = position.index + 1; index < files.length; index++) {
      if (!budget.take(files[index])) return { ...position, index: index - 1 }
    }
    position = startOfVersion(source.tableId, position.version + 1)
  }
  for (let version = position.version; version <= newest; version++) {
    const actions = source.changes(version)
    // What is full stops before the next version with data, whose faults then are the next batch's.
    if (budget.isSpent() && changesData(actions)) break
    const { files } = readVersion(source, version, actions, options)
    for (let index = version === position.version ? position.index + 1 : 0; index < files.length; index++) {
      if (!budget.take(files[index])) return { ...startOfVersion(source.tableId, version), index: index - 1 }
    }
    position = startOfVersion(source.tableId, version + 1)
  }
  return start !== null && compareTableOffsets(position, start) === 0 ? null : position
}

/**
 * The files of a logged range, start < file <= end: the same at every call, however the table has grown since. Deletion
 * vectors stay on the files.
 * @param start null for batch 0, whose snapshot is the one its end tells of
 * @throws as `latestTableOffset`
 */
export function filesOfRange(log: TableLog, table: string, start: TableOffset | null, end: TableOffset, options: TableSourceOptions): RangeFiles {
  const source = openSource(log, table, end)
  if (start !== null && (compareTableOffsets(start, end) > 0 || (end.isInitialSnapshot && !start.isInitialSnapshot))) throw movedBack(table, start, end)
  const lastVersion = lastVersionOf(end)
  // With startingVersion=latest a stream begins where its first batch ends (see `firstPosition`).
  if (start === null && options.startingVersion === 'latest') return { files: [], skipped: [] }

  const files: AddFile[] = []
  const skipped: { version: number; rows: number | null }[] = []
  let position = start ?? firstPositionOf(source, end, options)
  if (position.isInitialSnapshot) {
    const initial = initialFiles(source, position.version)
    const to = end.isInitialSnapshot ? end.index : initial.length - 1
    if (end.isInitialSnapshot) checkIsThere(source, initial, end)
    for (const file of initial.slice(position.index + 1, to + 1)) files.push(file)
    if (end.isInitialSnapshot) return { files, skipped }
    position = startOfVersion(source.tableId, position.version + 1)
  }
  for (let version = position.version; version <= lastVersion; version++) {
    const actions = source.changes(version)
    const found = readVersion(source, version, actions, options)
    if (found.isSkipped) skipped.push({ version, rows: addedRows(actions) })
    const isLast = version === end.version
    if (isLast) checkIsThere(source, found.files, end)
    const from = version === position.version ? position.index + 1 : 0
    for (const file of found.files.slice(from, isLast ? end.index + 1 : undefined)) files.push(file)
  }
  return { files, skipped }
}

/** The last version that a range which ends here has something of. */
export function lastVersionOf(end: TableOffset): number {
  return end.index === BASE_INDEX && !end.isInitialSnapshot ? end.version - 1 : end.version
}

/**
 * The columns that the rows of a range are read with: the table's newest, as in Delta, with nulls where a column is newer than the rows.
 * Where they changed otherwise behind the range, those of its end: the newest would leave out values, or be wrong about them.
 */
export function schemaOfRange(atEnd: Schema, newest: Schema): Schema {
  return incompatibility(atEnd, newest) === null ? newest : atEnd
}

/** How far a run goes that takes what is there now and no more: behind the newest version. Null when there is no such table. */
export function endOfAvailable(log: TableLog, table: string): TableOffset | null {
  const newest = log.newestVersion(table)
  return newest === null ? null : startOfVersion(tableIdOf(log, table), newest + 1)
}

/** A table that is there and is the one that the offsets count. */
interface OpenSource {
  readonly log: TableLog
  readonly table: string
  readonly tableId: string
  readonly oldest: number
  readonly oldestSnapshot: number
  readonly newest: number
  /** What a version did; an error when it can no longer be read. */
  changes(version: number): VersionActions
}

function openSource(log: TableLog, table: string, offset: TableOffset | null): OpenSource {
  const newest = log.newestVersion(table)
  if (newest === null) {
    throw new StreamtopError('source-missing', `there is no table ${table} to read from`, { hint: `run the query that writes ${table} first` })
  }
  const oldest = log.oldestVersion(table) ?? newest
  const tableId = tableIdOf(log, table)
  if (offset !== null && offset.tableId !== tableId) throw recreated(table, offset.tableId, tableId)
  const source: OpenSource = {
    log,
    table,
    tableId,
    oldest,
    oldestSnapshot: log.oldestSnapshotVersion(table) ?? oldest,
    newest,
    changes(version) {
      if (version < oldest) throw versionsGone(source, version)
      return log.changes(table, version)
    },
  }
  if (offset !== null) {
    const needsVersionItself = offset.index !== BASE_INDEX || offset.isInitialSnapshot
    if (offset.version > newest + 1 || (needsVersionItself && offset.version > newest)) throw trailingCommitMissing(source, offset.version - 1)
  }
  return source
}

function tableIdOf(log: TableLog, table: string): string {
  const id = log.tableId(table)
  if (id !== null) return id
  throw new StreamtopError('table-damaged', `table ${table} has no metadata in any version that can be read`, { hint: 'restore its _delta_log from a copy' })
}

/**
 * Where a new stream stands before its first batch. With `latest` that is behind the newest version, and the first batch is
 * empty and logged at once: Delta keeps such a start in memory only, and a restart before the first commit would move it.
 */
function firstPosition(source: OpenSource, newest: number, options: TableSourceOptions): TableOffset {
  if (options.startingVersion === null) return { tableId: source.tableId, version: newest, index: BASE_INDEX, isInitialSnapshot: true }
  if (options.startingVersion === 'latest') return startOfVersion(source.tableId, newest + 1)
  return startingVersion(source, options.startingVersion)
}

/** Where batch 0 stood before it, told from its end: inside its snapshot, or behind the snapshot of the version before. */
function firstPositionOf(source: OpenSource, end: TableOffset, options: TableSourceOptions): TableOffset {
  if (typeof options.startingVersion === 'number') return startingVersion(source, options.startingVersion)
  const version = end.isInitialSnapshot ? end.version : end.version - 1
  if (version < 0) throw movedBack(source.table, null, end)
  return { tableId: source.tableId, version, index: BASE_INDEX, isInitialSnapshot: true }
}

function startingVersion(source: OpenSource, version: number): TableOffset {
  if (version >= source.oldest && version <= source.newest) return startOfVersion(source.tableId, version)
  throw new StreamtopError('usage', `startingVersion ${version} is not there: table ${source.table} has versions ${source.oldest} to ${source.newest}`, {
    hint: 'choose one of them, or latest',
    condition: 'DELTA_VERSION_NOT_FOUND',
  })
}

/** The live files of a version, in the order in which a stream that begins there numbers them. */
function initialFiles(source: OpenSource, version: number): readonly AddFile[] {
  if (version < source.oldestSnapshot) throw versionsGone(source, version)
  const snapshot = source.log.snapshot(source.table, version)
  if (snapshot === null) throw versionsGone(source, version)
  return inStreamOrder(snapshot)
}

/**
 * The files that a version gives to a stream: its adds, numbered from 0, those that only move rows about left out.
 * @throws source-changed, source-deleted, or table-recreated
 */
function readVersion(
  source: OpenSource,
  version: number,
  actions: VersionActions,
  options: TableSourceOptions,
): { readonly files: readonly AddFile[]; readonly isSkipped: boolean } {
  if (actions.metadata !== null) checkMetadata(source, version, actions)
  const adds = actions.adds.filter((file) => file.dataChange)
  if (!actions.removes.some((file) => file.dataChange)) return { files: adds, isSkipped: false }
  if (options.skipChangeCommits) return { files: [], isSkipped: true }
  if (options.ignoreChanges) return { files: adds, isSkipped: false }
  if (adds.length > 0) throw rowsChanged(source, version, actions)
  if (options.ignoreDeletes) return { files: [], isSkipped: false }
  throw rowsDeleted(source, version, actions)
}

function changesData(actions: VersionActions): boolean {
  return actions.metadata !== null || actions.adds.some((file) => file.dataChange) || actions.removes.some((file) => file.dataChange)
}

/** New columns that may be null are read on; whoever reads the rows of before as they are would be wrong about any other change. */
function checkMetadata(source: OpenSource, version: number, actions: VersionActions): void {
  if (actions.metadata === null) return
  if (actions.metadata.id !== source.tableId) throw recreated(source.table, source.tableId, actions.metadata.id)
  if (version - 1 < source.oldestSnapshot) return
  const before = source.log.snapshot(source.table, version - 1)
  const broken = before && incompatibility(before.schema, tableSchema(actions.metadata))
  if (broken === null) return
  throw new StreamtopError('source-changed', `version ${version} of table ${source.table} changed its columns: ${broken}`, {
    hint: 'the rows from here on are of another shape; run the query with a new checkpoint ("streamtop reset")',
    condition: 'DELTA_SCHEMA_CHANGED_WITH_VERSION',
  })
}

function incompatibility(before: Schema, after: Schema): string | null {
  for (const column of before.columns) {
    const now = after.columns.find(({ name }) => name === column.name)
    if (now === undefined) return `${column.name} is gone`
    if (!sameType(column.type, now.type)) return `${column.name} has another type`
    if (now.nullable && !column.nullable) return `${column.name} may now be null`
    if (storedName(now) !== storedName(column)) return `${column.name} is another column of the same name`
    if (isPartition(now) !== isPartition(column)) return `${column.name} is ${isPartition(now) ? 'a' : 'no'} partition column now`
  }
  const added = after.columns.find((column) => !column.nullable && before.columns.every(({ name }) => name !== column.name))
  return added === undefined ? null : `${added.name} is new and must not be null`
}

function isPartition({ stored }: Column): boolean {
  return stored?.isPartition ?? false
}

/** Takes files while there is room before the file, so that one is always taken and bytes may overshoot. */
function createBudget(options: TableSourceOptions): { take(file: AddFile | undefined): boolean; isSpent(): boolean } {
  let filesLeft = options.maxFilesPerTrigger ?? Number.POSITIVE_INFINITY
  let bytesLeft = options.maxBytesPerTrigger ?? Number.POSITIVE_INFINITY
  const isSpent = () => filesLeft <= 0 || bytesLeft <= 0
  return {
    isSpent,
    take(file) {
      if (isSpent()) return false
      filesLeft -= 1
      bytesLeft -= file?.size ?? 0
      return true
    },
  }
}

/** The rows in the files that a version added; null when a file does not say. */
function addedRows(actions: VersionActions): number | null {
  let rows = 0
  for (const file of actions.adds) {
    if (!file.dataChange) continue
    const count = liveRowCountOf(file)
    if (count === null) return null
    rows += count
  }
  return rows
}

function checkIsThere(source: OpenSource, files: readonly AddFile[], end: TableOffset): void {
  if (end.index < files.length) return
  const where = `version ${end.version} of table ${source.table}`
  throw new StreamtopError('source-truncated', `the batch ends at file ${end.index} of ${where}, which gives ${files.length} to a stream`, {
    hint: 'run with the options that the batch was planned with; if the table was changed by hand, restore it from a copy',
  })
}

function rowsChanged(source: OpenSource, version: number, actions: VersionActions): StreamtopError {
  return new StreamtopError(
    'source-changed',
    `version ${version} of table ${source.table} changed rows (${operation(actions)}); a stream reads tables that only grow`,
    {
      hint: '--option skipChangeCommits=true leaves such versions out, with the new rows in them; "streamtop reset" with a dropped sink reads the table as it is now',
      condition: 'DELTA_SOURCE_TABLE_IGNORE_CHANGES',
    },
  )
}

function rowsDeleted(source: OpenSource, version: number, actions: VersionActions): StreamtopError {
  return new StreamtopError(
    'source-deleted',
    `version ${version} of table ${source.table} deleted rows (${operation(actions)}); a stream reads tables that only grow`,
    {
      hint: '--option ignoreDeletes=true passes over such versions; what was copied before stays copied',
      condition: 'DELTA_SOURCE_IGNORE_DELETE',
    },
  )
}

/** What the writer called it, else a file that it removed. */
function operation(actions: VersionActions): string {
  const name = actions.commitInfo?.['operation']
  if (typeof name !== 'string') return `for example ${actions.removes.find((file) => file.dataChange)?.path ?? 'a file'} was removed`
  const parameters = actions.commitInfo?.['operationParameters']
  const predicate = typeof parameters === 'object' && parameters !== null && 'predicate' in parameters ? parameters.predicate : null
  return typeof predicate === 'string' && predicate !== '[]' ? `${name} ${predicate}` : name
}

function recreated(table: string, before: string, now: string): StreamtopError {
  return new StreamtopError(
    'table-recreated',
    `table ${table} was dropped and made again, or replaced: the checkpoint counts table ${before}, and this is table ${now}`,
    {
      hint: '"streamtop reset" makes a new checkpoint, which reads the new table from its beginning',
      condition: 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE',
    },
  )
}

function trailingCommitMissing(source: OpenSource, version: number): StreamtopError {
  return new StreamtopError(
    'source-truncated',
    `the checkpoint has read table ${source.table} up to version ${version}, and the table ends at version ${source.newest}: its newest versions are gone`,
    {
      hint: 'restore the missing files of its _delta_log; going on now would leave out what the lost version numbers get next',
      condition: 'DELTA_STREAMING_TRAILING_COMMIT_MISSING',
    },
  )
}

function versionsGone(source: OpenSource, version: number): StreamtopError {
  return new StreamtopError(
    'source-truncated',
    `version ${version} of table ${source.table} is needed and gone: the oldest that can be read is ${source.oldest}`,
    {
      hint: 'restore the missing files of its _delta_log, or "streamtop reset" with a dropped sink to read the table as it is now',
      condition: 'DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE',
    },
  )
}

function movedBack(table: string, start: TableOffset | null, end: TableOffset): StreamtopError {
  const from = start === null ? 'its beginning' : place(start)
  return new StreamtopError('checkpoint-damaged', `a batch of table ${table} goes back, from ${from} to ${place(end)}`, {
    hint: 'restore the offsets of the checkpoint from a copy, or "streamtop reset" for a new one',
  })
}

function place(offset: TableOffset): string {
  return `version ${offset.version}, file ${offset.index}${offset.isInitialSnapshot ? ' of the first snapshot' : ''}`
}
