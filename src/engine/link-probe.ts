/** Whether a file system can do what every commit rests on: create a name by `link`, and fail when it is there. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { isRunning, ownProcess } from '../store/uncommitted.js'

/** The file and its temp file have the process in their names, so that what a death leaves is known. */
const NAME = /^\.{1,2}link-probe-(\d+-\w+)-[0-9a-f-]+(\.[0-9a-f-]+\.tmp)?$/

/**
 * Tries it with an empty file, which is gone afterwards. Makes the folder when it is not there, and removes what a probe that died
 * has left. Once a workspace is enough: `acquireLock` does it before it makes `.locks/`.
 * @throws unsupported-file-system with the reason
 */
export function probeLink(folder: string, fx: Effects): void {
  fx.files.makeFolder(folder)
  for (const name of fx.files.list(folder)) {
    const [, process] = NAME.exec(name) ?? []
    if (process !== undefined && !isRunning(process, fx)) fx.files.remove(join(folder, name))
  }
  const path = join(folder, `.link-probe-${ownProcess(fx)}-${fx.randomUuid()}`)
  try {
    const first = fx.files.create(path, '')
    const second = fx.files.create(path, '')
    if (first !== 'created' || second !== 'exists') throw unsupported(folder, 'a second file of one name was created over the first')
  } catch (error) {
    if (error instanceof StreamtopError || !REFUSALS.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    throw unsupported(folder, `a hard link is refused (${(error as NodeJS.ErrnoException).code})`, error)
  } finally {
    fx.files.remove(path)
  }
  // Gone for good before there is a `.locks/`, after which nobody looks for it any more.
  fx.files.syncFolder(folder)
}

/** What file systems without hard links answer; a full disk or a folder that may not be written is another matter. */
const REFUSALS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV', 'EINVAL'])

function unsupported(folder: string, reason: string, cause?: unknown): StreamtopError {
  return new StreamtopError('unsupported-file-system', `the file system of ${folder} cannot create a file only if it is not there: ${reason}`, {
    hint: 'put the workspace on a local disk (ext4, xfs, btrfs, APFS)',
    ...(cause === undefined ? {} : { cause }),
  })
}
