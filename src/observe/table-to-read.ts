/** Which tables may be looked at: also those of others, who have rules of their own for names. */
import type { Effects } from '../effects.js'
import { checkName } from '../names.js'
import { tablesFolderOf } from '../store/workspace-paths.js'

/** @throws bad-name for a name that none of our tables can have, when no table of others has it either */
export function checkTableToRead(workspace: string, table: string, fx: Effects): void {
  // A name out of the folder itself cannot lead out of it.
  if (!fx.files.list(tablesFolderOf(workspace)).includes(table)) checkName('table', table)
}
