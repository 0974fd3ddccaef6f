/**
 * The SQLite log of every table: what streamtop's readers read, and where a commit ends. Recording a version is one
 * transaction with the ledger row it fills, so both are there or neither is. No method waits for anything.
 */
import type { Database, Statement } from '../database.js'
import { checkpointWhenGrown, synced } from '../database.js'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { AddFile, Metadata, Protocol, RemoveFile, Txn, VersionActions } from './actions.js'
import { FileHistory } from './file-history.js'
import { Ledger, type WriteResult } from './ledger.js'
import { LedgerEvidence } from './ledger-evidence.js'
import { JointLog } from './joint-log.js'
import { jointOf } from './joint-version.js'
import { openLogDatabase, openLogToRead } from './log-schema.js'
import { type LogStatements, logStatements } from './log-statements.js'
import { type FileRow, toAddFile, toFileRow } from './logged-file.js'
import { type LoggedTxn, toTxn, txnChecksum, type TxnRow } from './logged-txn.js'
import { firstVersionIsIncomplete } from './replay.js'
import { damagedRow, rowChecksum } from './row-checksum.js'
import { Runs } from './runs.js'
import type { Schema } from './schema.js'
import type { TableBase } from './table-checkpoint.js'
import type { Snapshot } from './table-log.js'
import { tableSchema } from './table-schema.js'
import { deletionVectorId, parseVersion } from './version-text.js'

/** A table as the log knows it. */
export interface LoggedTable {
  readonly tableKey: number
  readonly name: string
  /** That of its newest metadata: Delta's CREATE OR REPLACE gives a table a new one, and its log goes on. */
  readonly tableId: string
}

/** Metadata and protocol in force at a version. */
export interface Shape {
  readonly metadata: Metadata
  readonly protocol: Protocol
  readonly schema: Schema
}

/** A version to be recorded, with what it means for the ledger. */
export interface VersionToRecord {
  readonly version: number
  readonly text: string
  readonly actions: VersionActions
  readonly written: WriteResult | null
}

/** One line of a table's history. */
export interface LoggedVersion {
  readonly version: number
  readonly timestampMs: number | null
  readonly operation: string | null
  readonly text: string
}

export class SqliteLog {
  readonly ledger: Ledger
  readonly evidence: LedgerEvidence
  readonly runs: Runs
  readonly joint: JointLog
  readonly #database: Database
  #files: FileHistory | null = null
  readonly #statements: LogStatements
  /** Metadata is parsed once for each version that sets it. */
  readonly #shapes = new Map<string, Shape>()

