/** The checker's look at data files: each live one is there, what its statistics say is true, and none changes. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parquet, quoted, rowsOf } from './checker-duckdb.mjs'

const FILES_OF_A_QUESTION = 100

/** Every live file is there, with as many rows as its statistics say, within their bounds. One that was looked at is as it was then. */
export async function checkDataFiles({ folder, tables, others, duckdb, memory, violations }) {
  for (const [name, { versions, live }] of tables) {
    const schema = versions.flatMap(({ actions }) => actions).findLast(({ metaData }) => metaData)?.metaData.schemaString
    const types = new Map(JSON.parse(schema).fields.map((field) => [field.name, field.type]))
    const unknown = []
    for (const add of live.values()) {
      const path = join(folder, 'tables', name, add.path)
      if (!existsSync(path)) violations.push(`${path} is live and is not there`)
      else if (statSync(path).size !== add.size) violations.push(`${path} has ${statSync(path).size} bytes, and its add says ${add.size}`)
      else if (memory.dataFiles.has(path)) {
        if (memory.dataFiles.get(path) !== statSync(path).mtimeMs) violations.push(`${path} changed after it was written`)
      } else {
        memory.dataFiles.set(path, statSync(path).mtimeMs)
        unknown.push({ path, stats: JSON.parse(add.stats), isOfAnother: others.get(name)?.has(add.version) ?? false })
      }
    }
    // A question about all files of a long life would take DuckDB far longer than its parts.
    for (let first = 0; first < unknown.length; first += FILES_OF_A_QUESTION)
      violations.push(...(await statisticsProblems(duckdb, unknown.slice(first, first + FILES_OF_A_QUESTION), types)))
  }
}

/** How many Parquet files of a table no version names. */
export function orphanCount(folder, tables, table) {
  const named = new Set((tables.get(table)?.versions ?? []).flatMap(({ actions }) => actions.flatMap(({ add }) => (add ? [decodeURIComponent(add.path)] : []))))
  const root = join(folder, 'tables', table)
  return (existsSync(root) ? readdirSync(root) : []).filter((name) => name.endsWith('.parquet') && !named.has(name)).length
}

/** The statistics of several files in one question: what the files hold, beside what their statistics say, null for what they do not say. */
async function statisticsProblems(duckdb, files, types) {
  const mentioned = new Set(files.flatMap(({ stats }) => ['minValues', 'maxValues', 'nullCount'].flatMap((part) => Object.keys(stats[part] ?? {}))))
  const columns = [...mentioned].filter((column) => types.has(column))
  const said = files.map(({ path, stats, isOfAnother }) => [
    quoted(path),
    stats.numRecords,
    ...columns.flatMap((column) => saidOf(column, stats, types, isOfAnother)),
  ])
  const names = columns.flatMap((_, at) => [`least${at}`, `greatest${at}`, `nulls${at}`])
  const found = columns.flatMap((column, at) => {
    const values = comparable(column, types)
    return [`min(${values}) AS least${at}`, `max(${values}) AS greatest${at}`, `count(*) - count("${column}") AS nulls${at}`]
  })
  const rules = columns.flatMap((column, at) => [
    [`minValues.${column}`, `found.least${at} < said.least${at}`],
    [`maxValues.${column}`, `found.greatest${at} > said.greatest${at}`],
    [`nullCount.${column}`, `found.nulls${at} <> said.nulls${at}`],
  ])
  const broken = [['numRecords', 'coalesce(found.number, 0) <> said.number'], ...rules].map(
    ([what, isBroken]) => `CASE WHEN ${isBroken} THEN ${quoted(what)} END`,
  )
  const rows = await rowsOf(
    duckdb,
    `WITH said(path, ${['number', ...names].join(', ')}) AS (VALUES ${said.map((row) => `(${row.join(', ')})`).join(', ')}),
       found AS (SELECT ${['filename', 'count(*) AS number', ...found].join(', ')} FROM (${parquet(files.map(({ path }) => path))}) GROUP BY filename)
     SELECT path, concat_ws(' ', ${broken.join(', ')}) AS broken FROM said LEFT JOIN found ON path = filename`,
  )
  return rows.flatMap(({ path, broken }) => (broken === '' ? [] : broken.split(' ').map((rule) => `${path}: ${rule} of its statistics is not true`)))
}

function saidOf(column, { minValues, maxValues, nullCount }, types, isOfAnother) {
  const type = types.get(column)
  const [least, greatest] = [minValues?.[column], maxValues?.[column]].map((bound) => (bound === undefined ? 'NULL' : literal(bound, type)))
  return [least, greatest === 'NULL' || !isOfAnother ? greatest : greatest + slack(type), nullCount?.[column] ?? 'NULL']
}

function comparable(column, types) {
  return types.get(column) === 'timestamp' ? `epoch_us("${column}")` : `"${column}"`
}

function literal(bound, type) {
  const text = typeof bound === 'string' ? quoted(bound) : bound
  if (type === 'date') return `DATE ${text}`
  return type === 'timestamp' ? `epoch_us(TIMESTAMPTZ ${text})` : text
}

/** Delta cuts times to milliseconds in the statistics, and its readers add one to the greatest. What streamtop writes needs no such leniency. */
function slack(type) {
  return type === 'timestamp' ? ' + 999' : ''
}
