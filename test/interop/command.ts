/** The built command on a workspace, in a process of its own, and what it leaves: a listing of every file. */
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const DEADLINE_MS = 60_000

/**
 * Runs the built command and waits for its end.
 * @param userId the user it runs as; the one of this process unless given
 */
export function streamtop(workspace: string, words: readonly string[], userId?: number): Promise<Ended> {
  if (!existsSync(CLI)) throw new Error('dist/cli.js is not built: run "npm run build" first ("npm test" does)')
  const options = { cwd: workspace, timeout: DEADLINE_MS, maxBuffer: 2 ** 28, ...(userId === undefined ? {} : { uid: userId, gid: userId }) }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...words], options, (_, stdout, stderr) => resolve({ exitCode: child.exitCode, stdout, stderr }))
  })
}

/** Every file and folder below one: its kind, mode, size and time, and a hash of its bytes. */
export function listing(root: string): Record<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name))
  return Object.fromEntries(
    [root, ...paths].map((path) => {
      const { size, mtimeMs, mode } = lstatSync(path)
      const hash = lstatSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'
      return [relative(root, path), `${mode} ${size} ${mtimeMs} ${hash}`]
    }),
  )
}

/** What differs between two listings, as sentences. */
export function changesBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => {
    if (before[name] === after[name]) return []
    const what = before[name] === undefined ? 'was made' : after[name] === undefined ? 'was removed' : 'was changed'
    return [`${name === '' ? 'the folder' : name} ${what}`]
  })
}

/**
 * A user who may not write what this process may: the one of nobody's where this process is root, who may write everything; else
 * nobody else is needed. Null where such a user could not start the command.
 */
export function userWithoutRights(): number | undefined | null {
  if (process.getuid?.() !== 0) return undefined
  return [process.execPath, CLI].every(isReadableByAll) ? NOBODY : null
}

const NOBODY = 65_534

function isReadableByAll(path: string): boolean {
  if ((lstatSync(path).mode & 0o4) === 0) return false
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((lstatSync(folder).mode & 0o1) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