  /** @param log the path of the log, made when it is not there; or one that is open */
  constructor(log: string | Database) {
    this.#database = typeof log === 'string' ? openLogDatabase(log) : log
    this.#statements = logStatements(this.#database)
    this.ledger = new Ledger(this.#database)
    this.evidence = new LedgerEvidence(this.#database)
    this.runs = new Runs(this.#database)
    this.joint = new JointLog(this.#database)
  }

  /**
   * The log for a reader, as it is at this moment, to be closed soon; the reader leaves no trace where it lies. Null when there is none yet.
   * @throws table-damaged when the file is not a log of streamtop's
   */
  static openToRead(path: string, fx: Effects): SqliteLog | null {
    const database = openLogToRead(path, fx)
    if (database === null) return null
    // One read transaction to the end: tables and ledger are seen at one moment.
    database.exec('BEGIN')
    return new SqliteLog(database)
  }

  close(): void {
    this.joint.close()
    this.#database.close()
  }

  /** Made on first use: a query's commits need none of it. */
  get files(): FileHistory {
    this.#files ??= new FileHistory(this.#database)
    return this.#files
  }

  /** Runs a function in one transaction that takes the write lock first. */
  transaction<T>(body: () => T): T {
    return synced(this.#database, () => this.#database.transaction(body).immediate())
  }

  /** Moves a grown WAL into the database; never inside a commit. */
  checkpoint(): void {
    checkpointWhenGrown(this.#database)
  }

  tables(): LoggedTable[] {
    return this.#statements.liveTables.all() as LoggedTable[]
  }

  table(name: string): LoggedTable | null {
    return (this.#statements.liveTable.get(name) as LoggedTable | undefined) ?? null
  }

  newestVersion(tableKey: number): number | null {
    return this.#statements.newestVersion.get(tableKey) as number | null
  }

  oldestVersion(tableKey: number): number | null {
    return this.#statements.oldestVersion.get(tableKey) as number | null
  }

  /** The oldest version whose snapshot can be asked for; the texts may begin before it. */
  oldestSnapshotVersion(tableKey: number): number | null {
    return this.#statements.oldestShape.get(tableKey) as number | null
  }

  versionText(tableKey: number, version: number): string | null {
    return (this.#statements.versionText.get(tableKey, version) as string | undefined) ?? null
  }

  /** Newest first. */
  versions(tableKey: number, newestCount: number): LoggedVersion[] {
    return this.#statements.versions.all(tableKey, newestCount) as LoggedVersion[]
  }

  /** What one version did, from its text. */
  changes(table: LoggedTable, version: number): VersionActions {
    const text = this.versionText(table.tableKey, version)
    if (text === null) throw new StreamtopError('table-damaged', `table ${table.name} has no version ${version} in its log`)
    return parseVersion(text, `version ${version} of table ${table.name}`)
  }

  /** The shape in force at a version, without the files: all that an append needs. */
  shape(table: LoggedTable, version: number): Shape {
    const { at: metadataAt, text: metadata } = this.#shapePart(this.#statements.metadata, table, version)
    const { at: protocolAt, text: protocol } = this.#shapePart(this.#statements.protocol, table, version)
    const key = `${table.tableKey} ${metadataAt} ${protocolAt}`
    const known = this.#shapes.get(key)
    if (known) return known
    const parsed = JSON.parse(metadata) as Metadata
    const shape = { metadata: parsed, protocol: JSON.parse(protocol) as Protocol, schema: tableSchema(parsed) }
    this.#shapes.set(key, shape)
    return shape
  }

  /** @throws table-damaged when another number of files is live than the version says, or a row is not what was recorded */
  snapshot(table: LoggedTable, version: number): Snapshot {
    const shape = this.shape(table, version)
    const files = this.#statements.filesAt.all({ tableKey: table.tableKey, version }) as FileRow[]
    const liveFiles = this.#statements.liveFiles.get(table.tableKey, version) as number | null | undefined
    if (typeof liveFiles === 'number' && liveFiles !== files.length) throw damagedRow(table.name, `the live files at version ${version}`)
    const txns = this.#statements.txnsAt.all({ tableKey: table.tableKey, version }) as TxnRow[]
    return {
      table: table.name,
      tableId: shape.metadata.id,
      version,
      ...shape,
      files: files.map((row) => toAddFile(table.name, row)),
      txns: new Map(txns.map((row) => [row.appId, toTxn(table.name, row)])),
    }
  }

  /**
   * The newest txn of an app id, with the version that set it; null when there is none.
   * @throws table-damaged when its row is not what was recorded
   */
  newestTxn({ tableKey, name }: LoggedTable, appId: string): LoggedTxn | null {
    const row = this.#statements.newestTxn.get(tableKey, appId) as TxnRow | undefined
    return row ? toTxn(name, row) : null
  }

  /** The version whose commit set an app id to this number, or null: who wrote that batch. */
  versionOfTxn(tableKey: number, appId: string, txnVersion: number): number | null {
    return (this.#statements.versionOfTxn.get(tableKey, appId, txnVersion) as number | undefined) ?? null
  }

  /**
   * Records a version, and what it means for the ledger, in one transaction. A version that is there already with the same
   * text has been recorded by whoever adopted it, and is left alone.
   * @throws table-damaged when another text is there already
   */
  record(name: string, version: number, text: string, actions: VersionActions, written: WriteResult | null): LoggedTable {
    return this.transaction(() => this.#record(name, { version, text, actions, written }))
  }

  /** Records versions of several tables as `record` does, and what goes with them, all in one transaction. */
  recordTogether(versions: readonly (VersionToRecord & { readonly name: string })[], andThen: () => void): void {
    this.transaction(() => {
      for (const version of versions) this.#record(version.name, version)
      andThen()
    })
  }

  /** Every path that some version added, whether it is live or not. */
  everyPath(tableKey: number): string[] {
    return this.#statements.everyPath.all(tableKey) as string[]
  }

  /** Files that versions up to this one removed, with the version that did. */
  removedFiles(table: LoggedTable, version: number): { readonly file: AddFile; readonly removedVersion: number }[] {
    const rows = this.#statements.removedFiles.all(table.tableKey, version) as (FileRow & { readonly removedVersion: number })[]
    return rows.map((row) => ({ file: toAddFile(table.name, row), removedVersion: row.removedVersion }))
  }

  /** Whether every version has the same columns: then what is kept of one file's rows can be compared with another's. */
  hasOneSchema(tableKey: number): boolean {
    const texts = this.#statements.metadataTexts.all(tableKey) as string[]
    return new Set(texts.map((text) => (JSON.parse(text) as Metadata).schemaString)).size <= 1
  }

  /**
   * Records how a table's log begins whose first versions were cleaned up, in one transaction: the texts of the first versions that are
   * there, and the table's state at its base. A table of that name that is there already was recorded by another process, and is left alone.
   * @param versions ascending, from the oldest one on; those behind the base are recorded as `record` would
   */
  recordStart(name: string, base: TableBase, versions: readonly VersionToRecord[]): LoggedTable {
    return this.transaction(() => {
      const there = this.table(name)
      if (there) return there
      const { version: at, state } = base
      let table = this.#addTable(name, at, state)
      const { tableKey } = table
      const newest = new Map<string, number>()
      for (const { version, text, actions } of versions) {
        if (version > at) continue
        this.#insertText(table, version, text, actions, version === at ? state.adds.length : null)
        for (const txn of actions.txns) newest.set(txn.appId, txn.version)
      }
      this.#insertShape(tableKey, at, state)
      for (const [position, add] of state.adds.entries()) this.#insertFile(tableKey, at, position, add)
      for (const remove of state.removes) this.#insertRemoved(tableKey, at, remove)
      // A txn that no text here has was set before them: it is found, but nobody is said to have written it.
      const before = (versions[0]?.version ?? at) - 1
      for (const txn of state.txns) if (newest.get(txn.appId) !== txn.version) this.#insertTxn(tableKey, before, txn)
      for (const { version, text, actions, written } of versions) {
        // Behind the base, whose files it may take out.
        if (version > at) table = this.#insertVersion(table, version, text, actions)
        if (written) this.ledger.fill({ ...written, tableName: name, tableId: table.tableId, version })
      }
      return table
    })
  }

  /** Every id that a table had: more than one where it was replaced. */
  idsOf({ tableKey, tableId }: LoggedTable): ReadonlySet<string> {
    const texts = this.#statements.metadataTexts.all(tableKey) as string[]
    return new Set([tableId, ...texts.map((text) => (JSON.parse(text) as Metadata).id)])
  }

  /** Marks a live table as being dropped; the ids that it had before it was replaced are dropped with it. */
  markDropping(table: LoggedTable): void {
    this.transaction(() => {
      for (const id of this.idsOf(table)) if (id !== table.tableId) this.#statements.addTable.run(table.name, id, 'dropped')
      this.#statements.setState.run('dropping', table.tableKey)
    })
  }

  /** Tables whose drop was begun and not ended. */
  droppingTables(): LoggedTable[] {
    return this.#statements.droppingTables.all() as LoggedTable[]
  }

  /** Forgets a dropped table but for its id, which is never adopted again. */
  forget(tableKey: number): void {
    this.transaction(() => {
      const { forgetVersions, forgetShapes, forgetFiles, forgetTxns, forgetPrepared, forgetJointVersions, setState } = this.#statements
      for (const statement of [forgetVersions, forgetShapes, forgetFiles, forgetTxns, forgetPrepared, forgetJointVersions]) statement.run(tableKey)
      setState.run('dropped', tableKey)
    })
  }

  isDroppedId(tableId: string): boolean {
    return this.#statements.droppedId.get(tableId) !== undefined
  }

  #record(name: string, { version, text, actions, written }: VersionToRecord): LoggedTable {
    let table = this.table(name) ?? this.#addTable(name, version, actions)
    const there = this.versionText(table.tableKey, version)
    if (there !== null && there !== text) {
      throw new StreamtopError('table-damaged', `version ${version} of table ${name} is in _log.db with another text than in _delta_log`, {
        hint: 'delete tables/_log.db to build it again from _delta_log',
      })
    }
    if (there === null) table = this.#insertVersion(table, version, text, actions)
    if (written) this.ledger.fill({ ...written, tableName: name, tableId: table.tableId, version })
    return table
  }

  #shapePart(statement: Statement, table: LoggedTable, version: number): { at: number; text: string } {
    const found = statement.get(table.tableKey, version) as { at: number; text: string; metadata: string; protocol: string; crc32: number | null } | undefined
    if (!found) throw firstVersionIsIncomplete(table.name, version)
    const { at, metadata, protocol, crc32 } = found
    if (crc32 !== null && crc32 !== rowChecksum(at, metadata, protocol)) throw damagedRow(table.name, `its metadata at version ${at}`)
    return found
  }

  #addTable(name: string, version: number, actions: VersionActions): LoggedTable {
    if (!actions.metadata || !actions.protocol) throw firstVersionIsIncomplete(name, version)
    const { lastInsertRowid } = this.#statements.addTable.run(name, actions.metadata.id, 'live')
    return { tableKey: Number(lastInsertRowid), name, tableId: actions.metadata.id }
  }

  /** @returns the table, with another id where this version replaced it */
  #insertVersion(table: LoggedTable, version: number, text: string, actions: VersionActions): LoggedTable {
    const { tableKey } = table
    let liveFiles = this.#liveFilesBefore(tableKey, version)
    if (actions.metadata || actions.protocol) this.#insertShape(tableKey, version, actions)
    for (const { path, deletionVector } of actions.removes) liveFiles -= this.#removeFile(tableKey, version, path, deletionVectorId(deletionVector))
    for (const [position, add] of actions.adds.entries()) liveFiles += this.#insertFile(tableKey, version, position, add)
    this.#insertText(table, version, text, actions, liveFiles)
    const tableId = actions.metadata?.id ?? table.tableId
    if (tableId !== table.tableId) this.#statements.setTableId.run(tableId, tableKey)
    return { ...table, tableId }
  }

  /** How many files are live before a version that is about to be recorded. */
  #liveFilesBefore(tableKey: number, version: number): number {
    const said = this.#statements.liveFiles.get(tableKey, version - 1) as number | null | undefined
    return said ?? (this.#statements.countLiveFiles.get(tableKey) as number)
  }

  /** The text, and what is looked up in it. */
  #insertText(table: LoggedTable, version: number, text: string, actions: VersionActions, liveFiles: number | null): void {
    const { tableKey } = table
    const { timestamp, operation } = actions.commitInfo ?? {}
    const [timestampMs, said] = [typeof timestamp === 'number' ? timestamp : null, typeof operation === 'string' ? operation : null]
    this.#statements.addVersion.run(tableKey, version, timestampMs, said, text, liveFiles)
    for (const txn of actions.txns) this.#insertTxn(tableKey, version, txn)
    const joint = jointOf(actions)
    if (joint !== null) this.joint.note(joint.id, tableKey, version, joint.tables.length)
  }

  #insertTxn(tableKey: number, version: number, txn: Txn): void {
    this.#statements.addTxn.run(tableKey, txn.appId, version, txn.version, txn.lastUpdatedMs, txnChecksum({ ...txn, atVersion: version }))
  }

  #insertShape(tableKey: number, version: number, { metadata, protocol }: Pick<VersionActions, 'metadata' | 'protocol'>): void {
    const texts = [metadata && JSON.stringify(metadata), protocol && JSON.stringify(protocol)] as const
    this.#statements.addShape.run(tableKey, version, ...texts, rowChecksum(version, ...texts))
  }

  /** A file that was taken out before the table's base: never live, and known, so that it is no orphan. */
  #insertRemoved(tableKey: number, version: number, { path, deletionVector, size, partitionValues }: RemoveFile): void {
    const add = { path, deletionVector, size: size ?? 0, modifiedMs: 0, dataChange: false, partitionValues, statistics: null }
    this.#insertFile(tableKey, version, 0, add)
    this.#removeFile(tableKey, version, path, deletionVectorId(deletionVector))
  }

  /** @returns how many files are live that were not before: none for one that is added again (RESTORE, or new tags) */
  #insertFile(tableKey: number, version: number, position: number, add: AddFile): number {
    const vectorId = deletionVectorId(add.deletionVector)
    const removed = this.#removeFile(tableKey, version, add.path, vectorId)
    this.#statements.addFile.run({ tableKey, vectorId, ...toFileRow(add, version, position) })
    return 1 - removed
  }

  /** @returns how many files are live no more */
  #removeFile(tableKey: number, version: number, path: string, vectorId: string): number {
    return this.#statements.removeFile.run(version, tableKey, path, vectorId).changes
  }
}
