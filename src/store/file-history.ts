/** What the SQLite log knows of all files that versions of a table have named: those that are live, and which version took the others out. */
import type { Database } from '../database.js'
import type { DeletionVector } from './actions.js'
import { decodePath } from './version-text.js'

export interface NamedFile {
  readonly path: string
  readonly deletionVector: DeletionVector | null
  /** Null while it is live. */
  readonly removedVersion: number | null
}

export class FileHistory {
  readonly #statements: ReturnType<typeof prepareAll>

  constructor(database: Database) {
    this.#statements = prepareAll(database)
  }

  /** Every file with every deletion vector that it had. */
  named(tableKey: number): NamedFile[] {
    const rows = this.#statements.named.all(tableKey) as { path: string; deletionVector: string | null; removedVersion: number | null }[]
    return rows.map((row) => ({ ...row, deletionVector: row.deletionVector === null ? null : (JSON.parse(row.deletionVector) as DeletionVector) }))
  }

  /** Whole paths and addresses in the live files of all other tables, of deletion vectors too: a clone may name files of the table beside it. */
  wholePathsOfOthers(tableKey: number): string[] {
    const rows = this.#statements.wholePathsOfOthers.all(tableKey) as { path: string; vectorPath: string | null }[]
    return rows.flatMap(({ path, vectorPath }) => (vectorPath === null ? [path] : [path, decodePath(vectorPath)]))
  }

  /** Versions that removed files and added none with other rows, ascending: among them are those that wrote rows again and changed none. */
  removingVersions(tableKey: number): number[] {
    return this.#statements.removingVersions.all({ tableKey }) as number[]
  }

  /** The latest time that a version up to this one says it was written at; null when none says it. A clock that went back makes no version older than those before it. */
  latestTimeMs(tableKey: number, version: number): number | null {
    return this.#statements.latestTime.get(tableKey, version) as number | null
  }
}

function prepareAll(database: Database) {
  return {
    named: database.prepare('SELECT path, deletion_vector AS deletionVector, removed_version AS removedVersion FROM files WHERE table_key = ?'),
    wholePathsOfOthers: database.prepare(
      `SELECT path, CASE WHEN deletion_vector ->> '$.storageType' = 'p' THEN deletion_vector ->> '$.pathOrInlineDv' END AS vectorPath FROM files
         WHERE table_key <> ? AND removed_version IS NULL AND (path LIKE '/%' OR path LIKE 'file:%')`,
    ),
    removingVersions: database
      .prepare(
        `SELECT DISTINCT removed_version FROM files AS gone WHERE table_key = @tableKey AND removed_version > added_version AND NOT EXISTS (
           SELECT 1 FROM files AS came WHERE came.table_key = @tableKey AND came.added_version = gone.removed_version AND came.data_change = 1)
         ORDER BY removed_version`,
      )
      .pluck(),
    latestTime: database.prepare('SELECT max(timestamp_ms) FROM versions WHERE table_key = ? AND version <= ?').pluck(),
  }
}
