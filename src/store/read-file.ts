/** A file of a table, read whole. */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'

/**
 * What a file holds; null when it is not there.
 * @throws table-damaged when a folder lies in its place
 */
export function readTableFile(path: string, fx: Effects): Buffer | null {
  try {
    return fx.files.readIfPresent(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EISDIR') throw cause
    throw new StreamtopError('table-damaged', `${path} is a folder where a file should be`, { hint: 'restore the file from a copy', cause })
  }
}
