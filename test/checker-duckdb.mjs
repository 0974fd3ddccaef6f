/** How the checker asks DuckDB. Part of the checker, so it shares nothing with src. */
import { join } from 'node:path'

/** The answer's rows, as objects. */
export async function rowsOf(duckdb, sql) {
  return (await duckdb.runAndReadAll(sql)).getRowObjectsJS()
}

/** The rows of Parquet files, with the column `filename`. */
export function parquet(paths) {
  return `SELECT * FROM read_parquet([${paths.map((path) => `'${path}'`).join(', ')}], filename = true)`
}

/** Rows that are given as texts `(1, 'a')`. */
export function valuesOf(tuples, columns) {
  return `SELECT * FROM (VALUES ${tuples.join(', ')}) v(${columns})`
}

/** The files of a table that are live now; none when there is no such table. */
export function livePaths(folder, tables, table) {
  return [...(tables.get(table)?.live.keys() ?? [])].map((path) => join(folder, 'tables', table, path))
}
