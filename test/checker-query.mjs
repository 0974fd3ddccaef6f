/**
 * The checker's look at a query: its checkpoint, its ledger, and that its table has the rows of its batches, each as often as it
 * must. Part of the checker, so it shares nothing with src.
 */
import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { livePaths, parquet, rowsOf, valuesOf } from './checker-duckdb.mjs'
import { filesInStreamOrder, filesTaken } from './delta-replay.mjs'

/** Each sent record is in the topic once, without a hole; from here on `truth` says what lies at which offset. A bad record is known by its bytes. */
export async function loadTruth({ folder, scratch, duckdb, violations }, { topic, sent, bad = [] }) {
  const database = new Database(join(folder, 'topics.db'), { readonly: true })
  const records = database
    .prepare('SELECT partition, "offset", timestamp_ms, key, value FROM records JOIN topics ON topics.number = records.topic WHERE name = ? ORDER BY 1, 2')
    .all(topic)
  database.close()
  const byValue = new Map(sent.map((record) => [digestOf(Buffer.from(record.value)), record]))
  const badValues = bad.map(({ value }) => digestOf(value))
  const next = new Map()
  const lines = records.map((record) => {
    const value = digestOf(record.value)
    const { order_id, customer_id, status, amount, event_time_us } = byValue.get(value) ?? {}
    if (record.offset !== (next.get(record.partition) ?? 0))
      violations.push(`topic ${topic}, partition ${record.partition} has a hole before offset ${record.offset}`)
    next.set(record.partition, record.offset + 1)
    const fields = [record.partition, record.offset, record.timestamp_ms * 1000, badValues.includes(value), digestOf(record.key), value]
    fields.push(order_id, customer_id, status, amount, event_time_us)
    return fields.map((field) => (typeof field === 'string' ? `"${field.replaceAll('"', '""')}"` : (field ?? ''))).join(',')
  })
  const values = records.map(({ value }) => digestOf(value)).sort()
  if (values.join() !== [...byValue.keys(), ...badValues].sort().join() || byValue.size !== sent.length) {
    violations.push(`${sent.length + bad.length} records were sent to topic ${topic}; it holds ${records.length}, ${new Set(values).size} of them different`)
  }
  const csv = join(scratch, 'truth.csv')
  writeFileSync(csv, lines.join('\n'))
  await duckdb.run(
    `CREATE OR REPLACE TABLE truth AS SELECT * FROM read_csv('${csv}', auto_detect = false, delim = ',', quote = '"', escape = '"', columns = ${TRUTH_COLUMNS})`,
  )
}

const TRUTH_COLUMNS = `{partition: 'INTEGER', "offset": 'BIGINT', timestamp_us: 'BIGINT', is_bad: 'BOOLEAN', key_digest: 'VARCHAR', value_digest: 'VARCHAR', order_id: 'INTEGER', customer_id: 'VARCHAR', status: 'VARCHAR', amount: 'DECIMAL(10,2)', event_time_us: 'BIGINT'}`
const TRUTH_OF_A_TABLE = `false AS is_bad, '' AS key_digest, '' AS value_digest`
const ORDER_COLUMNS = 'order_id, customer_id, status, amount, epoch_us(event_time) AS event_time_us'
const EVENT_COLUMNS = `partition, "offset", epoch_us(timestamp) AS timestamp_us, ${ORDER_COLUMNS}`

/** A query without a checkpoint has not begun. */
export async function checkQuery(look, query) {
  const checkpoint = readCheckpoint(look, query)
  if (checkpoint === null) {
    if (query.caughtUp) look.violations.push(`${query.name} ended, and has no checkpoint`)
    return
  }
  checkCheckpoint(look, query, checkpoint)
  const batches = checkLedger(look, query, checkpoint)
  if (batches.length === 0) {
    if (look.tables.get(query.table)?.live.size > 0) look.violations.push(`${query.table} has rows, and ${query.name} has logged no batch`)
    return
  }
  if (query.holds === 'unknown') return
  await loadBatches(look, query, checkpoint, batches)
  if (query.caughtUp) await checkCaughtUp(look, query, checkpoint)
  if ('topic' in query.source) await checkRejected(look, query)
  if (query.holds === 'every-row') await checkEveryRow(look, query)
  else await checkNewest(look, query)
}

/**
 * `offsets` and `commits` are the numbers of the files. `ends` says where each batch ended: what was purged since is still known to
 * a checker that saw it, and of a file that the test took away or damaged the ledger says it.
 */
