/** Which files came and which went between two looks at a table. */
import type { AddFile } from '../store/actions.js'
import { fileKey } from '../store/replay.js'

export interface FileChanges {
  readonly gone: readonly AddFile[]
  readonly added: readonly AddFile[]
}

const NO_CHANGES: FileChanges = { gone: [], added: [] }

/** Most tables only grow, and a snapshot that was made from the one before has the very same objects: then nothing is looked up by name. */
export function fileChanges(before: readonly AddFile[], after: readonly AddFile[]): FileChanges {
  if (before === after) return NO_CHANGES
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  if (same === before.length) return { gone: [], added: after.slice(same) }
  const wanted = new Map(after.slice(same).map((file) => [fileKey(file), file]))
  const gone = before.slice(same).filter((file) => !wanted.delete(fileKey(file)))
  return { gone, added: [...wanted.values()] }
}
