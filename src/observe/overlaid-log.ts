/**
 * The tables of a workspace for a reader: the SQLite log where there is one, the versions that it lacks laid over it in memory, and
 * tables that it does not know replayed from their `_delta_log`. It shows what a writer would see after adoption, and writes
 * nothing. A table that cannot be read is named with its error; the others do not suffer. Good for one look: it does not follow
 * what happens later.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { knownError, StreamtopError } from '../errors.js'
import type { AddFile, VersionActions } from '../store/actions.js'
import { checkSameTable } from '../store/adopt.js'
import { checkNoLink, isTableFolder, readVersionText, versionPath } from '../store/delta-log.js'
import { JointView } from '../store/joint-view.js'
import { changesShape, fileKey, firstVersionIsIncomplete } from '../store/replay.js'
import { type LoggedTable, type LoggedVersion, SqliteLog } from '../store/sqlite-log.js'
import { findLogStart, snapshotOfBase, type TableBase } from '../store/table-checkpoint.js'
import type { Snapshot, TableLog } from '../store/table-log.js'
import { tableSchema } from '../store/table-schema.js'
import { parseVersion } from '../store/version-text.js'
import { logPathOf, tablesFolderOf } from '../store/workspace-paths.js'
import { isRewrite, LogMemory, type OverlaidVersion, type TableMemory, type TableReader } from './table-memory.js'

export type { OverlaidVersion } from './table-memory.js'

interface OverlaidTable {
  readonly name: string
  readonly logged: LoggedTable | null
  /** The newest version of the SQLite log, -1 when it has none. */
  readonly loggedVersion: number
  readonly oldest: number
  /** The oldest version whose snapshot can be asked for: later than `oldest` where a log begins with a table checkpoint. */
  readonly oldestSnapshot: number
  /** The state of that table checkpoint, when it is not in the SQLite log. */
  readonly base: TableBase | null
  /** Versions behind that one, ascending, without a gap. */
  readonly overlay: readonly OverlaidVersion[]
  readonly memory: TableMemory
  readonly reader: TableReader
}

export class OverlaidLog implements TableLog {
  readonly tablesFolder: string
  /** Null when there is none, or when it cannot be read: then `damage` says why. */
  readonly sqlite: SqliteLog | null
  readonly damage: StreamtopError | null
  readonly #fx: Effects
  readonly #memory: LogMemory
  readonly #joint: JointView
  readonly #tables = new Map<string, OverlaidTable | StreamtopError | null>()

  private constructor(workspace: string, memory: LogMemory, fx: Effects) {
    this.tablesFolder = tablesFolderOf(workspace)
    this.#fx = fx
    this.#memory = memory
    let sqlite: SqliteLog | null = null
    let damage: StreamtopError | null = null
    try {
      sqlite = SqliteLog.openToRead(logPathOf(workspace), fx)
    } catch (error) {
      damage = asDamage(error, logPathOf(workspace))
    }
    this.sqlite = sqlite
    this.damage = damage
    this.#joint = new JointView(sqlite, this.tablesFolder, () => SqliteLog.openToRead(logPathOf(workspace), fx), fx)
  }

  /** @param memory of earlier looks at the same workspace, kept up by this one */
  static open(workspace: string, fx: Effects, memory = new LogMemory()): OverlaidLog {
    return new OverlaidLog(workspace, memory, fx)
  }

  close(): void {
    this.sqlite?.close()
  }