function readCheckpoint({ folder, memory, database }, { name, damaged = [] }) {
  const root = join(folder, 'checkpoints', name)
  if (!existsSync(join(root, 'metadata'))) return null
  const { id } = JSON.parse(readFileSync(join(root, 'metadata'), 'utf8'))
  const numbers = (log) =>
    (existsSync(join(root, log)) ? readdirSync(join(root, log)) : [])
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .sort((a, b) => a - b)
  const [offsets, commits] = [numbers('offsets'), numbers('commits')]
  const ends = memory.ends.get(id) ?? new Map()
  memory.ends.set(id, ends)
  const said = database.prepare('SELECT range_end FROM ledger WHERE query_id = ? AND batch_id = ?').pluck()
  for (const batch of damaged.flatMap((file) => /^offsets\/(\d+)$/.exec(file)?.[1] ?? [])) ends.set(Number(batch), said.get(id, batch))
  for (const batch of offsets)
    if (!damaged.includes(`offsets/${batch}`)) ends.set(batch, readFileSync(join(root, 'offsets', String(batch)), 'utf8').split('\n')[2])
  const initialPath = join(root, 'sources', '0', '0')
  const initial = existsSync(initialPath) ? readFileSync(initialPath, 'utf8').split('\n')[1] : null
  return { root, id, offsets, commits, ends, initial }
}

/** No gap in the offsets, every commit has its offsets, at most the newest batch is not committed, and no file changes. */
function checkCheckpoint({ checkUnchanged, violations }, { name, damaged = [] }, { root, offsets, commits }) {
  for (const [log, batches] of [
    ['offsets', offsets],
    ['commits', commits],
  ]) {
    for (const [index, batch] of batches.entries()) {
      const before = index === 0 ? batch - 1 : batches[index - 1]
      for (let missing = before + 1; missing < batch; missing++)
        if (!damaged.includes(`${log}/${missing}`)) violations.push(`${log} of ${name} has batch ${batch} after ${before}`)
      checkUnchanged(join(root, log, String(batch)), readFileSync(join(root, log, String(batch)), 'utf8'))
    }
  }
  for (const batch of commits)
    if (!offsets.includes(batch) && !damaged.includes(`offsets/${batch}`)) violations.push(`batch ${batch} of ${name} is committed and has no offsets`)
  if ((offsets.at(-1) ?? -1) - (commits.at(-1) ?? -1) > 1)
    violations.push(`${name} has offsets up to ${offsets.at(-1)} and commits up to ${commits.at(-1) ?? 'none'}`)
}

/**
 * Ledger, commitInfo and offsets agree on each range, and a batch that streamtop committed has a filled row.
 * @returns how often each batch must be in the table
 */
