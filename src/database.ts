/**
 * The one file that opens SQLite databases, so that every one of them has the same settings:
 * WAL, `synchronous=FULL` (a commit that returned survives a power cut), a busy timeout, no trust in what a foreign file's
 * schema wants to run, and a library that lacks the WAL-reset bug (fixed in 3.51.3: two connections that write and checkpoint
 * at once could lose commits).
 */
import type { Database, Statement } from 'better-sqlite3'
import { createRequire } from 'node:module'
import { stopForFailedSync } from './effects.js'
import { StreamtopError } from './errors.js'

export type { Database, Statement }

const OLDEST_SAFE_VERSION = [3, 51, 3] as const

export interface OpenOptions {
  /** Never create, never write. */
  readonly readonly?: boolean
  /** `wal` for logs (the default); `delete` for locks, where a writer that dies must leave nothing to recover. */
  readonly journal?: 'wal' | 'delete'
  /** How long a statement waits for another connection, in milliseconds; 5,000 unless given. */
  readonly busyTimeoutMs?: number
}

/** Opens the database at a path (`:memory:` for one that is nowhere), made when absent unless read-only. */
export function openDatabase(path: string, options: OpenOptions = {}): Database {
  const Sqlite = loadBinding()
  const busyTimeoutMs = options.busyTimeoutMs ?? BUSY_TIMEOUT_MS
  const database: Database = new Sqlite(path, { readonly: options.readonly ?? false, timeout: busyTimeoutMs })
  try {
    return synced(database, () => configured(database, options, busyTimeoutMs))
  } catch (error) {
    database.close()
    throw error
  }
}

function configured(database: Database, options: OpenOptions, busyTimeoutMs: number): Database {
  checkVersion(database)
  database.pragma('trusted_schema = OFF')
  if (!options.readonly) {
    setJournalMode(database, options.journal ?? 'wal', busyTimeoutMs)
    database.pragma('synchronous = FULL')
    // 2 MiB of pages: a query holds several connections, and what it touches is at the end of the log.
    database.pragma('cache_size = -2000')
    // A checkpoint of the WAL inside a commit would make that one commit slow; idle moments do it instead (`checkpointWhenGrown`).
    if (options.journal !== 'delete') database.pragma('wal_autocheckpoint = 0')
  }
  return database
}

/** Turning a new database to WAL does not wait for others who do the same, as statements do; so this waits. */
function setJournalMode(database: Database, journal: 'wal' | 'delete', busyTimeoutMs: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let triesLeft = Math.ceil(busyTimeoutMs / RETRY_MS); ; triesLeft--) {
    try {
      database.pragma(`journal_mode = ${journal}`)
      return
    } catch (error) {
      const isBusy = String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')
      if (!isBusy || triesLeft <= 0) throw error
      Atomics.wait(never, 0, 0, RETRY_MS)
    }
  }
}

const RETRY_MS = 10

/** Opens the bytes of a database file as a database in memory that nobody else sees; the file is not touched. */
export function openDatabaseImage(bytes: Buffer): Database {
  const Sqlite = loadBinding()
  const database: Database = new Sqlite(bytes, { readonly: true })
  checkVersion(database)
  database.pragma('trusted_schema = OFF')
  return database
}

/**
 * Does something that SQLite syncs. Could it not, the process ends: closing the database would copy from the log what may not be on
 * disk, and the system would call the next sync a success.
 */
export function synced<T>(database: Database, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (FAILED_SYNC.test(String((error as { readonly code?: unknown } | null)?.code))) stopForFailedSync(database.name, error)
    throw error
  }
}

const FAILED_SYNC = /^SQLITE_IOERR_(DIR_)?FSYNC$/

/**
 * Moves the WAL into the database file once it has grown to some megabytes; called between commits, never inside one. Asking
 * costs microseconds; readers that are in the way are left alone, and what they hold back is moved next time. The WAL begins anew when
 * somebody writes while all of it is moved and nobody reads it; where several processes write all the time that moment may not come
 * by itself, so a WAL that has grown further waits for it, shortly.
 */
export function checkpointWhenGrown(database: Database): void {
  // NOOP (SQLite 3.51) only counts the frames in the WAL, over all processes that write it.
  const [wal] = database.pragma('wal_checkpoint(NOOP)') as [{ readonly log: number; readonly checkpointed: number }]
  if (wal.log >= WAL_FRAMES_TOO_MANY) restartWal(database)
  else if (wal.log - wal.checkpointed >= WAL_FRAMES_MAX) synced(database, () => database.pragma('wal_checkpoint(PASSIVE)'))
}

function restartWal(database: Database): void {
  database.pragma(`busy_timeout = ${RESTART_PATIENCE_MS}`)
  try {
    synced(database, () => database.pragma('wal_checkpoint(RESTART)'))
  } finally {
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

/** Pages of 4 KiB. */
const WAL_FRAMES_MAX = 1_000
const WAL_FRAMES_TOO_MANY = 2 * WAL_FRAMES_MAX
const RESTART_PATIENCE_MS = 20
/** What every database with a WAL is opened with. */
const BUSY_TIMEOUT_MS = 5_000

let binding: typeof import('better-sqlite3') | undefined

function loadBinding(): typeof import('better-sqlite3') {
  if (binding) return binding
  try {
    const loaded = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')
    // The package looks for its native part at the first database, not when it is loaded.
    new loaded(':memory:').close()
    binding = loaded
    return binding
  } catch (cause) {
    throw new StreamtopError('binding-missing', 'the SQLite binding (better-sqlite3) could not be loaded', {
      hint: 'run "npm rebuild better-sqlite3", with a C++ compiler installed where there is no prebuilt binary, and allow its install script when npm asks',
      cause,
    })
  }
}

let versionIsChecked = false

function checkVersion(database: Database): void {
  if (versionIsChecked) return
  const version = database.prepare('SELECT sqlite_version()').pluck().get() as string
  const parts = version.split('.').map(Number)
  for (const [position, oldest] of OLDEST_SAFE_VERSION.entries()) {
    const part = parts[position] ?? 0
    if (part > oldest) break
    if (part < oldest) {
      throw new StreamtopError(
        'binding-missing',
        `SQLite ${version} can lose commits (its WAL-reset bug); streamtop needs ${OLDEST_SAFE_VERSION.join('.')} or newer`,
        {
          hint: 'run "npm ci" to get the pinned better-sqlite3',
        },
      )
    }
  }
  versionIsChecked = true
}
