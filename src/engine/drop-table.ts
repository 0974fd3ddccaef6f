/** Dropping tables while nobody writes them. */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { Store } from '../store/store.js'
import type { QueryDefinition } from './definition.js'
import { acquireLock, type QueryLock } from './lock.js'

/**
 * Drops those of some tables that are there, with their files and their history, under the locks of all queries that write them:
 * when one of these runs, nothing is dropped.
 * @param queries all that are known
 * @returns the names of the tables that were dropped
 * @throws bad-name, concurrent-query
 */
export async function dropTables(workspace: string, tables: readonly string[], queries: readonly QueryDefinition[], fx: Effects): Promise<string[]> {
  for (const table of tables) checkName('table', table)
  const locks: QueryLock[] = []
  try {
    for (const { name, writes } of queries) {
      const written = tables.find((table) => writes.includes(table))
      if (written !== undefined) locks.push(await lockOf(workspace, name, written, fx))
    }
    const store = Store.open(workspace, fx)
    try {
      return tables.filter((table) => store.drop(table))
    } finally {
      store.close()
    }
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** The tables that may come of a query. */
export function tablesOf({ writes }: QueryDefinition): readonly string[] {
  return writes
}

/** A table, and those of the records that the queries with that sink reject: such a query's two tables hold its source together. */
export function withRejectedTables(table: string, queries: readonly QueryDefinition[]): string[] {
  return [table, ...new Set(queries.flatMap((query) => (query.table === table ? (query.rejectedTable ?? []) : [])))]
}

async function lockOf(workspace: string, query: string, table: string, fx: Effects): Promise<QueryLock> {
  try {
    return await acquireLock(workspace, query, fx)
  } catch (error) {
    if (!(error instanceof StreamtopError) || error.code !== 'concurrent-query') throw error
    throw new StreamtopError(error.code, `table ${table} is being written: ${error.message}`, error.hint === undefined ? {} : { hint: error.hint })
  }
}
