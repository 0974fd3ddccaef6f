/**
 * The lock of a query: one SQLite file, `<workspace>/.locks/<query>.db`, outside of its checkpoint. The holder commits a row
 * that says who it is and then keeps a write transaction open, so that the kernel frees the lock when the process dies, by
 * whatever death, and there is never a stale one. Spark does not know this lock. The dashboard that runs a workspace's queries
 * has one of the same kind, `.locks/.dashboard.db`.
 *
 * The holder's process must not open the file by other means: on POSIX, closing any handle of a file drops the process's locks on it.
 */
import { join } from 'node:path'
import { type Database, openDatabase } from '../database.js'
import type { Effects } from '../effects.js'
import { isMachineError, StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { probeLink } from './link-probe.js'

export interface QueryLock {
  /** Frees the lock and takes the holder's row away. */
  release(): void
  /** Closes the handle without a commit, as a death would: the lock is free, the row stays. */
  abandon(): void
}

export interface LockHolder {
  /** Of this one taking: a process that takes the lock again has another. */
  readonly token: string
  readonly pid: number
  /** When the process started, as `fx.processStart` says it. */
  readonly processStart: string | null
  readonly parentPid: number
  readonly parentStart: string | null
  /** When it took the lock, milliseconds since the epoch. */
  readonly startedAtMs: number
}

/**
 * Takes the lock of a query. A holder whose parent is gone is about to end, so it is waited for.
 * @param options.waitMs how long, 2,000 unless given
 * @param options.parentPid whose end is this process's too; `process.ppid` unless given, which is another's once the parent is gone
 * @throws concurrent-query, naming the holder; unsupported-file-system in a new workspace
 */
export async function acquireLock(
  workspace: string,
  query: string,
  fx: Effects,
  options: { readonly waitMs?: number; readonly parentPid?: number } = {},
): Promise<QueryLock> {
  checkName('query', query)
  const { waitMs = 2_000, parentPid = process.ppid } = options
  const taken = await take(workspace, query, waitMs, parentPid, fx)
  if ('holder' in taken) throw heldBy(query, taken.holder, fx)
  return taken
}

/**
 * Takes the lock of the dashboard that runs a workspace's queries.
 * @returns the pid of the process that has it, null when that cannot be told
 * @throws unsupported-file-system in a new workspace
 */
export async function acquireDashboardLock(workspace: string, fx: Effects): Promise<QueryLock | { readonly holderPid: number | null }> {
  const taken = await take(workspace, DASHBOARD, DASHBOARD_WAIT_MS, process.ppid, fx)
  return 'holder' in taken ? { holderPid: taken.holder?.pid ?? null } : taken
}

/** No query can have this name. */
const DASHBOARD = '.dashboard'
/** Who is taking it at this moment has it in the next. */
const DASHBOARD_WAIT_MS = 300

/** Gives the lock, or who has it as far as the row tells. Someone who is about to end or to begin is waited for. */
async function take(
  workspace: string,
  name: string,
  waitMs: number,
  parentPid: number,
  fx: Effects,
): Promise<QueryLock | { readonly holder: LockHolder | null }> {
  const folder = join(workspace, '.locks')
  if (!fx.files.exists(folder)) {
    probeLink(workspace, fx)
    fx.files.makeFolder(folder)
  }
  const path = lockPath(workspace, name)
  const token = fx.randomUuid()
  const database = openLock(path)
  try {
    const until = fx.monotonicMs() + waitMs
    while (!tryLock(database, token, parentPid, fx)) {
      const row = readHolder(database)
      const holder = row?.token === token ? null : row
      // Without another living holder in the row, somebody is taking the lock at this moment and will have written it in the next.
      const isEnding = holder === null || !isAlive(holder.pid, holder.processStart, fx) || !isAlive(holder.parentPid, holder.parentStart, fx)
      if (!isEnding || fx.monotonicMs() >= until) {
        database.close()
        return { holder }
      }
      await fx.sleep(20)
    }
  } catch (error) {
    database.close()
    throw isDamage(error) ? damagedLock(path, error) : error
  }
  heldHere.add(path)
  const close = () => {
    heldHere.delete(path)
    database.close()
  }
  return {
    release() {
      if (!database.open) return
      try {
        database.exec('DELETE FROM holder; COMMIT')
      } catch (error) {
        // A reader was in the way: the row stays, and says nothing once this process has let go. Or the file was removed, with its row.
        if (!isBusy(error) && errorCode(error) !== 'SQLITE_READONLY_DBMOVED') throw error
      } finally {
        close()
      }
    },
    abandon() {
      if (database.open) close()
    },
  }
}

/**
 * Who holds the lock, or null for nobody. Reads the row and never takes the lock or writes: a row counts while its process
 * lives, and of this process only while it holds the lock.
 */
export function readLockHolder(workspace: string, query: string, fx: Effects): LockHolder | null {
  const path = lockPath(workspace, query)
  if (!fx.files.exists(path)) return null
  const holder = readRowOf(path)
  if (holder === null || !isAlive(holder.pid, holder.processStart, fx)) return null
  return holder.pid === process.pid && !heldHere.has(path) ? null : holder
}

/** The process that runs a workspace's queries from its dashboard; null for none. */
export function readDashboardHolder(workspace: string, fx: Effects): number | null {
  return readLockHolder(workspace, DASHBOARD, fx)?.pid ?? null
}

/** Whether the file of a query's lock is there: without it the query has never run here. */
export function isLockThere(workspace: string, query: string, fx: Effects): boolean {
  return fx.files.exists(lockPath(workspace, query))
}

/** Whether the file of the dashboard's lock is there: for who holds it, whether the workspace is still the one that was taken. */
export function isDashboardLockThere(workspace: string, fx: Effects): boolean {
  return fx.files.exists(lockPath(workspace, DASHBOARD))
}

/** Locks that this process holds, by path: its own row is no proof, for it outlives a lock that was abandoned. */
const heldHere = new Set<string>()

const BUSY_TIMEOUT_MS = 250

function lockPath(workspace: string, query: string): string {
  return join(workspace, '.locks', `${query}.db`)
}

function openLock(path: string): Database {
  try {
    return openDatabase(path, { journal: 'delete', busyTimeoutMs: BUSY_TIMEOUT_MS })
  } catch (cause) {
    throw isDamage(cause) ? damagedLock(path, cause) : cause
  }
}

function isDamage(error: unknown): boolean {
  return errorCode(error)?.startsWith('SQLITE_') === true && !isBusy(error) && !isMachineError(error)
}

function damagedLock(path: string, cause?: unknown): StreamtopError {
  return new StreamtopError('checkpoint-damaged', `${path} is not a lock of streamtop, or is damaged`, {
    hint: 'stop every streamtop that works on this workspace, then remove the file: it holds nothing else',
    cause,
  })
}

/**
 * Takes the lock, writes who we are, and takes it again for good. Another may come in between and write its own row, so the
 * lock is ours only when it is taken and the row is ours. False when another has it.
 */
function tryLock(database: Database, token: string, parentPid: number, fx: Effects): boolean {
  try {
    for (let triesLeft = TRIES_MAX; triesLeft > 0; triesLeft--) {
      database.exec('BEGIN IMMEDIATE')
      database.exec(CREATE_HOLDER)
      if (database.prepare('SELECT token FROM holder').pluck().get() === token) return true
      database
        .prepare('INSERT OR REPLACE INTO holder VALUES (1, ?, ?, ?, ?, ?, ?)')
        .run(token, process.pid, fx.processStart(process.pid), parentPid, fx.processStart(parentPid), fx.nowMs())
      database.exec('COMMIT')
    }
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    if (isBusy(error)) return false
    throw error
  }
  throw damagedLock(database.name)
}

/** So often in a row nobody comes in between: a row that is written and never there is damage. */
const TRIES_MAX = 30

const CREATE_HOLDER = `CREATE TABLE IF NOT EXISTS holder (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  token TEXT NOT NULL, pid INTEGER NOT NULL, process_start TEXT, parent_pid INTEGER NOT NULL, parent_start TEXT, started_at_ms INTEGER NOT NULL
)`

function readRowOf(path: string): LockHolder | null {
  let database: Database | null = null
  try {
    database = openDatabase(path, { readonly: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
    return readHolder(database)
  } catch (error) {
    // What cannot be read without repair was left by a death in the middle of the row's commit, before the lock was held.
    if (errorCode(error)?.startsWith('SQLITE_')) return null
    throw error
  } finally {
    database?.close()
  }
}

function readHolder(database: Database): LockHolder | null {
  try {
    const row = database
      .prepare(
        'SELECT token, pid, process_start AS processStart, parent_pid AS parentPid, parent_start AS parentStart, started_at_ms AS startedAtMs FROM holder',
      )
      .get()
    return (row as LockHolder | undefined) ?? null
  } catch (error) {
    if (isBusy(error) || errorCode(error) === 'SQLITE_ERROR') return null
    throw error
  }
}

function isAlive(pid: number, start: string | null, fx: Effects): boolean {
  const now = fx.processStart(pid)
  return now !== null && now === start
}

function isBusy(error: unknown): boolean {
  return errorCode(error)?.startsWith('SQLITE_BUSY') ?? false
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function heldBy(query: string, holder: LockHolder | null, fx: Effects): StreamtopError {
  if (holder === null) return new StreamtopError('concurrent-query', `query ${query} is being started by another process`, { hint: 'try again' })
  const seconds = Math.max(0, Math.round((fx.nowMs() - holder.startedAtMs) / 1000))
  return new StreamtopError('concurrent-query', `query ${query} is held by process ${holder.pid}, for ${seconds} s now`, {
    hint: `wait for it to end, or stop it with "kill ${holder.pid}"`,
  })
}
