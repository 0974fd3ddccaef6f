/** A folder with nine orders in bronze, and who holds a query there. */
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { commandFolder, type CommandFolder } from './command.js'

export function withBronze(): CommandFolder {
  const at = commandFolder()
  for (const line of ['produce --all', 'run bronze_orders']) expect(at.streamtop(line).exitCode).toBe(0)
  return at
}

/** Who the lock of a query says holds it; a process that ends in peace takes its row away. */
export function lockRow(at: CommandFolder, query: string): number | null {
  if (!at.list('.locks').includes(`${query}.db`)) return null
  let database: Database.Database | null = null
  try {
    database = new Database(at.path('.locks', `${query}.db`), { readonly: true })
    return (database.prepare('SELECT pid FROM holder').pluck().get() as number | undefined) ?? null
  } catch {
    return null
  } finally {
    database?.close()
  }
}
