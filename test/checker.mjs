/**
 * The first checker: what must always hold after a recovery, judged from outside. It shares no code with src: it reads the
 * files, the SQLite databases, and the Parquet of live files with DuckDB, and its truth is the caller's own list of records.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesInStreamOrder, filesTaken, replayTable } from './delta-replay.mjs'

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
  const scratch = mkdtempSync(join(tmpdir(), 'streamtop-checker-'))
  /** Content of files that must never change, by path; source offsets of batches, by query id and number. */
  const memory = { contents: new Map(), ends: new Map(), checkedFiles: new Set() }
  return {
    async check(promised) {
      const violations = []
      const look = {
        folder,
        duckdb,
        scratch,
        memory,
        violations,
        tables: readTables(folder),
        database: new Database(join(folder, 'tables', '_log.db'), { readonly: true }),
      }
      try {
        checkLogs(look)
        await checkDataFiles(look)
        await loadTruth(look, promised)
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

/** Versions without a gap, on disk and in SQLite, of the same text; a version never changes. */
function checkLogs({ folder, tables, database, memory, violations }) {
  const logged = database.prepare("SELECT version, text FROM versions JOIN tables USING (table_key) WHERE name = ? AND state = 'live' ORDER BY version")
  for (const [name, { versions, problems }] of tables) {
    violations.push(...problems)
    const rows = logged.all(name)
    if (rows.length !== versions.length) violations.push(`table ${name} has ${versions.length} versions in _delta_log and ${rows.length} in _log.db`)
    for (const [index, { version, text }] of versions.entries()) {
      if (rows[index]?.version !== version || rows[index]?.text !== text)
        violations.push(`version ${version} of ${name} is another text in _log.db than in _delta_log`)
      checkUnchanged(memory, violations, join(folder, 'tables', name, String(version)), text)
    }
  }
}

function checkUnchanged(memory, violations, path, content) {
  const before = memory.contents.get(path)
  if (before !== undefined && before !== content) violations.push(`${path} changed after it was written`)
  memory.contents.set(path, content)
}

/** Every live file is there, with as many rows as its statistics say, within their bounds. */
async function checkDataFiles({ folder, tables, duckdb, memory, violations }) {
  for (const [name, { versions, live }] of tables) {
    const schema = versions.flatMap(({ actions }) => actions).findLast(({ metaData }) => metaData)?.metaData.schemaString
    const types = new Map(JSON.parse(schema).fields.map((field) => [field.name, field.type]))
    for (const add of live.values()) {
      const path = join(folder, 'tables', name, add.path)
      if (memory.checkedFiles.has(path) && existsSync(path)) continue
      memory.checkedFiles.add(path)
      if (!existsSync(path)) violations.push(`${path} is live and is not there`)
      else if (statSync(path).size !== add.size) violations.push(`${path} has ${statSync(path).size} bytes, and its add says ${add.size}`)
      else violations.push(...(await statisticsProblems(duckdb, path, JSON.parse(add.stats), types)))
    }
  }
}

async function statisticsProblems(duckdb, path, stats, types) {
  const rules = [`count(*) <> ${stats.numRecords} AS "numRecords"`]
  for (const [column, bound] of Object.entries(stats.minValues ?? {}))
    rules.push(`min(${comparable(column, types)}) < ${literal(bound, types.get(column))} AS "minValues.${column}"`)
  for (const [column, bound] of Object.entries(stats.maxValues ?? {}))
    rules.push(`max(${comparable(column, types)}) > ${literal(bound, types.get(column))} AS "maxValues.${column}"`)
  for (const [column, count] of Object.entries(stats.nullCount ?? {})) rules.push(`count(*) - count("${column}") <> ${count} AS "nullCount.${column}"`)
  const [found] = await rowsOf(duckdb, `SELECT ${rules.join(', ')} FROM read_parquet('${path}')`)
  return Object.keys(found)
    .filter((rule) => found[rule] === true)
    .map((rule) => `${path}: ${rule} of its statistics is not true`)
}

function comparable(column, types) {
  return types.get(column) === 'timestamp' ? `epoch_us("${column}")` : `"${column}"`
}

function literal(bound, type) {
  if (type === 'timestamp') return Date.parse(bound) * 1000
  return typeof bound === 'string' ? `'${bound.replaceAll("'", "''")}'` : bound
}

/** Each sent record is in the topic once, without a hole; from here on `truth` says what lies at which offset. */
async function loadTruth({ folder, scratch, duckdb, violations }, { topic, sent }) {
  const database = new Database(join(folder, 'topics.db'), { readonly: true })
  const records = database
    .prepare('SELECT partition, "offset", timestamp_ms, value FROM records JOIN topics ON topics.number = records.topic WHERE name = ? ORDER BY 1, 2')
    .all(topic)
  database.close()
  const byValue = new Map(sent.map((record) => [record.value, record]))
  const next = new Map()
  const lines = records.map((record) => {
    const { order_id, customer_id, status, amount, event_time_us } = byValue.get(record.value.toString('utf8')) ?? {}
    if (record.offset !== (next.get(record.partition) ?? 0))
      violations.push(`topic ${topic}, partition ${record.partition} has a hole before offset ${record.offset}`)
    next.set(record.partition, record.offset + 1)
    return [record.partition, record.offset, record.timestamp_ms * 1000, order_id, customer_id, status, amount, event_time_us].join(',')
  })
  const values = new Set(records.map(({ value }) => value.toString('utf8')))
  if (records.length !== sent.length || values.size !== sent.length || sent.some(({ value }) => !values.has(value))) {
    violations.push(`${sent.length} records were sent to topic ${topic}; it holds ${records.length}, ${values.size} of them different`)
  }
  const csv = join(scratch, 'truth.csv')
  writeFileSync(csv, lines.join('\n'))
  await duckdb.run(`CREATE OR REPLACE TABLE truth AS SELECT * FROM read_csv('${csv}', header = false, columns = ${TRUTH_COLUMNS})`)
}

const TRUTH_COLUMNS = `{partition: 'INTEGER', "offset": 'BIGINT', timestamp_us: 'BIGINT', order_id: 'INTEGER', customer_id: 'VARCHAR', status: 'VARCHAR', amount: 'DECIMAL(10,2)', event_time_us: 'BIGINT'}`
const ORDER_COLUMNS = 'order_id, customer_id, status, amount, epoch_us(event_time) AS event_time_us'
const EVENT_COLUMNS = `partition, "offset", epoch_us(timestamp) AS timestamp_us, ${ORDER_COLUMNS}`

async function checkQuery(look, query) {
  const checkpoint = readCheckpoint(look, query)
  if (checkpoint === null) return
  checkCheckpoint(look, query, checkpoint)
  const batches = checkLedger(look, query, checkpoint)
  await loadBatches(look, query, checkpoint, batches)
  if (query.caughtUp) await checkCaughtUp(look, query, checkpoint)
  if (query.holds === 'every-row') await checkEveryRow(look, query)
  else await checkNewest(look, query)
}

function readCheckpoint({ folder, memory }, { name }) {
  const root = join(folder, 'checkpoints', name)
  if (!existsSync(join(root, 'metadata'))) return null
  const { id } = JSON.parse(readFileSync(join(root, 'metadata'), 'utf8'))
  const numbers = (log) =>
    readdirSync(join(root, log))
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .sort((a, b) => a - b)
  const [offsets, commits] = [numbers('offsets'), numbers('commits')]
  /** Where each batch ended. What was purged since is still known to a checker that saw it. */
  const ends = memory.ends.get(id) ?? new Map()
  memory.ends.set(id, ends)
  for (const batch of offsets) ends.set(batch, readFileSync(join(root, 'offsets', String(batch)), 'utf8').split('\n')[2])
  const initialPath = join(root, 'sources', '0', '0')
  const initial = existsSync(initialPath) ? readFileSync(initialPath, 'utf8').split('\n')[1] : null
  return { root, id, offsets, commits, ends, initial }
}

/** No gap in the offsets, every commit has its offsets, at most the newest batch is not committed, and no file changes. */
function checkCheckpoint({ memory, violations }, { name }, { root, offsets, commits }) {
  for (const [log, batches] of [
    ['offsets', offsets],
    ['commits', commits],
  ]) {
    for (const [index, batch] of batches.entries()) {
      if (batch !== batches[0] + index) violations.push(`${log} of ${name} has batch ${batch} after ${batches[index - 1]}`)
      checkUnchanged(memory, violations, join(root, log, String(batch)), readFileSync(join(root, log, String(batch)), 'utf8'))
    }
  }
  for (const batch of commits) if (!offsets.includes(batch)) violations.push(`batch ${batch} of ${name} is committed and has no offsets`)
  if ((offsets.at(-1) ?? -1) - (commits.at(-1) ?? -1) > 1)
    violations.push(`${name} has offsets up to ${offsets.at(-1)} and commits up to ${commits.at(-1) ?? 'none'}`)
}

/**
 * Ledger, commitInfo and offsets agree on each range, and a committed batch has a filled row.
 * @returns how often each batch must be in the table
 */
function checkLedger({ tables, database, violations }, query, { id, commits, ends, initial }) {
  const { name, table, exactlyOnce } = query
  const checkRange = (what, batch, start, end) => {
    if (ends.has(batch) && end !== ends.get(batch))
      violations.push(`${what} says that batch ${batch} of ${name} ends at ${end}, and its offsets say ${ends.get(batch)}`)
    const before = batch === 0 ? initial : ends.get(batch - 1)
    if (before !== undefined && start !== before)
      violations.push(`${what} says that batch ${batch} of ${name} starts at ${start}, and batch ${batch - 1} ends at ${before}`)
  }
  const rows = database.prepare('SELECT batch_id AS batch, range_start AS start, range_end AS end, outcome FROM ledger WHERE query_id = ?').all(id)
  for (const { batch, start, end } of rows) checkRange('the ledger', batch, start, end)
  for (const { version, actions } of tables.get(table)?.versions ?? []) {
    const by = actions.find(({ commitInfo }) => commitInfo)?.commitInfo.streamtop
    if (by?.queryId === id) checkRange(`version ${version} of ${table}`, by.batch, by.start, by.end)
  }
  for (const batch of commits) {
    if (!rows.some((row) => row.batch === batch && row.outcome !== 'started'))
      violations.push(`batch ${batch} of ${name} is committed, and the ledger knows no write of it`)
  }
  return [...ends.keys()].map((batch) => {
    const written = rows.filter((row) => row.batch === batch && row.outcome === 'committed').length
    const isCommitted = commits.includes(batch) || batch < (commits[0] ?? 0)
    // A MERGE that changed nothing leaves no version, so its batch may be done and never written; any other batch may not.
    if (isCommitted && written === 0 && query.holds === 'every-row') violations.push(`batch ${batch} of ${name} is committed and was never written`)
    return { batch, copies: exactlyOnce ? Math.min(written, 1) : written, isDone: isCommitted || written > 0 }
  })
}

/** Makes `input`: every source row that a logged batch took, with the batch and how often the batch was written. */
async function loadBatches(look, query, { ends, initial }, batches) {
  const { folder, tables, duckdb } = look
  if ('topic' in query.source) {
    const ranges = batches.flatMap(({ batch, copies, isDone }) => {
      const [from, to] = [batch === 0 ? initial : ends.get(batch - 1), ends.get(batch)].map((text) => (text ? JSON.parse(text)[query.source.topic] : {}))
      return Object.entries(to).map(([partition, end]) => `(${batch}, ${copies}, ${isDone}, ${partition}, ${from[partition] ?? 0}, ${end})`)
    })
    await duckdb.run(`CREATE OR REPLACE TEMP TABLE input AS SELECT batch, copies, is_done, truth.* FROM truth JOIN (${valuesOf(ranges, 'batch, copies, is_done, partition, first, past')}) r
      ON truth.partition = r.partition AND truth."offset" >= first AND truth."offset" < past`)
    return
  }
  const { versions } = tables.get(query.source.table)
  const first = JSON.parse(ends.get(0))
  const stream = filesInStreamOrder(versions, first.isStartingVersion ? first.reservoirVersion : first.reservoirVersion - 1)
  const files = batches.flatMap(({ batch, copies, isDone }) => {
    const from = batch === 0 ? 0 : filesTaken(stream, JSON.parse(ends.get(batch - 1)))
    return stream
      .slice(from, filesTaken(stream, JSON.parse(ends.get(batch))))
      .map(({ path }) => `(${batch}, ${copies}, ${isDone}, '${join(folder, 'tables', query.source.table, path)}')`)
  })
  await duckdb.run(`CREATE OR REPLACE TEMP TABLE input AS SELECT batch, copies, is_done, ${EVENT_COLUMNS}
    FROM (${parquet(stream.map(({ path }) => join(folder, 'tables', query.source.table, path)))}) JOIN (${valuesOf(files, 'batch, copies, is_done, path')}) r ON filename = r.path`)
}

/** What a query that ended by itself may not have left out: anything that was there. */
async function checkCaughtUp({ duckdb, tables, violations }, { name, source }, { offsets, commits, ends }) {
  if (offsets.at(-1) !== commits.at(-1)) violations.push(`${name} ended, and batch ${offsets.at(-1)} is not committed`)
  if ('topic' in source) {
    const [{ left }] = await rowsOf(
      duckdb,
      'SELECT count(*)::INTEGER AS left FROM (SELECT partition, "offset" FROM truth EXCEPT SELECT partition, "offset" FROM input)',
    )
    if (left > 0) violations.push(`${name} ended, and ${left} records of topic ${source.topic} are in no batch`)
  } else {
    const newest = tables.get(source.table).versions.at(-1).version
    const end = JSON.parse(ends.get(offsets.at(-1)))
    if (end.reservoirVersion !== newest + 1) violations.push(`${name} ended at version ${end.reservoirVersion} of ${source.table}, whose newest is ${newest}`)
  }
}

/** No loss, no duplicate: each row of a batch is in the table exactly as often as the batch was written. */
async function checkEveryRow({ folder, tables, duckdb, violations }, { name, table }) {
  await compare(duckdb, violations, `${name}: rows of ${table}`, {
    columns: 'partition, "offset", timestamp_us, order_id, customer_id, status, amount, event_time_us',
    expected: 'SELECT *, copies AS n FROM input WHERE copies > 0',
    actual: selectLive(folder, tables, table, EVENT_COLUMNS),
  })
}

/** The table is the fold of the input: of each order the newest event; of equal times the later record in a batch, the earlier batch. */
async function checkNewest({ folder, tables, duckdb, violations }, { name, table }) {
  await compare(duckdb, violations, `${name}: rows of ${table}`, {
    columns: 'order_id, customer_id, status, amount, event_time_us',
    expected: `SELECT *, 1 AS n FROM input WHERE is_done
      QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY event_time_us DESC, batch, partition DESC, "offset" DESC) = 1`,
    actual: selectLive(folder, tables, table, ORDER_COLUMNS),
  })
}

function selectLive(folder, tables, table, columns) {
  const paths = livePaths(folder, tables, table)
  return paths.length === 0 ? 'SELECT *, 0 AS n FROM input WHERE false' : `SELECT ${columns}, 1 AS n FROM (${parquet(paths)})`
}

/** Compares two multisets of rows, `n` of each, and says how they differ, with the first row that does. */
async function compare(duckdb, violations, what, { columns, expected, actual }) {
  const differing = await rowsOf(
    duckdb,
    `SELECT ${columns}, sum(expected)::INTEGER AS expected, sum(actual)::INTEGER AS actual
     FROM (SELECT ${columns}, n AS expected, 0 AS actual FROM (${expected}) UNION ALL SELECT ${columns}, 0, n FROM (${actual}))
     GROUP BY ${columns} HAVING sum(expected) <> sum(actual) ORDER BY ${columns}`,
  )
  const shown = ({ expected: wanted, actual: found, ...row }) => `${Object.values(row).join(' ')} (${found} times, not ${wanted})`
  const missing = differing.filter((row) => row.actual < row.expected)
  const extra = differing.filter((row) => row.actual > row.expected)
  if (missing.length > 0) violations.push(`${what}: ${missing.length} are missing, for example ${shown(missing[0])}`)
  if (extra.length > 0) violations.push(`${what}: ${extra.length} are too many, for example ${shown(extra[0])}`)
}

async function checkCounts({ folder, tables, duckdb, violations }, { table, rows, distinct }) {
  const source = `(SELECT * EXCLUDE (filename) FROM (${parquet(livePaths(folder, tables, table))}))`
  const [found] = await rowsOf(
    duckdb,
    `SELECT count(*)::INTEGER AS rows, (SELECT count(*)::INTEGER FROM (SELECT DISTINCT * FROM ${source})) AS distinct FROM ${source}`,
  )
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
    const hasEnded = queries.some((query) => query.caughtUp && name === join('.locks', `${query.name}.db`))
    if (hasEnded && database.prepare('SELECT count(*) FROM holder').pluck().get() > 0) violations.push(`${name} names a holder after its query has ended`)
    database.close()
  }
  for (const name of names) if (name.endsWith('.tmp')) violations.push(`${name} was left behind`)
}

function livePaths(folder, tables, table) {
  return [...(tables.get(table)?.live.keys() ?? [])].map((path) => join(folder, 'tables', table, path))
}

function parquet(paths) {
  return `SELECT * FROM read_parquet([${paths.map((path) => `'${path}'`).join(', ')}], filename = true)`
}

function valuesOf(tuples, columns) {
  return `SELECT * FROM (VALUES ${tuples.join(', ')}) v(${columns})`
}

async function rowsOf(duckdb, sql) {
  return (await duckdb.runAndReadAll(sql)).getRowObjectsJS()
}
