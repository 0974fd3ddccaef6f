/** What `run` says of a query when it has ended: counts or the table itself, as the query wants it. */
import type { QueryDefinition } from '../engine/definition.js'
import { errorJson } from '../engine/life.js'
import type { Ending } from '../engine/runner.js'
import type { Effects } from '../effects.js'
import { countTable } from '../observe/counts.js'
import { readTable } from '../observe/read-table.js'
import { warmParquet } from '../store/parquet.js'
import { showRows } from '../store/show.js'
import { sortedBy } from '../store/sorted-by.js'

/** Of `run --json`, one a query. */
export interface QueryReport {
  readonly query: string
  readonly table: string
  readonly ending: Ending['kind']
  readonly killedAt: { readonly step: string; readonly batchId: number } | null
  readonly rows: number | null
  readonly distinct: number | null
  readonly version: number | null
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null; readonly condition: string | null } | null
}

/** Loads what reading rows takes. */
export async function warmReports(): Promise<void> {
  await warmParquet()
}

/** The lines for stdout, each with its end. */
export async function reportText(workspace: string, definition: QueryDefinition, fx: Effects): Promise<string> {
  const { table, report } = definition
  if (report === 'counts') {
    const counts = await countTable(workspace, table, fx)
    return counts ? `${table} has ${counts.rows} rows, ${counts.distinct} different\n` : `${table} is not there yet\n`
  }
  const rows = await readTable(workspace, table, fx)
  return rows ? showRows(sortedBy(rows, report.sortedBy)) : `${table} is not there yet\n`
}

/** The same for programs. */
export async function reportOf(workspace: string, definition: QueryDefinition, ending: Ending, fx: Effects): Promise<QueryReport> {
  const counts = await countTable(workspace, definition.table, fx)
  const { stack: _, ...error } = ending.kind === 'failed' ? errorJson(ending.error) : { stack: null, code: '', message: '', hint: null, condition: null }
  return {
    query: definition.name,
    table: definition.table,
    ending: ending.kind,
    killedAt: ending.kind === 'killed' ? { step: ending.at.step, batchId: ending.at.batchId } : null,
    rows: counts?.rows ?? null,
    distinct: counts?.distinct ?? null,
    version: counts?.version ?? null,
    error: ending.kind === 'failed' ? error : null,
  }
}
