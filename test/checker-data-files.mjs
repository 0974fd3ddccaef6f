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

/** The statistics of several files in one question. */
async function statisticsProblems(duckdb, files, types) {
  const questions = files.map(({ path, stats, isOfAnother }) => {
    const rules = rulesOf(stats, types, isOfAnother).map(([what, isBroken]) => `CASE WHEN ${isBroken} THEN ${quoted(what)} END`)
    return `SELECT ${quoted(path)} AS path, concat_ws(' ', ${rules.join(', ')}) AS broken FROM (${parquet([path])})`
  })
  const found = await rowsOf(duckdb, questions.join(' UNION ALL '))
  return found.flatMap(({ path, broken }) => (broken === '' ? [] : broken.split(' ').map((rule) => `${path}: ${rule} of its statistics is not true`)))
}

function rulesOf(stats, types, isOfAnother) {
  const rules = [['numRecords', `count(*) <> ${stats.numRecords}`]]
  for (const [column, bound] of Object.entries(stats.minValues ?? {}))
    rules.push([`minValues.${column}`, `min(${comparable(column, types)}) < ${literal(bound, types.get(column))}`])
  for (const [column, bound] of Object.entries(stats.maxValues ?? {}))
    rules.push([
      `maxValues.${column}`,
      `max(${comparable(column, types)}) > ${literal(bound, types.get(column))}${isOfAnother ? slack(types.get(column)) : ''}`,
    ])
  for (const [column, count] of Object.entries(stats.nullCount ?? {})) rules.push([`nullCount.${column}`, `count(*) - count("${column}") <> ${count}`])
  return rules
}

function comparable(column, types) {
  return types.get(column) === 'timestamp' ? `epoch_us("${column}")` : `"${column}"`
}

function literal(bound, type) {
  const text = typeof bound === 'string' ? quoted(bound) : bound
  return type === 'timestamp' ? `epoch_us(TIMESTAMPTZ ${text})` : text
}

/** Delta cuts times to milliseconds in the statistics, and its readers add one to the greatest. What streamtop writes needs no such leniency. */
function slack(type) {
  return type === 'timestamp' ? ' + 999' : ''
}
