/**
 * `_counts.db`: for each data file the hashes of its rows, from which rows and distinct rows of any snapshot are counted exactly
 * without reading Parquet again. It is a cache beside the log: written after the commit, never synced, read by observers, and
 * whatever is missing in it is computed from the data file; so nothing that goes wrong with it is anybody's error. It has a rollback
 * journal and no WAL, for a reader of a WAL either leaves files behind or has to read the whole database.
 */
import { join } from 'node:path'
import { type Database, openDatabase, type Statement } from '../database.js'
import type { Effects } from '../effects.js'
import type { Columns } from './columns.js'
import { formatOffsets, type OffsetRanges, offsetRangesOf, parseOffsets } from './offset-ranges.js'
import { HASH_SCHEME, hashRows } from './row-hash.js'
import { findColumn } from './schema.js'

const FORMAT = 2

/** The columns by which rows of a topic are told apart. */
export const RECORD_COLUMNS = { partition: 'partition', offset: 'offset' } as const

/** Where the cache of a tables folder lies. */
export function countsPathOf(tablesFolder: string): string {
  return join(tablesFolder, '_counts.db')
}

/** A new data file with the rows in it. */
export interface CountedFile {
  readonly table: string
  readonly path: string
  readonly columns: Columns
}

/** A cache is worth no long wait: what it does not get is read from the files. */
const BUSY_TIMEOUT_MS = 50

export class RowCounts {
  readonly #database: Database
  readonly #find: Statement
  readonly #findOffsets: Statement
  readonly #put: Statement
  readonly #forget: Statement

  private constructor(database: Database) {
    this.#database = database
    this.#find = database.prepare('SELECT hashes FROM row_hashes WHERE path = ? AND scheme = ?').pluck()
    this.#findOffsets = database.prepare('SELECT offsets FROM row_hashes WHERE path = ? AND scheme = ?').pluck()
    this.#forget = database.prepare('DELETE FROM row_hashes WHERE path >= ? AND path < ?')
    this.#put = database.prepare('INSERT OR REPLACE INTO row_hashes (path, scheme, hashes, offsets) VALUES (?, ?, ?, ?)')
  }

  /** Opens the cache for writing; a damaged one is thrown away. */
  static open(tablesFolder: string, fx: Effects): RowCounts {
    const path = countsPathOf(tablesFolder)
    try {
      return RowCounts.#openAt(path)
    } catch (error) {
      // While others are at it for long, what this process counts is kept nowhere.
      if (isBusy(error)) return RowCounts.#openAt(':memory:')
      RowCounts.remove(tablesFolder, fx)
      return RowCounts.#openAt(path)
    }
  }

  /** Throws the cache away. */
  static remove(tablesFolder: string, fx: Effects): void {
    for (const suffix of ['', '-journal', '-wal', '-shm']) fx.files.remove(countsPathOf(tablesFolder) + suffix)
  }

  /** Opens it for reading; null when there is none that can be read. */
  static openForReading(tablesFolder: string, fx: Effects): RowCounts | null {
    const path = countsPathOf(tablesFolder)
    if (!fx.files.exists(path)) return null
    let database: Database | null = null
    try {
      database = openDatabase(path, { readonly: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
      return database.pragma('user_version', { simple: true }) === FORMAT ? new RowCounts(database) : null
    } catch {
      database?.close()
      return null
    }
  }

  static #openAt(path: string): RowCounts {
    const database = openDatabase(path, { journal: 'delete', busyTimeoutMs: BUSY_TIMEOUT_MS })
    database.pragma('synchronous = OFF')
    const formatOf = () => database.pragma('user_version', { simple: true })
    if (formatOf() !== FORMAT) {
      database
        .transaction(() => {
          if (formatOf() === FORMAT) return
          database.exec('DROP TABLE IF EXISTS row_hashes')
          database.exec('CREATE TABLE row_hashes (path TEXT NOT NULL, scheme INTEGER NOT NULL, hashes BLOB NOT NULL, offsets TEXT, PRIMARY KEY (path, scheme))')
          database.pragma(`user_version = ${FORMAT}`)
        })
        .immediate()
    }
    return new RowCounts(database)
  }

  /** The hashes of a data file's rows (`hashRows`), or null. The path is the table's name and the file's, which holds a UUID. */
  find(table: string, path: string): Uint32Array | null {
    const blob = orNull(() => this.#find.get(`${table}/${path}`, HASH_SCHEME)) as Buffer | null | undefined
    if (!blob) return null
    const copy = new Uint8Array(blob)
    return new Uint32Array(copy.buffer, 0, copy.byteLength >> 2)
  }

  /** Which records of a topic the rows of a data file are; null when that is not kept, or the table has no such columns. */
  findOffsets(table: string, path: string): OffsetRanges | null {
    const text = orNull(() => this.#findOffsets.get(`${table}/${path}`, HASH_SCHEME)) as string | null | undefined
    return text ? parseOffsets(text) : null
  }

  /** Keeps the hashes of new files. */
  put(files: readonly CountedFile[]): void {
    const put = this.#database.transaction(() => {
      for (const { table, path, columns } of files) {
        const hashes = hashRows(columns)
        this.#put.run(`${table}/${path}`, HASH_SCHEME, Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength), offsetsText(columns))
      }
    })
    try {
      put.immediate()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }

  /** Lets go of a dropped table's files. */
  forget(table: string): void {
    // Every path that begins with the name and a slash: the character behind the slash is 0.
    this.#forget.run(`${table}/`, `${table}0`)
  }

  close(): void {
    this.#database.close()
  }
}

/** The records that rows are, for a table that says so. */
export function recordsOf(columns: Columns): OffsetRanges | null {
  const { schema } = columns
  if (findColumn(schema, RECORD_COLUMNS.partition)?.type.kind !== 'integer' || findColumn(schema, RECORD_COLUMNS.offset)?.type.kind !== 'long') return null
  return offsetRangesOf(columns, RECORD_COLUMNS)
}

function offsetsText(columns: Columns): string | null {
  const records = recordsOf(columns)
  return records && formatOffsets(records)
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY')
}