function checkLedger({ tables, database, violations }, query, { id, commits, ends, initial }) {
  const { name, table, exactlyOnce, other } = query
  const checkRange = (what, batch, start, end) => {
    if (ends.has(batch) && end !== ends.get(batch))
      violations.push(`${what} says that batch ${batch} of ${name} ends at ${end}, and its offsets say ${ends.get(batch)}`)
    const before = batch === 0 ? initial : ends.get(batch - 1)
    if (before !== undefined && start !== before)
      violations.push(`${what} says that batch ${batch} of ${name} starts at ${start}, and batch ${batch - 1} ends at ${before}`)
  }
  const rows = database
    .prepare('SELECT batch_id AS batch, range_start AS start, range_end AS end, outcome, table_id AS tableId FROM ledger WHERE query_id = ?')
    .all(id)
  for (const { batch, start, end } of rows) checkRange('the ledger', batch, start, end)
  /** The batch of each version that has rows of one. */
  const written = new Map(other?.versions)
  const versions = tables.get(table)?.versions ?? []
  const tableId = versions.flatMap(({ actions }) => actions).find(({ metaData }) => metaData)?.metaData.id
  for (const { version, actions } of versions) {
    const by = actions.find(({ commitInfo }) => commitInfo)?.commitInfo.streamtop
    if (by?.queryId !== id) continue
    checkRange(`version ${version} of ${table}`, by.batch, by.start, by.end)
    written.set(version, by.batch)
  }
  for (const batch of commits) {
    if (!other?.commits.includes(batch) && !rows.some((row) => row.batch === batch && row.outcome !== 'started'))
      violations.push(`batch ${batch} of ${name} is committed, and the ledger knows no write of it`)
  }
  return [...ends.keys()]
    .sort((a, b) => a - b)
    .map((batch) => {
      const count = [...written.values()].filter((one) => one === batch).length
      const told = rows.filter((row) => row.batch === batch && row.outcome === 'committed' && row.tableId === tableId).length
      const byOther = [...(other?.versions.values() ?? [])].filter((one) => one === batch).length
      if (told !== count - byOther && !query.isUnhealed)
        violations.push(`the ledger says that batch ${batch} of ${name} was written ${told} times, and ${table} has ${count - byOther} versions of it`)
      const isCommitted = commits.includes(batch) || batch < (commits[0] ?? 0)
      // A MERGE that changed nothing leaves no version, so its batch may be done and never written; any other batch may not.
      if (isCommitted && count === 0 && query.holds === 'every-row') violations.push(`batch ${batch} of ${name} is committed and was never written`)
      return { batch, copies: exactlyOnce ? Math.min(count, 1) : count, isDone: isCommitted || count > 0 }
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
  const { startingVersion } = query
  const first = JSON.parse(ends.get(0))
  const snapshotVersion = startingVersion !== undefined ? startingVersion - 1 : first.isStartingVersion ? first.reservoirVersion : first.reservoirVersion - 1
  const stream = filesInStreamOrder(versions, snapshotVersion).filter(({ isInitial }) => !isInitial || startingVersion === undefined)
  const files = batches.flatMap(({ batch, copies, isDone }) => {
    const from = batch === 0 ? 0 : filesTaken(stream, JSON.parse(ends.get(batch - 1)))
    return stream
      .slice(from, filesTaken(stream, JSON.parse(ends.get(batch))))
      .map(({ path }) => `(${batch}, ${copies}, ${isDone}, '${join(folder, 'tables', query.source.table, path)}')`)
  })
  if (files.length === 0) {
    // A source whose versions have no rows.
    await duckdb.run('CREATE OR REPLACE TEMP TABLE input AS SELECT 0 AS batch, 0 AS copies, false AS is_done, truth.* FROM truth WHERE false')
    return
  }
  await duckdb.run(`CREATE OR REPLACE TEMP TABLE input AS SELECT batch, copies, is_done, ${TRUTH_OF_A_TABLE}, ${EVENT_COLUMNS}
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
async function checkEveryRow({ folder, tables, duckdb, violations }, { name, table, where = 'true' }) {
  await compare(duckdb, violations, `${name}: rows of ${table}`, {
    columns: 'partition, "offset", timestamp_us, order_id, customer_id, status, amount, event_time_us',
    expected: `SELECT *, copies AS n FROM input WHERE copies > 0 AND NOT is_bad AND (${where})`,
    actual: selectLive(folder, tables, table, EVENT_COLUMNS),
  })
}

/** Each bad record is in the table beside the query's, as often as its batch was written, with the bytes that were sent. */
async function checkRejected({ folder, tables, duckdb, violations }, { name, table }) {
  const paths = livePaths(folder, tables, rejectedOf(table))
  const columns = 'partition, "offset", timestamp_us, key_digest, value_digest'
  const found = `partition, "offset", epoch_us(timestamp) AS timestamp_us, ${['key', 'value'].map((what) => `coalesce(sha256("${what}"), 'null') AS ${what}_digest`)}`
  await compare(duckdb, violations, `${name}: rejected records in ${rejectedOf(table)}`, {
    columns,
    expected: 'SELECT *, copies AS n FROM input WHERE copies > 0 AND is_bad',
    actual: paths.length === 0 ? 'SELECT *, 0 AS n FROM input WHERE false' : `SELECT ${found}, 1 AS n FROM (${parquet(paths)})`,
  })
}

/** The table of the bad records of a query that writes a table. */
export function rejectedOf(table) {
  return `${table}_rejected`
}

/** SHA-256 in hex, as DuckDB writes it; null has none. */
function digestOf(bytes) {
  return bytes === null ? 'null' : createHash('sha256').update(bytes).digest('hex')
}

/** The table is the fold of the input: of each order the newest event; of equal times the later record in a batch, the earlier batch. */
async function checkNewest({ folder, tables, duckdb, violations }, { name, table, where = 'true' }) {
  await compare(duckdb, violations, `${name}: rows of ${table}`, {
    columns: 'order_id, customer_id, status, amount, event_time_us',
    expected: `SELECT *, 1 AS n FROM input WHERE is_done AND NOT is_bad AND (${where})
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
