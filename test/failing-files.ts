/** Calls of node:fs that change something below a folder, counted; one of them fails as a disk would make it fail. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { sep } from 'node:path'

export type DiskErrorCode = 'ENOSPC' | 'EIO' | 'EROFS' | 'EACCES'

export interface FailingFiles {
  /** The call that failed, as `fsyncSync offsets/0`; null when there were fewer. */
  readonly failed: string | null
  /** The calls that came after it. */
  readonly later: readonly string[]
  /** From now on nothing is changed any more: the process is taken as dead. */
  die(): void
  restore(): void
}

const nodeFs = createRequire(import.meta.url)('node:fs') as Record<string, (...given: unknown[]) => unknown>
const CHANGES = ['writeSync', 'fsyncSync', 'linkSync', 'unlinkSync', 'renameSync', 'mkdirSync', 'rmSync'] as const

/** @param failing which of the changes fails, from 1 */
export function failFiles(folder: string, failing: number, code: DiskErrorCode): FailingFiles {
  const originals = new Map<string, (...given: unknown[]) => unknown>()
  const paths = new Map<unknown, string>()
  const later: string[] = []
  let isDead = false
  let count = 0
  let failed: string | null = null
  const isBelow = (path: string | undefined): path is string => path !== undefined && (path === folder || path.startsWith(folder + sep))
  const patch = (name: string, make: (original: (...given: unknown[]) => unknown) => (...given: unknown[]) => unknown) => {
    const original = nodeFs[name] as (...given: unknown[]) => unknown
    originals.set(name, original)
    nodeFs[name] = make(original)
  }
  const isChange = (what: string) => {
    if (isDead) throw new Error(`${what}, by a dead process`)
    if (failed !== null) later.push(what)
    count += 1
    if (count !== failing) return
    failed = what
    throw Object.assign(new Error(`${code}: the disk of a test, ${what}`), { code })
  }
  for (const name of CHANGES) {
    patch(name, (original) => (...given) => {
      const path = typeof given[0] === 'string' ? given[0] : paths.get(given[0])
      // A link is a change where it leads to.
      const changed = name === 'linkSync' ? String(given[1]) : path
      if (isBelow(changed)) isChange(`${name} ${changed.slice(folder.length + 1)}`)
      return original(...given)
    })
  }
  patch('openSync', (original) => (...given) => {
    const [path, flags] = given.map(String) as [string, string]
    if (isBelow(path) && flags.includes('w')) isChange(`openSync ${path.slice(folder.length + 1)}`)
    const handle = original(...given)
    if (isBelow(path)) paths.set(handle, path)
    return handle
  })
  patch('closeSync', (original) => (...given) => {
    paths.delete(given[0])
    return original(...given)
  })
  syncBuiltinESMExports()
  return {
    get failed() {
      return failed
    },
    later,
    die() {
      isDead = true
    },
    restore() {
      for (const [name, original] of originals) nodeFs[name] = original
      syncBuiltinESMExports()
    },
  }
}
