/** Where a file that a table's log names lies: below the table's folder, or, for a table cloned without its files, anywhere on this machine. */
import { isAbsolute, join } from 'node:path'
import { StreamtopError } from '../errors.js'

/**
 * The path of a file that the log names, URI-decoded as in `AddFile`.
 * @throws unsupported-feature when the file is in another store
 */
export function filePathOf(tableFolder: string, path: string): string {
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(path)?.[1]
  if (scheme === undefined) return isAbsolute(path) ? path : join(tableFolder, path)
  const local = /^file:(?:\/\/)?(\/.*)$/i.exec(path)?.[1]
  if (local !== undefined) return local
  // A folder such as `a:b=1` looks like a scheme and is none: no store's address lacks the slash behind the colon.
  if (!path.startsWith(`${scheme}:/`)) return join(tableFolder, path)
  throw new StreamtopError('unsupported-feature', `the table names the file ${path}, which is not on this machine`, {
    hint: 'copy the table with its files, or read it with Spark',
  })
}
