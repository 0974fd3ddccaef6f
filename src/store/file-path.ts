/**
 * Where a file that a table's log names lies: below the table's folder, or, for a table cloned without its files, by a whole path in a
 * table beside it. A log may come from anybody, so nothing that it names outside of the tables' folder is read, let alone removed.
 */
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { StreamtopError } from '../errors.js'

/** What Spark calls it when a file that the log names is not there. */
export const FILE_IS_GONE = 'FAILED_READ_FILE.FILE_NOT_EXIST'

/**
 * The path of a file that the log names, URI-decoded as in `AddFile`.
 * @throws unsupported-feature when the file is in another store, or outside of what the log may name; no name has a zero byte
 */
export function filePathOf(tableFolder: string, path: string): string {
  const whole = wholePathIn(path)
  const found = whole ?? join(tableFolder, path)
  if (liesBelow(whole === null ? tableFolder : dirname(tableFolder), found) && !found.includes('\0')) return found
  throw new StreamtopError('unsupported-feature', `the table names the file ${path}, which is outside of ${whole === null ? 'its folder' : 'this workspace'}`, {
    hint: 'copy the table with its files into the workspace, or read it with Spark',
  })
}

/** Where a path of the log leads on this machine, also one that the log may not name; null when that is in another store, or nowhere. */
export function localPathOf(tableFolder: string, path: string): string | null {
  try {
    return path.includes('\0') ? null : (wholePathIn(path) ?? join(tableFolder, path))
  } catch (error) {
    if (error instanceof StreamtopError) return null
    throw error
  }
}

/** Whether a path is one of the files below a folder. */
export function liesBelow(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path))
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A path or `file:` address that does not begin at the table's folder; null for one that does. */
function wholePathIn(path: string): string | null {
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(path)?.[1]
  if (scheme === undefined) return isAbsolute(path) ? path : null
  const local = /^file:(?:\/\/)?(\/.*)$/i.exec(path)?.[1]
  if (local !== undefined) return local
  // A folder such as `a:b=1` looks like a scheme and is none: no store's address lacks the slash behind the colon.
  if (!path.startsWith(`${scheme}:/`)) return null
  throw new StreamtopError('unsupported-feature', `the table names the file ${path}, which is not on this machine`, {
    hint: 'copy the table with its files, or read it with Spark',
  })
}
