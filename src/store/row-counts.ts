/**
 * `_counts.db`: for each data file the hashes of its rows, from which rows and distinct rows of any snapshot are counted exactly
 * without reading Parquet again. It is a cache beside the log: written after the commit, never synced, read by observers, and
 * whatever is missing in it is computed from the data file; so nothing that goes wrong with it is anybody's error. It has a rollback
 * journal and no WAL, for a reader of a WAL either leaves files behind or has to read the whole database. Because it is not synced, a
 * loss of power may leave pages of several moments side by side, which SQLite need not notice; so each row has a checksum.
 */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Database, openDatabase, type Statement } from '../database.js'
import type { Effects } from '../effects.js'
import type { Columns } from './columns.js'
import { formatOffsets, type OffsetRanges, offsetRangesOf, parseOffsets } from './offset-ranges.js'
import { HASH_SCHEME, hashRows } from './row-hash.js'
import { findColumn } from './schema.js'

const FORMAT = 3

const CREATE_TABLE = `CREATE TABLE row_hashes (
  path TEXT NOT NULL, scheme INTEGER NOT NULL, hashes BLOB NOT NULL, offsets TEXT, checksum INTEGER NOT NULL, PRIMARY KEY (path, scheme)
)`

interface CountsRow {
  readonly hashes: Buffer
  readonly offsets: string | null
}

/** CRC-32 of a row with its key. */
function checksumOf(key: string, { hashes, offsets }: CountsRow): number {
  return crc32(hashes, crc32(`${key}\0${offsets ?? ''}\0`))
}

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
  readonly #put: Statement
  readonly #forget: Statement

  private constructor(database: Database) {
    this.#database = database
    this.#find = database.prepare('SELECT hashes, offsets, checksum FROM row_hashes WHERE path = ? AND scheme = ?')
    this.#forget = database.prepare('DELETE FROM row_hashes WHERE path >= ? AND path < ?')
    this.#put = database.prepare('INSERT OR REPLACE INTO row_hashes (path, scheme, hashes, offsets, checksum) VALUES (?, ?, ?, ?, ?)')
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
          database.exec(CREATE_TABLE)
          database.pragma(`user_version = ${FORMAT}`)
        })
        .immediate()
    }
    return new RowCounts(database)
  }

  /** The hashes of a data file's rows (`hashRows`), or null. The path is the table's name and the file's, which holds a UUID. */
  find(table: string, path: string): Uint32Array | null {
    const row = this.#row(`${table}/${path}`)
    if (!row) return null
    const copy = new Uint8Array(row.hashes)
    return new Uint32Array(copy.buffer, 0, copy.byteLength >> 2)
  }

  /** Which records of a topic the rows of a data file are; null when that is not kept, or the table has no such columns. */
  findOffsets(table: string, path: string): OffsetRanges | null {
    const row = this.#row(`${table}/${path}`)
    return row?.offsets ? parseOffsets(row.offsets) : null
  }

  #row(key: string): CountsRow | null {
    const row = orNull(() => this.#find.get(key, HASH_SCHEME)) as (CountsRow & { readonly checksum: number }) | null | undefined
    return row && row.checksum === checksumOf(key, row) ? row : null
  }

  /** Keeps the hashes of new files. */
  put(files: readonly CountedFile[]): void {
    const put = this.#database.transaction(() => {
      for (const { table, path, columns } of files) {
        const key = `${table}/${path}`
        const { buffer, byteOffset, byteLength } = hashRows(columns)
        const row = { hashes: Buffer.from(buffer, byteOffset, byteLength), offsets: offsetsText(columns) }
        this.#put.run(key, HASH_SCHEME, row.hashes, row.offsets, checksumOf(key, row))
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

  /** Lets go of files of a table that are not there any more. */
  forgetMissing(table: string, isThere: (path: string) => boolean): void {
    const known = this.#database.prepare('SELECT DISTINCT path FROM row_hashes WHERE path >= ? AND path < ?').pluck()
    const gone = (known.all(`${table}/`, `${table}0`) as string[]).filter((path) => !isThere(path.slice(table.length + 1)))
    const forget = this.#database.prepare('DELETE FROM row_hashes WHERE path = ?')
    this.#database.transaction(() => gone.forEach((path) => void forget.run(path))).immediate()
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
