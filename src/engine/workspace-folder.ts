/** Where a workspace can be. */
import { dirname } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'

/** @throws usage when the path, or one that it lies in, is a file */
export function checkWorkspaceFolder(folder: string, fx: Effects): void {
  let there = folder
  while (!fx.files.exists(there) && dirname(there) !== there) there = dirname(there)
  if (fx.files.status(there)?.isFolder !== false) return
  const what = there === folder ? `${folder} is a file, and a workspace is a folder` : `${folder} cannot be a folder: ${there} is a file`
  throw new StreamtopError('usage', what, { hint: 'name a folder with --workspace; it need not be there yet' })
}
