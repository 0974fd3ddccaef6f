/** Where a workspace can be. */
import { dirname } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'

/** @throws usage when the path, or one that it lies in, is a file or a link that leads nowhere */
export function checkWorkspaceFolder(folder: string, fx: Effects): void {
  const isThere = (path: string) => fx.files.exists(path) || fx.files.isLink(path)
  let there = folder
  while (!isThere(there) && dirname(there) !== there) there = dirname(there)
  const isDangling = !fx.files.exists(there)
  if (!isDangling && fx.files.status(there)?.isFolder !== false) return
  const kind = isDangling ? 'a link that leads nowhere' : 'a file'
  const what = there === folder ? `${folder} is ${kind}, and a workspace is a folder` : `${folder} cannot be a folder: ${there} is ${kind}`
  throw new StreamtopError('usage', what, { hint: 'name a folder with --workspace; it need not be there yet' })
}
