/** The checker's look at data files: each live one is there, and what its statistics say is true. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { rowsOf } from './checker-duckdb.mjs'

/** Every live file is there, with as many rows as its statistics say, within their bounds. */
export async function checkDataFiles({ folder, tables, others, duckdb, memory, violations }) {
  for (const [name, { versions, live }] of tables) {
    const schema = versions.flatMap(({ actions }) => actions).findLast(({ metaData }) => metaData)?.metaData.schemaString
    const types = new Map(JSON.parse(schema).fields.map((field) => [field.name, field.type]))
    for (const add of live.values()) {
      const path = join(folder, 'tables', name, add.path)
      if (memory.checkedFiles.has(path) && existsSync(path)) continue
      memory.checkedFiles.add(path)
      if (!existsSync(path)) violations.push(`${path} is live and is not there`)
      else if (statSync(path).size !== add.size) violations.push(`${path} has ${statSync(path).size} bytes, and its add says ${add.size}`)
      else violations.push(...(await statisticsProblems(duckdb, path, JSON.parse(add.stats), types, others.get(name)?.has(add.version) ?? false)))
    }
  }
}

async function statisticsProblems(duckdb, path, stats, types, isOfAnother) {
  const rules = [`count(*) <> ${stats.numRecords} AS "numRecords"`]
  for (const [column, bound] of Object.entries(stats.minValues ?? {}))
    rules.push(`min(${comparable(column, types)}) < ${literal(bound, types.get(column))} AS "minValues.${column}"`)
  for (const [column, bound] of Object.entries(stats.maxValues ?? {}))
    rules.push(
      `max(${comparable(column, types)}) > ${literal(bound, types.get(column))}${isOfAnother ? slack(types.get(column)) : ''} AS "maxValues.${column}"`,
    )
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
  const text = typeof bound === 'string' ? `'${bound.replaceAll("'", "''")}'` : bound
  return type === 'timestamp' ? `epoch_us(TIMESTAMPTZ ${text})` : text
}

/** Delta cuts times to milliseconds in the statistics, and its readers add one to the greatest. What streamtop writes needs no such leniency. */
function slack(type) {
  return type === 'timestamp' ? ' + 999' : ''
}