  /** Those that cannot be read too. */
  tableNames(): string[] {
    const names = new Set(this.sqlite?.tables().map((table) => table.name) ?? [])
    for (const name of this.#fx.files.list(this.tablesFolder)) {
      if (!name.startsWith('.') && !name.startsWith('_') && isTableFolder(join(this.tablesFolder, name), this.#fx)) names.add(name)
    }
    return [...names].filter((name) => this.#find(name) !== null).sort()
  }

  /** Why a table cannot be read; null when it can, or is not there. */
  errorOf(name: string): StreamtopError | null {
    const found = this.#find(name)
    return found instanceof StreamtopError ? found : null
  }

  tableId(name: string): string | null {
    return this.#table(name) ? (this.snapshot(name)?.tableId ?? null) : null
  }

  newestVersion(name: string): number | null {
    const table = this.#table(name)
    return table && newestOf(table)
  }

  oldestVersion(name: string): number | null {
    return this.#table(name)?.oldest ?? null
  }

  /** The oldest version whose snapshot can be asked for; `oldestVersion` is earlier where texts from before a table checkpoint are left. */
  oldestSnapshotVersion(name: string): number | null {
    return this.#table(name)?.oldestSnapshot ?? null
  }

  snapshot(name: string, version?: number): Snapshot | null {
    const table = this.#table(name)
    if (table === null) return null
    const at = version ?? newestOf(table)
    if (at < table.oldestSnapshot || at > newestOf(table)) {
      throw new StreamtopError('unknown-table', `table ${name} has no version ${at}; it has ${table.oldestSnapshot} to ${newestOf(table)}`, {
        hint: `run "streamtop history ${name}" to see them`,
        condition: 'DELTA_VERSION_NOT_FOUND',
      })
    }
    return table.memory.snapshot(at, table.reader)
  }

  changes(name: string, version: number): VersionActions {
    const table = this.#table(name)
    if (table === null) throw new StreamtopError('table-damaged', `table ${name} has no version ${version}`)
    return table.memory.changes(version, table.reader)
  }

  /** Versions with their texts, newest first. */
  history(name: string, newestCount: number): LoggedVersion[] {
    const table = this.#table(name)
    if (table === null) return []
    const overlaid = table.overlay.slice(-newestCount).reverse().map(loggedVersionOf)
    const rest = newestCount - overlaid.length
    return rest > 0 && table.logged && this.sqlite ? [...overlaid, ...this.sqlite.versions(table.logged.tableKey, rest)] : overlaid
  }

  /** The version that set the newest txn of an app id; null when there is none, or its text is not there any more. */
  versionOfNewestTxn(name: string, appId: string): number | null {
    const table = this.#table(name)
    const overlaid = table?.overlay.findLast(({ actions }) => actions.txns.some((txn) => txn.appId === appId))
    if (overlaid) return overlaid.version
    const logged = table?.logged && this.sqlite ? this.sqlite.newestTxn(table.logged, appId) : null
    return logged && table && logged.atVersion >= table.oldest ? logged.atVersion : null
  }

  /** Versions whose files are there and that the SQLite log lacks, ascending. */
  overlaid(name: string): readonly OverlaidVersion[] {
    return this.#table(name)?.overlay ?? []
  }

  /** Every path that a version has named. */
  everyPath(name: string): ReadonlySet<string> {
    const table = this.#table(name)
    return table ? table.memory.paths(table.reader) : new Set()
  }

  /** Whether all versions have the same columns. */
  hasOneSchema(name: string): boolean {
    const table = this.#table(name)
    return table ? table.memory.hasOneSchema(table.reader) : true
  }

  /** Files whose rows a version up to this one took out, or wrote again in other files. */
  removedFiles(name: string, version: number): readonly AddFile[] {
    const table = this.#table(name)
    if (table === null) return []
    return version === newestOf(table) ? table.memory.removedFiles(table.reader) : table.reader.removedFiles(version)
  }

  /** Versions that wrote rows of the table again and changed none, ascending. */
  rewrites(name: string): readonly number[] {
    const table = this.#table(name)
    return table ? table.memory.rewrites(table.reader) : []
  }

  #table(name: string): OverlaidTable | null {
    const found = this.#find(name)
    if (found instanceof StreamtopError) throw found
    return found
  }

  #find(name: string): OverlaidTable | StreamtopError | null {
    let found = this.#tables.get(name)
    if (found === undefined) {
      try {
        found = this.#load(name)
      } catch (error) {
        found = asDamage(error, join(this.tablesFolder, name))
      }
      this.#tables.set(name, found)
    }
    return found
  }

  #load(name: string): OverlaidTable | null {
    const folder = join(this.tablesFolder, name)
    checkNoLink(folder, this.#fx)
    const logged = this.sqlite?.table(name) ?? null
    let oldest: number | undefined
    let oldestSnapshot: number | undefined
    let base: TableBase | null = null
    let loggedVersion = -1
    if (logged && this.sqlite) {
      checkSameTable(this.sqlite, this.tablesFolder, logged, this.#fx)
      loggedVersion = this.sqlite.newestVersion(logged.tableKey) ?? -1
      oldest = this.sqlite.oldestVersion(logged.tableKey) ?? undefined
      oldestSnapshot = this.sqlite.oldestSnapshotVersion(logged.tableKey) ?? undefined
    } else {
      if (!isTableFolder(folder, this.#fx)) return null
      const start = findLogStart(folder, this.#fx)
      base = start?.base ?? null
      oldest = start?.versions[0] ?? (this.#joint.makes(name) ? 0 : undefined)
    }
    if (oldest === undefined) return null
    if (base && this.sqlite?.isDroppedId(base.state.metadata.id)) return null
    const first = logged ? loggedVersion + 1 : oldest
    const onDisk: OverlaidVersion[] = [...this.#memory.overlay(name, first, (version) => readVersionText(folder, version, this.#fx))]
    for (let version = first + onDisk.length; ; version++) {
      const text = readVersionText(folder, version, this.#fx)
      if (text === null) break
      onDisk.push({ version, text, actions: parseVersion(text, versionPath(folder, version)) })
    }
    this.#memory.keepOverlay(name, onDisk)
    // A commit over several tables is there with all of them or not at all.
    const overlay = this.#joint.overlay({ name, tableKey: logged?.tableKey ?? null }, first - 1, onDisk)
    if (!logged && !base && overlay.length === 0) return null
    const [start] = overlay
    if (!logged && !base && start?.version === oldest) {
      if (!start.actions.metadata || !start.actions.protocol) throw firstVersionIsIncomplete(name, oldest)
      if (this.sqlite?.isDroppedId(start.actions.metadata.id)) return null
    }
    const table = { name, logged, loggedVersion, oldest, oldestSnapshot: oldestSnapshot ?? base?.version ?? oldest, base, overlay }
    const textOf = (version: number) =>
      overlay.find((one) => one.version === version)?.text ?? (logged && this.sqlite ? this.sqlite.versionText(logged.tableKey, version) : null)
    const identity = JSON.stringify([logged, oldest, table.oldestSnapshot, overlay[0]?.version === oldest ? overlay[0].text : null])
    return { ...table, memory: this.#memory.table(name, identity, newestOf(table), textOf), reader: readerOf(table, this.sqlite) }
  }
}

type LoadedTable = Omit<OverlaidTable, 'memory' | 'reader'>

/** A table as the log and the versions laid over it have it. */
function readerOf(table: LoadedTable, sqlite: SqliteLog | null): TableReader {
  const { name, logged, overlay, base } = table
  const reader: TableReader = {
    changes(version) {
      const overlaid = overlay.find((one) => one.version === version)
      if (overlaid) return overlaid.actions
      if (logged && sqlite) return sqlite.changes(logged, version)
      throw new StreamtopError('table-damaged', `table ${name} has no version ${version}`)
    },
    snapshot(version) {
      const checkpointed = base && snapshotOfBase(name, base)
      const logBase = logged && table.loggedVersion >= 0 && sqlite ? sqlite.snapshot(logged, Math.min(version, table.loggedVersion)) : checkpointed
      return replay(logBase, table, version)
    },
    *paths() {
      if (logged && sqlite) yield* sqlite.everyPath(logged.tableKey)
      for (const { path } of [...(base?.state.adds ?? []), ...(base?.state.removes ?? [])]) yield path
      for (const { actions } of overlay) for (const { path } of [...actions.adds, ...actions.removes]) yield path
    },
    hasOneSchema() {
      if (logged && sqlite && !sqlite.hasOneSchema(logged.tableKey)) return false
      if (!overlay.some(({ actions }) => actions.metadata)) return true
      const newest = reader.snapshot(newestOf(table)).metadata.schemaString
      const first = reader.snapshot(table.oldestSnapshot).metadata.schemaString
      return first === newest && overlay.every(({ actions }) => !actions.metadata || actions.metadata.schemaString === newest)
    },
    removedFiles(version) {
      const removed: AddFile[] = []
      if (logged && sqlite) {
        for (const { file, removedVersion } of sqlite.removedFiles(logged, Math.min(version, table.loggedVersion))) {
          // Without a remove it was added again, and is there.
          const remove = reader.changes(removedVersion).removes.find((one) => fileKey(one) === fileKey(file))
          if (remove?.dataChange) removed.push(file)
        }
      }
      const laid = overlay.filter(({ version: at }) => at <= version && at > table.oldestSnapshot)
      if (!laid.some(({ actions }) => actions.removes.some(({ dataChange }) => dataChange))) return removed
      // In one pass: another writer's table may have thousands of such versions.
      const live = new Map(reader.snapshot((laid[0]?.version ?? 0) - 1).files.map((file) => [fileKey(file), file]))
      for (const { actions } of laid) {
        for (const remove of actions.removes) {
          const file = live.get(fileKey(remove))
          if (file && remove.dataChange) removed.push(file)
          live.delete(fileKey(remove))
        }
        for (const file of actions.adds) live.set(fileKey(file), file)
      }
      return removed
    },
    rewrites() {
      const removing = logged && sqlite ? sqlite.files.removingVersions(logged.tableKey).filter((version) => version > table.oldestSnapshot) : []
      const inLog = removing.filter((version) => isRewrite(reader.changes(version)))
      return [...inLog, ...overlay.flatMap(({ version, actions }) => (isRewrite(actions) ? [version] : []))]
    },
  }
  return reader
}

function newestOf(table: LoadedTable): number {
  return table.overlay.at(-1)?.version ?? table.loggedVersion
}

/** As `applyVersion` for each version after the base, in one pass: what a table without a SQLite log needs. */
function replay(base: Snapshot | null, table: LoadedTable, to: number): Snapshot {
  const versions = table.overlay.filter(({ version }) => version <= to && version > (base?.version ?? -1))
  if (versions.length === 0 && base) return base
  const files = new Map((base?.files ?? []).map((file) => [fileKey(file), file]))
  const txns = new Map(base?.txns)
  let { metadata, protocol } = base ?? { metadata: null, protocol: null }
  for (const { actions } of versions) {
    if (changesShape(actions)) {
      metadata = actions.metadata ?? metadata
      protocol = actions.protocol ?? protocol
    }
    for (const remove of actions.removes) files.delete(fileKey(remove))
    for (const add of actions.adds) {
      files.delete(fileKey(add))
      files.set(fileKey(add), add)
    }
    for (const txn of actions.txns) txns.set(txn.appId, txn)
  }
  if (!metadata || !protocol) throw firstVersionIsIncomplete(table.name, to)
  const schema = base?.metadata === metadata ? base.schema : tableSchema(metadata)
  return { table: table.name, tableId: metadata.id, version: to, protocol, metadata, schema, files: [...files.values()], txns }
}

function loggedVersionOf({ version, text, actions }: OverlaidVersion): LoggedVersion {
  const { timestamp, operation } = actions.commitInfo ?? {}
  return {
    version,
    timestampMs: typeof timestamp === 'number' ? timestamp : null,
    operation: typeof operation === 'string' ? operation : null,
    text,
  }
}

function asDamage(error: unknown, path: string): StreamtopError {
  const known = knownError(error)
  if (known !== null) return known
  return new StreamtopError('table-damaged', `${path} cannot be read: ${(error as Error)?.message ?? String(error)}`, { cause: error })
}
