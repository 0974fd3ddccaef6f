/**
 * The checker's look at what tables hold: what was sent, what the batches of a query took of it, and that the query's table has it,
 * each row as often as it must. Rows are compared here, as texts. Part of the checker, so it shares nothing with src.
 */
import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { livePaths, rowsOfFiles, rowsWhere, SHAPES } from './checker-duckdb.mjs'
import { filesInStreamOrder, filesTaken } from './delta-replay.mjs'

/**
 * Each sent record is in the topic once, without a hole. A bad record is known by its bytes.
 * @returns the topic's records, as rows: what lies at which offset
 */
export function readTruth({ folder, violations }, { topic, sent, bad = [] }) {
  const database = new Database(join(folder, 'topics.db'), { readonly: true })
  const records = database
    .prepare('SELECT partition, "offset", timestamp_ms, key, value FROM records JOIN topics ON topics.number = records.topic WHERE name = ? ORDER BY 1, 2')
    .all(topic)
  database.close()
  const byValue = new Map(sent.map((record) => [digestOf(Buffer.from(record.value)), record]))
  const badValues = bad.map(({ value }) => digestOf(value))
  const next = new Map()
  const truth = records.map((record) => {
    const value = digestOf(record.value)
    if (record.offset !== (next.get(record.partition) ?? 0))
      violations.push(`topic ${topic}, partition ${record.partition} has a hole before offset ${record.offset}`)
    next.set(record.partition, record.offset + 1)
    return {
      partition: String(record.partition),
      offset: String(record.offset),
      timestamp_us: String(record.timestamp_ms * 1000),
      isBad: badValues.includes(value),
      key_digest: digestOf(record.key),
      value_digest: value,
      ...orderTexts(byValue.get(value)),
    }
  })
  const values = truth.map((row) => row.value_digest).sort()
  if (values.join() !== [...byValue.keys(), ...badValues].sort().join() || byValue.size !== sent.length) {
    violations.push(`${sent.length + bad.length} records were sent to topic ${topic}; it holds ${records.length}, ${new Set(values).size} of them different`)
  }
  return truth
}

/** An order's columns as the texts that DuckDB makes of them. */
function orderTexts({ order_id = null, customer_id = null, status = null, amount = null, event_time_us = null } = {}) {
  const [whole, fraction = ''] = String(amount).split('.')
  const texts = { order_id, customer_id, status, amount: amount === null ? null : `${whole}.${fraction.padEnd(2, '0')}`, event_time_us }
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, String(value)]))
}

/** SHA-256 in hex, as DuckDB writes it; null has none. */
function digestOf(bytes) {
  return bytes === null ? 'null' : createHash('sha256').update(bytes).digest('hex')
}

/**
 * Every source row that a logged batch took, with the batch and how often the batch was written.
 * @returns {Promise<{batch: number, copies: number, isDone: boolean, row: object}[]>}
 */
export async function inputOf(look, query, { ends, initial }, batches) {
  const { folder, tables, truth } = look
  if ('topic' in query.source) {
    return batches.flatMap(({ batch, copies, isDone }) => {
      const [from, to] = [batch === 0 ? initial : ends.get(batch - 1), ends.get(batch)].map((text) => (text ? JSON.parse(text)[query.source.topic] : {}))
      const isTaken = ({ partition, offset }) => partition in to && Number(offset) >= (from[partition] ?? 0) && Number(offset) < to[partition]
      return truth.filter(isTaken).map((row) => ({ batch, copies, isDone, row }))
    })
  }
  const { versions } = tables.get(query.source.table)
  const { startingVersion } = query
  const first = JSON.parse(ends.get(0))
  const snapshotVersion = startingVersion !== undefined ? startingVersion - 1 : first.isStartingVersion ? first.reservoirVersion : first.reservoirVersion - 1
  const stream = filesInStreamOrder(versions, snapshotVersion).filter(({ isInitial }) => !isInitial || startingVersion === undefined)
  const taken = batches.flatMap(({ batch, copies, isDone }) => {
    const from = batch === 0 ? 0 : filesTaken(stream, JSON.parse(ends.get(batch - 1)))
    const files = stream.slice(from, filesTaken(stream, JSON.parse(ends.get(batch))))
    return files.map(({ path }) => ({ batch, copies, isDone, path: join(folder, 'tables', query.source.table, path) }))
  })
  const rows = await rowsOfFiles(
    look,
    'event',
    taken.map(({ path }) => path),
  )
  return taken.flatMap(({ path, ...of }) => rows.get(path).map((row) => ({ ...of, row })))
}

