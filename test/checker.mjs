/**
 * The checker: what must always hold after a recovery, judged from outside. It shares no code with src: it reads the files, the
 * SQLite databases, and the Parquet of live files with DuckDB, and its truth is the caller's own list of records, and of what
 * another engine did. `checker-query.mjs` judges a query, `checker-contents.mjs` what its table holds, `checker-data-files.mjs` the
 * data files, `checker-joint.mjs` commits over several tables, `checker-readers.mjs` what readers saw, `checker-leftovers.mjs` what
 * is left behind.
 */
import Database from 'better-sqlite3'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readTruth, rejectedOf } from './checker-contents.mjs'
import { checkDataFiles, orphanCount } from './checker-data-files.mjs'
import { connectDuckDb, livePaths, parquet, rowsOf } from './checker-duckdb.mjs'
import { checkJoint } from './checker-joint.mjs'
import { checkLeftovers, checkQuiet, stateOf } from './checker-leftovers.mjs'
import { checkQuery } from './checker-query.mjs'
import { checkLooks } from './checker-readers.mjs'
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
  const duckdb = await connectDuckDb()
  const memory = {
    /** Content of files that must never change, by their table or query and path. */
    contents: new Map(),
    /** Data files that were looked at, with the time of their last change. */
    dataFiles: new Map(),
    /** Their rows, by what was read of them. */
    rows: new Map(),
    /** Source offsets of batches, by query id and number. */
    ends: new Map(),
    /** The newest committed batch of each query id. */
    committed: new Map(),
    /** What readers saw that is not judged yet. */
    looks: [],
    /** The newest version of each table that a reader saw, by table id. */
    seen: new Map(),
    /** What lay there at the last check; null before the first. */
    state: null,
  }
  return {
    async check(told) {
      const promised = { ...told, queries: told.queries.flatMap(eachTable) }
      const violations = []
      /** `id` is of the table or the query: another one's file may have the same name. */
      const checkUnchanged = (id, path, content) => {
        const before = memory.contents.get(`${id} ${path}`)
        if (before !== undefined && before !== content) violations.push(`${path} changed after it was written`)
        memory.contents.set(`${id} ${path}`, content)
      }
      const look = {
        folder,
        duckdb,
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
        memory.looks.push(...(promised.looks ?? []))
        // A reader may see what whoever recovers will link.
        if (!promised.queries.some(({ isUnhealed }) => isUnhealed)) checkLooks(look, memory.looks.splice(0))
        await checkDataFiles(look)
        if (promised.topic !== undefined) look.truth = readTruth(look, promised)
        for (const query of promised.queries) await checkQuery(look, query)
        for (const said of promised.said ?? []) await checkSaid(look, said)
        checkLeftovers(look, promised)
        const state = stateOf(look)
        if (promised.isQuiet && memory.state !== null) checkQuiet(look, memory.state, state)
        memory.state = state
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
    },
  }
}

function readTables(folder) {
  const root = join(folder, 'tables')
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, '_delta_log')))
  // A folder without a version is that of a table whose first commit died.
  return new Map(names.map((name) => [name, replayTable(join(root, name))]).filter(([, { versions }]) => versions.length > 0))
}

/** A query that writes several tables is judged by each of them. */
function eachTable({ alsoWrites = [], ...query }) {
  return [query, ...alsoWrites.map((table) => ({ ...query, other: undefined, hasGoneOn: false, ...table }))]
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
    const id = versions.flatMap(({ actions }) => actions).find(({ metaData }) => metaData)?.metaData.id
    for (const [index, { version, text }] of versions.entries()) {
      checkUnchanged(id, join(folder, 'tables', name, String(version)), text)
      if (index >= rows.length && mayLack) continue
      if (rows[index]?.version !== version || rows[index]?.text !== text)
        violations.push(`version ${version} of ${name} is another text in _log.db than in _delta_log`)
    }
  }
}

/**
 * A txn of streamtop's native sink is that of its query and batch: its operation says both. Each version is streamtop's, or one of those that the test says another engine wrote; a txn in one of these has the number of
 * its batch.
 */
function checkWriters({ tables, others, violations }) {
  for (const [name, { versions }] of tables) {
    for (const { version, actions } of versions) {
      const engine = actions.find(({ commitInfo }) => commitInfo)?.commitInfo.engineInfo ?? 'nobody who says so'
      const isSaid = others.get(name)?.has(version) ?? false
      if (engine.startsWith('streamtop/') === isSaid)
        violations.push(`version ${version} of ${name} was written by ${engine}, and the test says ${isSaid ? 'another engine' : 'streamtop'}`)
      if (!isSaid) {
        checkNativeTxn(violations, name, version, actions)
        continue
      }
      const batch = others.get(name).get(version)
      for (const { txn } of actions) if (txn && txn.version !== batch) violations.push(`version ${version} of ${name} has txn ${txn.version}, not ${batch}`)
    }
  }
  for (const [name, said] of others) {
    const count = tables.get(name)?.versions.length ?? 0
    for (const version of said.keys()) if (version >= count) violations.push(`${name} has no version ${version}, which another engine is said to have written`)
  }
}

function checkNativeTxn(violations, name, version, actions) {
  const { operation, operationParameters = {} } = actions.find(({ commitInfo }) => commitInfo)?.commitInfo ?? {}
  if (operation !== 'STREAMING UPDATE') return
  const { queryId, epochId } = operationParameters
  for (const { txn } of actions)
    if (txn && (txn.appId !== queryId || txn.version !== Number(epochId)))
      violations.push(`version ${version} of ${name} has txn (${txn.appId}, ${txn.version}), and was written by query ${queryId} as batch ${epochId}`)
}

/** Counts equal a recount of the files that the log names, whatever else lies beside them. */
async function checkSaid({ folder, tables, duckdb, violations }, { table, rows, distinct, orphans }) {
  const paths = livePaths(folder, tables, table)
  const source = `(SELECT * EXCLUDE (filename) FROM (${parquet(paths)}))`
  const counts = `SELECT count(*)::INTEGER AS rows, (SELECT count(*)::INTEGER FROM (SELECT DISTINCT * FROM ${source})) AS distinct FROM ${source}`
  const [found] = paths.length === 0 ? [{ rows: 0, distinct: 0 }] : await rowsOf(duckdb, counts)
  if (found.rows !== rows || found.distinct !== distinct) {
    violations.push(`streamtop said that ${table} has ${rows} rows, ${distinct} different; a recount says ${found.rows} and ${found.distinct}`)
  }
  const lying = orphanCount(folder, tables, table)
  if (orphans !== undefined && orphans !== lying) violations.push(`streamtop said that ${table} has ${orphans} orphans, and ${lying} lie there`)
}
