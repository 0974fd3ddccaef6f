/** Files that somebody asks for by name: made anew, never in the place of another. */
import { dirname, resolve } from 'node:path'
import type { Effects, GrowingFile } from '../effects.js'
import { StreamtopError } from '../errors.js'

/**
 * Makes a file whole or not at all.
 * @param path as it was named: relative to the working folder, or absolute
 * @throws usage when it is there already, or cannot be made
 */
export function createNewFile(path: string, content: string, fx: Effects): void {
  if (made(path, () => fx.files.create(resolve(path), content)) === 'exists') throw isThere(path)
}

/** Makes a file, empty, for its owner alone; else as `createNewFile`. */
export function openNewFile(path: string, fx: Effects): GrowingFile {
  return made(path, () => fx.files.createGrowing(resolve(path)))
}

/** What came of a recording that could not be written to its end, for people. @param hint what there is of it */
export function notWritten(path: string, cause: unknown, hint: string): StreamtopError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new StreamtopError('usage', `the recording ${path} has ended early: ${code === 'ENOENT' ? 'the file was removed' : message}`, { hint, cause })
}

function made<T>(path: string, make: () => T): T {
  try {
    return make()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw isThere(path)
    const why = code === 'ENOENT' ? `there is no folder ${dirname(resolve(path))}` : message
    throw new StreamtopError('usage', `${path} cannot be made: ${why}`, { hint: 'name a file in a folder that is there and that you may write to', cause })
  }
}

function isThere(path: string): StreamtopError {
  return new StreamtopError('usage', `${path} is there already`, { hint: 'name another file' })
}