/** No loss, no duplicate: each row of a batch is in the table exactly as often as the batch was written. */
export async function checkEveryRow(look, { name, table }, input) {
  compare(look, `${name}: rows of ${table}`, 'event', multiplied(input), await liveRows(look, table, 'event'))
}

/** Each bad record is in the table beside the query's, as often as its batch was written, with the bytes that were sent. */
export async function checkRejected(look, { name, table }, input) {
  const bad = input.filter(({ row }) => row.isBad)
  compare(look, `${name}: rejected records in ${rejectedOf(table)}`, 'rejected', multiplied(bad), await liveRows(look, rejectedOf(table), 'rejected'))
}

/** The table of the bad records of a query that writes a table. */
export function rejectedOf(table) {
  return `${table}_rejected`
}

/** The table is the fold of the input: of each order the newest event; of equal times the later record in a batch, the earlier batch. */
export async function checkNewest(look, { name, table }, input) {
  const newest = new Map()
  for (const one of input) {
    if (!one.isDone) continue
    const known = newest.get(one.row.order_id)
    if (known === undefined || isNewer(one, known)) newest.set(one.row.order_id, one)
  }
  const expected = [...newest.values()].map(({ row }) => ({ row, count: 1 }))
  compare(look, `${name}: rows of ${table}`, 'order', expected, await liveRows(look, table, 'order'))
}

function isNewer(one, other) {
  const [time, otherTime] = [BigInt(one.row.event_time_us), BigInt(other.row.event_time_us)]
  if (time !== otherTime) return time > otherTime
  if (one.batch !== other.batch) return one.batch < other.batch
  if (one.row.partition !== other.row.partition) return Number(one.row.partition) > Number(other.row.partition)
  return Number(one.row.offset) > Number(other.row.offset)
}

/** The good rows of an input for which a query's condition is true. */
export async function goodInput(look, { where = 'true' }, input) {
  const good = input.filter(({ row }) => !row.isBad)
  const taken = new Set(
    await rowsWhere(
      look,
      good.map(({ row }) => row),
      where,
    ),
  )
  return good.filter(({ row }) => taken.has(row))
}

function multiplied(input) {
  return input.map(({ row, copies }) => ({ row, count: copies }))
}

async function liveRows(look, table, shape) {
  return [...(await rowsOfFiles(look, shape, livePaths(look.folder, look.tables, table))).values()].flat()
}

/** Compares two multisets of rows and says how they differ, with the first row that does. */
function compare({ violations }, what, shape, expected, actual) {
  const columns = Object.keys(SHAPES[shape])
  const counts = new Map()
  const count = (row, expectedCount, actualCount) => {
    const key = columns.map((column) => row[column]).join('\u0000')
    const before = counts.get(key) ?? { expected: 0, actual: 0 }
    counts.set(key, { expected: before.expected + expectedCount, actual: before.actual + actualCount })
  }
  for (const { row, count: times } of expected) count(row, times, 0)
  for (const row of actual) count(row, 0, 1)
  const differing = [...counts].filter(([, { expected: wanted, actual: found }]) => wanted !== found).sort()
  const shown = ([key, { expected: wanted, actual: found }]) => `${key.replaceAll('\u0000', ' ')} (${found} times, not ${wanted})`
  const missing = differing.filter(([, { expected: wanted, actual: found }]) => found < wanted)
  const extra = differing.filter(([, { expected: wanted, actual: found }]) => found > wanted)
  if (missing.length > 0) violations.push(`${what}: ${missing.length} are missing, for example ${shown(missing[0])}`)
  if (extra.length > 0) violations.push(`${what}: ${extra.length} are too many, for example ${shown(extra[0])}`)
}
