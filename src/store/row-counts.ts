/**
 * `_counts.db`: for each data file the hashes of its rows, from which rows and distinct rows of any snapshot are counted exactly
 * without reading Parquet again. It is a cache beside the log: written after the commit, never synced, read by observers, and
 * whatever is missing in it is computed from the data file.
 */
import { join } from 'node:path'
import { type Database, openDatabase, type Statement } from '../database.js'
import type { Effects } from '../effects.js'
import type { Columns } from './columns.js'
import { HASH_SCHEME, hashRows } from './row-hash.js'

const FORMAT = 1

/** Where the cache of a tables folder lies. */
export function countsPathOf(tablesFolder: string): string {
  return join(tablesFolder, '_counts.db')
}

export class RowCounts {
  readonly #database: Database
  readonly #find: Statement
  readonly #put: Statement

  private constructor(database: Database) {
    this.#database = database
    this.#find = database.prepare('SELECT hashes FROM row_hashes WHERE path = ? AND scheme = ?').pluck()
    this.#put = database.prepare('INSERT OR REPLACE INTO row_hashes (path, scheme, hashes) VALUES (?, ?, ?)')
  }

  /** Opens the cache for writing; a damaged one is thrown away. */
  static open(tablesFolder: string, fx: Effects): RowCounts {
    const path = countsPathOf(tablesFolder)
    try {
      return RowCounts.#openAt(path)
    } catch {
      for (const suffix of ['', '-wal', '-shm']) fx.files.remove(path + suffix)
      return RowCounts.#openAt(path)
    }
  }

  /** Opens it for reading; null when there is none that can be read. */
  static openForReading(tablesFolder: string, fx: Effects): RowCounts | null {
    const path = countsPathOf(tablesFolder)
    if (!fx.files.exists(path)) return null
    try {
      return new RowCounts(openDatabase(path, { readonly: true }))
    } catch {
      return null
    }
  }

  static #openAt(path: string): RowCounts {
    const database = openDatabase(path)
    database.pragma('synchronous = OFF')
    if (database.pragma('user_version', { simple: true }) !== FORMAT) {
      database.exec('CREATE TABLE IF NOT EXISTS row_hashes (path TEXT NOT NULL, scheme INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY (path, scheme))')
      database.pragma(`user_version = ${FORMAT}`)
    }
    return new RowCounts(database)
  }

  /** The hashes of a data file's rows (`hashRows`), or null. The path is the table's name and the file's, which holds a UUID. */
  find(table: string, path: string): Uint32Array | null {
    const blob = this.#find.get(`${table}/${path}`, HASH_SCHEME) as Buffer | undefined
    if (!blob) return null
    const copy = new Uint8Array(blob)
    return new Uint32Array(copy.buffer, 0, copy.byteLength >> 2)
  }

  /** Keeps the hashes of new files. */
  put(files: readonly { readonly table: string; readonly path: string; readonly columns: Columns }[]): void {
    const put = this.#database.transaction(() => {
      for (const { table, path, columns } of files) {
        const hashes = hashRows(columns)
        this.#put.run(`${table}/${path}`, HASH_SCHEME, Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength))
      }
    })
    put.immediate()
  }

  close(): void {
    this.#database.close()
  }
}
