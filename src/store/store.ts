/**
 * The tables of a workspace, for writers: one handle on `_log.db` and on the folders beside it. It knows tables and versions;
 * of batches it knows what it writes into the ledger, and nothing of loops, checkpoints or screens.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import type { AddFile, VersionActions } from './actions.js'
import { adoptVersions, checkSameTable } from './adopt.js'
import { appendWrite, createTable } from './append.js'
import type { Columns } from './columns.js'
import { type Base, type CommitContext, commitVersion, type PlannedWrite } from './commit.js'
import { commitTogether } from './commit-together.js'
import { readDataFiles, type WrittenFile } from './data-files.js'
import { isTableFolder } from './delta-log.js'
import { dropTable, finishDrops } from './drop.js'
import { checkReadable } from './features.js'
import { settleJoints } from './joint-recovery.js'
import { checkWholeLog } from './log-schema.js'
import type { Ledger } from './ledger.js'
import type { MergeSpec } from './merge-spec.js'
import { mergeWrite } from './merge-table.js'
import type { OnMoment } from './moments.js'
import { type OptimizeChoices, type OptimizeReport, optimizeTable } from './optimize.js'
import { type CountedFile, RowCounts } from './row-counts.js'
import type { Schema } from './schema.js'
import { type LoggedTable, SqliteLog } from './sqlite-log.js'
import type { Snapshot, TableLog } from './table-log.js'
import { tidyUncommitted } from './uncommitted.js'
import { type VacuumChoices, type VacuumReport, vacuumTable } from './vacuum.js'
import { logPathOf, tablesFolderOf } from './workspace-paths.js'
import type { AppendOperation, TableWrite, WriteOptions, WriteReport } from './write.js'

export class Store implements TableLog, CommitContext {
  readonly tablesFolder: string
  readonly log: SqliteLog
  readonly fx: Effects
  /** Tables whose folder was compared with the log in this life. */
  readonly #checked = new Set<string>()
  /** Rows written since the counts were last kept. */
  #toCount: CountedFile[] = []
  #counts: RowCounts | null = null

  private constructor(workspace: string, fx: Effects) {
    this.tablesFolder = tablesFolderOf(workspace)
    this.fx = fx
    fx.files.makeFolder(this.tablesFolder)
    checkWholeLog(logPathOf(workspace), fx)
    this.log = new SqliteLog(logPathOf(workspace))
  }

  /** Opens the tables of a workspace, ends drops and joint commits that were begun, and adopts what others wrote. */
  static open(workspace: string, fx: Effects): Store {
    const store = new Store(workspace, fx)
    try {
      finishDrops(store.log, store.tablesFolder, fx)
      settleJoints(store.log, store.tablesFolder, fx)
      tidyUncommitted(store.tablesFolder, fx)
      for (const name of fx.files.list(store.tablesFolder)) {
        if (!name.startsWith('.') && !name.startsWith('_') && isTableFolder(join(store.tablesFolder, name), fx)) store.#adoptIfSound(name)
      }
      return store
    } catch (error) {
      store.close()
      throw error
    }
  }

  get ledger(): Ledger {
    return this.log.ledger
  }

  close(): void {
    this.#counts?.close()
    this.log.close()
  }

  written(table: string): WrittenFile {
    return (path, columns) => {
      this.#toCount.push({ table, path, columns })
    }
  }

  /** What a commit need not wait for: the hashes by which rows are counted, and the WAL. Called between batches. */
  tidyUp(): void {
    if (this.#toCount.length > 0) {
      const files = this.#toCount
      this.#withCounts((counts) => counts.put(files))
      this.#toCount = []
    }
    this.log.checkpoint()
  }

  tableNames(): string[] {
    return this.log.tables().map((table) => table.name)
  }

  tableId(table: string): string | null {
    return this.#adopt(table)?.tableId ?? null
  }

  newestVersion(table: string): number | null {
    return this.base(table)?.version ?? null
  }

  oldestVersion(table: string): number | null {
    const known = this.#adopt(table)
    return known && this.log.oldestVersion(known.tableKey)
  }

  /** The oldest version whose snapshot can be asked for; `oldestVersion` is earlier where texts from before a table checkpoint are left. */
  oldestSnapshotVersion(table: string): number | null {
    const known = this.#adopt(table)
    return known && this.log.oldestSnapshotVersion(known.tableKey)
  }

  snapshot(table: string, version?: number): Snapshot | null {
    const known = this.#adopt(table)
    if (!known) return null
    const newest = this.log.newestVersion(known.tableKey) ?? 0
    const oldest = this.log.oldestSnapshotVersion(known.tableKey) ?? 0
    if (version !== undefined && (version < oldest || version > newest)) throw noSuchVersion(table, version, oldest, newest)
    return this.log.snapshot(known, version ?? newest)
  }

  changes(table: string, version: number): VersionActions {
    const known = this.#adopt(table)
    if (!known) throw noSuchTable(table)
    return this.log.changes(known, version)
  }

  /** The table and its shape at the newest version, after adopting what is on disk; null when there is none. */
  base(name: string): Base | null {
    const table = this.#adopt(name)
    if (!table) return null
    const version = this.log.newestVersion(table.tableKey)
    return version === null ? null : { table, version, shape: this.log.shape(table, version) }
  }

  /** The columns of a table at a version, or at the oldest that is known of; null when there is no table. */
  schemaAt(name: string, version: number): Schema | null {
    const table = this.#adopt(name)
    return table && this.log.shape(table, Math.max(version, this.log.oldestSnapshotVersion(table.tableKey) ?? 0)).schema
  }

  /** The rows of some of a table's files, with the columns of a schema. */
  async read(table: string, schema: Schema, files: readonly AddFile[]): Promise<Columns> {
    const base = this.base(table)
    if (base) checkReadable(table, base.shape.protocol, base.shape.metadata)
    return readDataFiles(join(this.tablesFolder, table), schema, files, this.fx)
  }

  /** Makes an empty table, unless there is one of that name. */
  async createTable(name: string, schema: Schema): Promise<void> {
    checkName('table', name)
    await createTable(this, name, schema)
  }

  /** Appends rows to a table, made when it is not there. */
  async append(table: string, columns: Columns, operation: AppendOperation, options: WriteOptions = {}): Promise<WriteReport> {
    return commitVersion(this, this.#planned({ kind: 'append', table, columns, operation, options }))
  }

  /** Merges rows into a table by key. */
  async merge(table: string, columns: Columns, spec: MergeSpec, options: WriteOptions = {}): Promise<WriteReport> {
    return commitVersion(this, this.#planned({ kind: 'merge', table, columns, spec, options }))
  }

  /**
   * Writes to several tables in one commit: every reader of streamtop sees all of it or nothing.
   * @param writes of different tables, at most one of them a MERGE
   * @param onMoment told of each moment once, for all of them
   * @returns what each came to, in the order of the writes
   * @throws usage, unknown-table, schema-mismatch, merge-ambiguous, conflict
   */
  async commitTogether(writes: readonly TableWrite[], onMoment?: OnMoment): Promise<WriteReport[]> {
    return commitTogether(this, (moment) => writes.map((write) => this.#planned({ ...write, options: { ...write.options, onMoment: moment } })), onMoment)
  }

  /** Drops a table; false when there is none of that name. */
  drop(name: string): boolean {
    checkName('table', name)
    this.#checked.delete(name)
    const isDropped = dropTable(this.log, this.tablesFolder, name, this.fx)
    if (isDropped) this.#withCounts((counts) => counts.forget(name))
    return isDropped
  }

  /** Puts small files of a table together; throws as `optimizeTable`. */
  async optimize(name: string, choices: OptimizeChoices = {}): Promise<OptimizeReport> {
    checkName('table', name)
    // Kept at once: a large table's rows are never in memory all together.
    return optimizeTable(this, name, choices, (path, columns) => this.#withCounts((counts) => counts.put([{ table: name, path, columns }])))
  }

  /** Removes files that the newest version of a table does not need; throws as `vacuumTable`. */
  vacuum(name: string, choices: VacuumChoices = {}): VacuumReport {
    checkName('table', name)
    const report = vacuumTable(this, name, choices)
    if (!choices.dryRun) this.#withCounts((counts) => counts.forgetMissing(name, (path) => this.fx.files.exists(join(this.tablesFolder, name, path))))
    return report
  }

  #planned(write: TableWrite): PlannedWrite {
    const { table, columns, options = {} } = write
    checkName('table', table)
    if (write.kind === 'merge') return mergeWrite(this, table, columns, write.spec, options)
    return appendWrite(this, table, columns, write.operation, options)
  }

  #withCounts(use: (counts: RowCounts) => void): void {
    try {
      this.#counts ??= RowCounts.open(this.tablesFolder, this.fx)
      use(this.#counts)
    } catch {
      // Only a cache, and a damaged one: it begins anew, and what it lacks is read from the files.
      this.#counts?.close()
      this.#counts = null
      RowCounts.remove(this.tablesFolder, this.fx)
    }
  }

  #adopt(name: string): LoggedTable | null {
    const table = adoptVersions(this.log, this.tablesFolder, name, this.fx)
    if (table && !this.#checked.has(name)) {
      checkSameTable(this.log, this.tablesFolder, table, this.fx)
      this.#checked.add(name)
    }
    return table
  }

  /** At the start a damaged table is left for whoever uses it to hear of; the others must not suffer. */
  #adoptIfSound(name: string): void {
    try {
      adoptVersions(this.log, this.tablesFolder, name, this.fx)
    } catch (error) {
      if (!(error instanceof StreamtopError)) throw error
    }
  }
}

/** The error for a table that is not there. */
export function noSuchTable(table: string): StreamtopError {
  return new StreamtopError('unknown-table', `there is no table ${table} in this workspace`, {
    hint: 'run "streamtop status" to see the tables that are there',
    condition: 'DELTA_TABLE_NOT_FOUND',
  })
}

/** The error for a version that a table does not have. */
export function noSuchVersion(table: string, version: number, oldest: number, newest: number): StreamtopError {
  return new StreamtopError('unknown-table', `table ${table} has no version ${version}; it has ${oldest} to ${newest}`, {
    hint: `run "streamtop history ${table}" to see them`,
    condition: 'DELTA_VERSION_NOT_FOUND',
  })
}
