/** The built command in real processes, each in an empty workspace that is removed when its test ends. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** Sooner than a test's own, so that what is not there is said; no sooner, for the machine may be busy. */
const DEADLINE_MS = 50_000

export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface CommandFolder {
  readonly folder: string
  path(...parts: string[]): string
  /** Runs a command line, given as one text, and waits for its end. */
  streamtop(line: string): Ended
  /** Starts one. What is still running when the test ends is killed. */
  start(line: string): Started
  list(...parts: string[]): string[]
  /** A file's bytes as Latin-1. */
  read(...parts: string[]): string
  write(name: string, text: string): void
  /** A copy, also removed when the test ends. */
  copy(): CommandFolder
}

/** A workspace for the built command: an empty one, or a copy of a folder. */
export function commandFolder(from?: string): CommandFolder {
  if (!existsSync(CLI)) throw new Error('dist/cli.js is not built: run "npm run build" first ("npm test" does)')
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  if (from !== undefined) cpSync(from, folder, { recursive: true })
  const path = (...parts: string[]) => join(folder, ...parts)
  return {
    folder,
    path,
    streamtop(line) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...line.split(' ')], { cwd: folder, encoding: 'utf8' })
      return { exitCode: status, stdout, stderr }
    },
    start(line) {
      const child = spawn(process.execPath, [CLI, ...line.split(' ')], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (data) => {
        stdout += data
      })
      child.stderr.on('data', (data) => {
        stderr += data
      })
      const ended = new Promise<Ended>((resolve) => child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr })))
      return { child, ended }
    },
    list: (...parts) => (existsSync(path(...parts)) ? readdirSync(path(...parts)).sort() : []),
    read: (...parts) => readFileSync(path(...parts), 'latin1'),
    write: (name, text) => writeFileSync(path(name), text),
    copy: () => commandFolder(folder),
  }
}

/** Waits until something is there, and gives it; fails at the deadline. */
export async function until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; ) {
    const found = look()
    if (found !== null && found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`${what}: not within ${DEADLINE_MS / 1000} s`)
}

/** Whether a process runs; a zombie does not, nor one that ends between two of these calls. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    if (!existsSync('/proc/self/stat')) return true
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}
