/**
 * What the SQLite log has of joint commits: the writes that are prepared and may be linked, and which versions of which tables
 * belong together. A joint commit is known by the `txnId` that its versions share.
 */
import { type Database, synced } from '../database.js'

/** A write of a joint commit as it will be linked. */
export interface PreparedWrite {
  readonly jointId: string
  /** In the order in which they are linked, from 0: only the first may still be refused. */
  readonly position: number
  readonly table: string
  /** Null when the write makes the table. */
  readonly tableKey: number | null
  /** The version that it was planned as; all but the first take the next free one. */
  readonly version: number
  readonly text: string
}

export interface JointCommit {
  readonly jointId: string
  /** The process that prepared it, as `ownProcess` says. */
  readonly writer: string
}

/** A version whose joint commit the log does not have whole. */
export interface IncompleteVersion {
  readonly jointId: string
  readonly table: string
  readonly version: number
}

/** Joint commits that this process has under way. A life that died in this process is over when its log is closed. */
const underWay = new Set<string>()

export class JointLog {
  readonly #database: Database
  readonly #statements: ReturnType<typeof prepareAll>
  readonly #own = new Set<string>()

  constructor(database: Database) {
    this.#database = database
    this.#statements = prepareAll(database)
  }

  /** Stores writes as prepared, inside the caller's transaction: from its end on recovery knows of them. */
  prepare(writes: readonly PreparedWrite[], writer: string): void {
    for (const write of writes) {
      this.#statements.prepare.run({ ...write, writer })
      this.#own.add(write.jointId)
      underWay.add(write.jointId)
    }
  }

  /** Forgets a joint commit that is recorded, or of which nothing was linked. */
  settle(jointId: string): void {
    synced(this.#database, () => this.#statements.settle.run(jointId))
    this.#own.delete(jointId)
    underWay.delete(jointId)
  }

  /** The writes of a joint commit that is not settled, in the order in which they are linked. */
  writes(jointId: string): PreparedWrite[] {
    return this.#statements.writes.all(jointId) as PreparedWrite[]
  }

  /** Joint commits that are not settled. */
  unsettled(): JointCommit[] {
    return this.#statements.unsettled.all() as JointCommit[]
  }

  /** Whether a writer in this process is at work on it. */
  isUnderWay(jointId: string): boolean {
    return underWay.has(jointId)
  }

  /** Notes that a version belongs to a joint commit, inside the caller's transaction. */
  note(jointId: string, tableKey: number, version: number, tableCount: number): void {
    this.#statements.note.run(jointId, tableKey, version, tableCount)
  }

  /** The version of a table that belongs to a joint commit; null when there is none. */
  versionOf(jointId: string, tableKey: number): number | null {
    return (this.#statements.versionOf.get(jointId, tableKey) as number | undefined) ?? null
  }

  /** Whether anything is known of a joint commit. */
  knows(jointId: string): boolean {
    return this.#statements.knows.get(jointId, jointId) !== undefined
  }

  /** Versions whose joint commit the log does not have whole: it was deleted while that was under way, or a table of it was dropped. */
  incomplete(): IncompleteVersion[] {
    return this.#statements.incomplete.all() as IncompleteVersion[]
  }

  /** What this handle had under way is over: it dies or ends. */
  close(): void {
    for (const jointId of this.#own) underWay.delete(jointId)
  }
}

function prepareAll(database: Database) {
  return {
    prepare: database.prepare(
      `INSERT INTO prepared (joint_id, position, table_name, table_key, version, text, writer)
       VALUES (@jointId, @position, @table, @tableKey, @version, @text, @writer)`,
    ),
    settle: database.prepare('DELETE FROM prepared WHERE joint_id = ?'),
    writes: database.prepare(
      `SELECT joint_id AS jointId, position, table_name AS "table", table_key AS tableKey, version, text FROM prepared WHERE joint_id = ? ORDER BY position`,
    ),
    unsettled: database.prepare('SELECT joint_id AS jointId, min(writer) AS writer FROM prepared GROUP BY joint_id'),
    note: database.prepare('INSERT OR IGNORE INTO joint_versions (joint_id, table_key, version, table_count) VALUES (?, ?, ?, ?)'),
    versionOf: database.prepare('SELECT version FROM joint_versions WHERE joint_id = ? AND table_key = ?').pluck(),
    knows: database.prepare('SELECT 1 WHERE EXISTS (SELECT 1 FROM prepared WHERE joint_id = ?) OR EXISTS (SELECT 1 FROM joint_versions WHERE joint_id = ?)'),
    incomplete: database.prepare(
      `SELECT joint_id AS jointId, name AS "table", version FROM joint_versions JOIN tables USING (table_key)
       WHERE joint_id IN (SELECT joint_id FROM joint_versions GROUP BY joint_id HAVING count(*) < max(table_count)) ORDER BY name, version`,
    ),
  }
}
