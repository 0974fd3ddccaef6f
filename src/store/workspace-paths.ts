/** Where tables and their log lie in a workspace. */
import { join } from 'node:path'

/** The folder that holds the tables. */
export function tablesFolderOf(workspace: string): string {
  return join(workspace, 'tables')
}

/** The transaction log of all tables. */
export function logPathOf(workspace: string): string {
  return join(tablesFolderOf(workspace), '_log.db')
}
