/**
 * The checker: what must always hold after a recovery, judged from outside. It shares no code with src: it reads the files, the
 * SQLite databases, and the Parquet of live files with DuckDB, and its truth is the caller's own list of records, and of what
 * another engine did. `checker-query.mjs` judges a query, `checker-data-files.mjs` the data files, `checker-joint.mjs`
 * commits over several tables.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkDataFiles } from './checker-data-files.mjs'
import { livePaths, parquet, rowsOf } from './checker-duckdb.mjs'
import { checkJoint } from './checker-joint.mjs'
import { checkQuery, loadTruth, rejectedOf } from './checker-query.mjs'
import { replayTable } from './delta-replay.mjs'

/** Checks a workspace once. Types are in checker.d.mts. */
export async function checkWorkspace(folder, promised) {
  const checker = await openChecker(folder)
  try {
    return await checker.check(promised)
  } finally {
    checker.close()
  }
}

/** A checker that remembers what it saw, so that it also notices files that change once written. */
export async function openChecker(folder) {
  const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  // Spark's timestamps have no zone in Parquet, streamtop's are in UTC, and a table may have both.
  await duckdb.run("SET TimeZone = 'UTC'")
  const scratch = mkdtempSync(join(tmpdir(), 'streamtop-checker-'))
  /** Content of files that must never change, by path; source offsets of batches, by query id and number. */
  const memory = { contents: new Map(), ends: new Map(), checkedFiles: new Set() }
  return {
    async check(told) {
      const promised = { ...told, queries: told.queries.flatMap(eachTable) }
      const violations = []
      const checkUnchanged = (path, content) => {
        const before = memory.contents.get(path)
        if (before !== undefined && before !== content) violations.push(`${path} changed after it was written`)
        memory.contents.set(path, content)
      }
      const look = {
        folder,
        duckdb,
        scratch,
        memory,
        violations,
        checkUnchanged,
        tables: readTables(folder),
        others: versionsOfOthers(promised),
        database: new Database(join(folder, 'tables', '_log.db'), { readonly: true }),
      }
      try {
        checkLogs(look, promised)
        checkWriters(look)
        checkJoint(look, promised)
        await checkDataFiles(look)
        if (promised.topic !== undefined) await loadTruth(look, promised)
        for (const query of promised.queries) await checkQuery(look, query)
        for (const said of promised.said ?? []) await checkCounts(look, said)
        checkLeftovers(look, promised)
      } catch (error) {
        // What cannot be read is wrong too; mostly the reason stands in an earlier violation.
        violations.push(`the checker could not go on: ${error.message}`)
      } finally {
        look.database.close()
      }
      return violations
    },
    close() {
      duckdb.closeSync()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

function readTables(folder) {
  const root = join(folder, 'tables')
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, '_delta_log')))
  return new Map(names.map((name) => [name, replayTable(join(root, name))]))
}

/** A query that writes several tables is judged by each of them. */
function eachTable({ alsoWrites = [], ...query }) {
  return [query, ...alsoWrites.map((table) => ({ ...query, other: undefined, ...table }))]
}

/** By table, the versions that another engine is said to have written, each with its batch. */
function versionsOfOthers({ queries }) {
  return new Map(queries.flatMap(({ table, other }) => (other ? [[table, other.versions]] : [])))
}

/**
 * Versions without a gap, on disk and in SQLite, of the same text; a version never changes. Of a table that awaits its healing
 * SQLite may lack the newest.
 */
function checkLogs({ folder, tables, database, checkUnchanged, violations }, { queries }) {
  const logged = database.prepare("SELECT version, text FROM versions JOIN tables USING (table_key) WHERE name = ? AND state = 'live' ORDER BY version")
  for (const [name, { versions, problems }] of tables) {
    violations.push(...problems)
    const rows = logged.all(name)
    const mayLack = queries.some(({ table, isUnhealed }) => isUnhealed && (table === name || rejectedOf(table) === name))
    if (rows.length > versions.length || (rows.length < versions.length && !mayLack))
      violations.push(`table ${name} has ${versions.length} versions in _delta_log and ${rows.length} in _log.db`)
    for (const [index, { version, text }] of versions.entries()) {
      checkUnchanged(join(folder, 'tables', name, String(version)), text)
      if (index >= rows.length && mayLack) continue
      if (rows[index]?.version !== version || rows[index]?.text !== text)
        violations.push(`version ${version} of ${name} is another text in _log.db than in _delta_log`)
    }
  }
}

/** Each version is streamtop's, or one of those that the test says another engine wrote; a txn in one of these has the number of its batch. */
function checkWriters({ tables, others, violations }) {
  for (const [name, { versions }] of tables) {
    for (const { version, actions } of versions) {
      const engine = actions.find(({ commitInfo }) => commitInfo)?.commitInfo.engineInfo ?? 'nobody who says so'
      const isSaid = others.get(name)?.has(version) ?? false
      if (engine.startsWith('streamtop/') === isSaid)
        violations.push(`version ${version} of ${name} was written by ${engine}, and the test says ${isSaid ? 'another engine' : 'streamtop'}`)
      if (!isSaid) continue
      const batch = others.get(name).get(version)
      for (const { txn } of actions) if (txn && txn.version !== batch) violations.push(`version ${version} of ${name} has txn ${txn.version}, not ${batch}`)
    }
  }
  for (const [name, said] of others) {
    const count = tables.get(name)?.versions.length ?? 0
    for (const version of said.keys()) if (version >= count) violations.push(`${name} has no version ${version}, which another engine is said to have written`)
  }
}

async function checkCounts({ folder, tables, duckdb, violations }, { table, rows, distinct }) {
  const paths = livePaths(folder, tables, table)
  const source = `(SELECT * EXCLUDE (filename) FROM (${parquet(paths)}))`
  const counts = `SELECT count(*)::INTEGER AS rows, (SELECT count(*)::INTEGER FROM (SELECT DISTINCT * FROM ${source})) AS distinct FROM ${source}`
  const [found] = paths.length === 0 ? [{ rows: 0, distinct: 0 }] : await rowsOf(duckdb, counts)
  if (found.rows !== rows || found.distinct !== distinct) {
    violations.push(`streamtop said that ${table} has ${rows} rows, ${distinct} different; a recount says ${found.rows} and ${found.distinct}`)
  }
}

/** SQLite's files are sound, a query that has ended is not said to hold its lock, and no temp file lies about. */
function checkLeftovers({ folder, violations }, { queries }) {
  const names = readdirSync(folder, { recursive: true })
  for (const name of names.filter((entry) => entry.endsWith('.db'))) {
    const database = new Database(join(folder, name), { readonly: true })
    const found = database.pragma('integrity_check', { simple: true })
    if (found !== 'ok') violations.push(`${name}: integrity_check says ${found}`)
    const hasEnded = queries.some((query) => query.caughtUp && !query.isUnhealed && name === join('.locks', `${query.name}.db`))
    if (hasEnded && database.prepare('SELECT count(*) FROM holder').pluck().get() > 0) violations.push(`${name} names a holder after its query has ended`)
    database.close()
  }
  for (const name of names) if (name.endsWith('.tmp')) violations.push(`${name} was left behind`)
}
