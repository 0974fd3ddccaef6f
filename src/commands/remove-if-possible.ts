/** Removes a temporary workspace at the end of what it was for, and at an exit that nobody can wait for any more. */
import type { Effects } from '../effects.js'

/** A query that dies at this moment may still make a file. The folder is a temporary one: what is left goes with the others. */
export function removeIfPossible(folder: string, fx: Effects): void {
  try {
    fx.files.removeFolder(folder)
  } catch {
    // What became of it, an error too, is what was asked for.
  }
}
