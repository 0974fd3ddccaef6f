/** Whether a file system can do what every commit rests on: create a name by `link`, and fail when it is there. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'

/**
 * Tries it with an empty file, which is gone afterwards. Makes the folder when it is not there. Once a workspace is enough:
 * `acquireLock` does it before it makes `.locks/`.
 * @throws unsupported-file-system with the reason
 */
export function probeLink(folder: string, fx: Effects): void {
  fx.files.makeFolder(folder)
  const path = join(folder, `.link-probe-${fx.randomUuid()}`)
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
}

/** What file systems without hard links answer; a full disk or a folder that may not be written is another matter. */
const REFUSALS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV', 'EINVAL'])

function unsupported(folder: string, reason: string, cause?: unknown): StreamtopError {
  return new StreamtopError('unsupported-file-system', `the file system of ${folder} cannot create a file only if it is not there: ${reason}`, {
    hint: 'put the workspace on a local disk (ext4, xfs, btrfs, APFS)',
    ...(cause === undefined ? {} : { cause }),
  })
}
