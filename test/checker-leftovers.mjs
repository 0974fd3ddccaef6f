/**
 * The checker's look at what must not be left behind, and at what a start that has nothing to do must leave as it is. Part of the
 * checker, so it shares nothing with src.
 */
import Database from 'better-sqlite3'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { crc32 } from 'node:zlib'

/** SQLite's files are sound, the lock of a query that has ended is free, and no temp file, checksum or process is left. */
export function checkLeftovers({ folder, violations }, { queries, pids = [] }) {
  const names = readdirSync(folder, { recursive: true })
  for (const name of names.filter((entry) => entry.endsWith('.db'))) checkDatabase({ folder, violations }, name, queries)
  const isAwaited = queries.some(({ isUnhealed }) => isUnhealed)
  const mayRemain = (name) =>
    name.startsWith(`tables${sep}`)
      ? isAwaited
      : queries.some(
          (query) =>
            query.hasDied &&
            name
              .split(sep)[1]
              ?.replace(/^\.reset-/, '')
              .startsWith(query.name),
        )
  for (const name of names) if (isRemains(name) && !mayRemain(name)) violations.push(`${name} was left behind`)
  for (const name of names) checkChecksum({ folder, violations }, name)
  for (const pid of pids) if (isRunning(pid)) violations.push(`process ${pid} was left behind`)
}

function checkDatabase({ folder, violations }, name, queries) {
  const hasEnded = queries.some((query) => query.caughtUp && !query.isUnhealed && name === join('.locks', `${query.name}.db`))
  const database = new Database(join(folder, name), { readonly: !hasEnded, fileMustExist: true, timeout: 0 })
  try {
    const found = database.pragma('integrity_check', { simple: true })
    if (found !== 'ok') violations.push(`${name}: integrity_check says ${found}`)
    if (!hasEnded) return
    if (database.prepare('SELECT count(*) FROM holder').pluck().get() > 0) violations.push(`${name} names a holder after its query has ended`)
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
  } catch (error) {
    // A writer of the cache that was killed has left a journal, which the next one rolls back; readers do without the cache until then.
    if (error.code === 'SQLITE_READONLY_ROLLBACK' && name === join('tables', '_counts.db')) return
    violations.push(error.code === 'SQLITE_BUSY' ? `${name} is locked after its query has ended` : `${name}: ${error.message}`)
  } finally {
    database.close()
  }
}

/** Temp files, and folders that are being dropped or reset. */
function isRemains(name) {
  const last = name.split(sep).at(-1)
  return last.endsWith('.tmp') || last.startsWith('.dropped-') || last.startsWith('.reset-')
}

/** Hadoop's checksum beside a file: `crc`, a zero, the bytes of a chunk, and CRC-32 of each chunk. One of an earlier file would not fit. */
function checkChecksum({ folder, violations }, name) {
  const [, base] = /^\.(.+)\.crc$/.exec(name.split(sep).at(-1)) ?? []
  if (base === undefined) return
  const path = join(folder, name, '..', base)
  if (!existsSync(path)) return
  const [sums, content] = [readFileSync(join(folder, name)), readFileSync(path)]
  const chunk = sums.length >= 8 ? sums.readUInt32BE(4) : 0
  const count = chunk > 0 ? Math.ceil(content.length / chunk) : 0
  const fits =
    sums.subarray(0, 4).toString('latin1') === 'crc\0' &&
    sums.length === 8 + 4 * count &&
    Array.from({ length: count }, (_, index) => index).every(
      (index) => sums.readUInt32BE(8 + 4 * index) === crc32(content.subarray(index * chunk, (index + 1) * chunk)),
    )
  if (!fits) violations.push(`${name} is the checksum of another file`)
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/** Everything that lasts: names and sizes of files below tables and checkpoints, and the ledger. What a start says of itself is not in it. */
export function stateOf({ folder, database }) {
  const entries = ['tables', 'checkpoints'].flatMap((part) =>
    existsSync(join(folder, part)) ? readdirSync(join(folder, part), { recursive: true, withFileTypes: true }) : [],
  )
  const paths = entries.filter((entry) => entry.isFile() && !/^_(log|counts)\.db/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name))
  return new Map([
    ...paths.sort().map((path) => [path.slice(folder.length + 1), String(statSync(path).size)]),
    ['the ledger', JSON.stringify(database.prepare('SELECT * FROM ledger ORDER BY query_id, batch_id, attempt, write_number').all())],
    ['the log', JSON.stringify(database.prepare('SELECT table_key, count(*), max(version) FROM versions GROUP BY table_key').all())],
  ])
}

/** Recovering twice is recovering once: nothing is otherwise than it was at the last check. */
export function checkQuiet({ violations }, before, now) {
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name))
  if (changed.length > 0) violations.push(`a start that had nothing to do changed ${changed.length} things, for example ${changed[0]}`)
}
