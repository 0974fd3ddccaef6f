/**
 * What the checker asks DuckDB. A data file never changes once a version names it, so each is read once; that none does change is
 * checked elsewhere (`checkDataFiles`). Part of the checker, so it shares nothing with src.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'

/** One for all checkers of this process: making one takes longer than a check. */
let instance

/** A connection, to be closed by whoever opened it. */
export async function connectDuckDb() {
  // One thread: the files are small, and handing work over costs more than it.
  instance ??= DuckDBInstance.create(':memory:', { threads: '1' })
  const duckdb = await (await instance).connect()
  // Spark's timestamps have no zone in Parquet, streamtop's are in UTC, and a table may have both.
  await duckdb.run("SET TimeZone = 'UTC'")
  return duckdb
}

/** The answer's rows, as objects. */
export async function rowsOf(duckdb, sql) {
  return (await duckdb.runAndReadAll(sql)).getRowObjectsJS()
}

/** The rows of Parquet files, with the column `filename`. */
export function parquet(paths) {
  return `SELECT * FROM read_parquet([${paths.map((path) => quoted(path)).join(', ')}], filename = true)`
}

export function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`
}

/** The files of a table that are live now; none when there is no such table. */
export function livePaths(folder, tables, table) {
  return [...(tables.get(table)?.live.keys() ?? [])].map((path) => join(folder, 'tables', table, path))
}

const ORDER = {
  order_id: 'order_id',
  customer_id: 'customer_id',
  status: 'status',
  amount: 'amount',
  event_time_us: 'epoch_us(event_time)',
}
const POSITION = { partition: 'partition', offset: '"offset"', timestamp_us: 'epoch_us(timestamp)' }

/** What is read of a file, each column as text: an order's row, an event's, or a rejected record's with its bytes as SHA-256 in hex. */
export const SHAPES = {
  order: ORDER,
  event: { ...POSITION, ...ORDER },
  rejected: { ...POSITION, key_digest: 'sha256("key")', value_digest: 'sha256("value")' },
}

/**
 * The rows of data files, by path.
 * @param shape one of SHAPES, by its name
 * @param where a condition in SQL: rows for which it is not true are left out
 * @returns {Promise<Map<string, object[]>>} null is the text `null`
 */
export async function rowsOfFiles({ duckdb, memory }, shape, paths, where = 'true') {
  const known = memory.rows.get(`${shape} ${where}`) ?? new Map()
  memory.rows.set(`${shape} ${where}`, known)
  const unknown = paths.filter((path) => !known.has(path))
  if (unknown.length > 0) {
    const columns = Object.entries(SHAPES[shape]).map(([name, sql]) => `coalesce(CAST(${sql} AS VARCHAR), 'null') AS "${name}"`)
    const rows = await rowsOf(duckdb, `SELECT filename, ${columns.join(', ')} FROM (${parquet(unknown)}) WHERE ${where}`)
    for (const path of unknown) known.set(path, [])
    for (const { filename, ...row } of rows) known.get(filename).push(row)
  }
  return new Map(paths.map((path) => [path, known.get(path)]))
}

/** Those of some rows of an event's shape for which a condition in SQL is true. */
export async function rowsWhere({ duckdb }, rows, where) {
  if (where === 'true' || rows.length === 0) return rows
  const text = (value) => (value === 'null' ? 'NULL' : quoted(value))
  const tuples = rows.map(
    (row, index) =>
      `(${index}, ${text(row.order_id)}::INTEGER, ${text(row.customer_id)}, ${text(row.status)}, ${text(row.amount)}::DECIMAL(10,2), make_timestamptz(${row.event_time_us}::BIGINT))`,
  )
  const found = await rowsOf(
    duckdb,
    `SELECT index FROM (VALUES ${tuples.join(', ')}) v(index, order_id, customer_id, status, amount, event_time) WHERE ${where}`,
  )
  const taken = new Set(found.map(({ index }) => index))
  return rows.filter((_, index) => taken.has(index))
}
