/** strace around the processes of a runner: what they call, and one call that fails or kills. Linux alone. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Calls that change what lies on disk. */
const CHANGING = [
  'openat',
  'write',
  'pwrite64',
  'fsync',
  'fdatasync',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'rename',
  'renameat',
  'renameat2',
  'mkdir',
  'mkdirat',
  'rmdir',
  'ftruncate',
]

/** Calls of which a full disk can be the answer. */
export const FULL_DISK_CALLS: ReadonlySet<string> = new Set(['openat', 'write', 'pwrite64', 'fsync', 'link', 'mkdir', 'ftruncate'])

/** One call that changes something, as it was made. */
export interface SystemCall {
  readonly name: string
  /** Which call of that name it was in its thread, from 1: how strace counts. */
  readonly ordinal: number
  /** The first path below the folder that is named in it, from there. */
  readonly path: string
  /** Made by strace to fail. */
  readonly isInjected: boolean
}

export interface Injection {
  readonly call: Pick<SystemCall, 'name' | 'ordinal'>
  readonly what: 'KILL' | 'EIO' | 'ENOSPC'
}

/** Why it cannot be used here; null when it can. */
export function whyNoStrace(): string | null {
  const { error, status, stderr } = spawnSync('strace', ['-f', '-qq', '-e', 'trace=none', 'true'], { encoding: 'utf8' })
  if (error) return 'strace is not installed ("apt-get install strace")'
  return status === 0 ? null : `strace may not be used here: ${stderr.trim()}`
}

/**
 * Starts something that forks, with strace around the process that is forked.
 * @param scratch a folder for its program
 * @param log the file that the calls are written to
 */
export function underStrace<T>(scratch: string, log: string, injection: Injection | null, start: () => T): T {
  const program = join(scratch, 'traced-node')
  const inject =
    injection === null
      ? []
      : ['-e', `inject=${injection.call.name}:${injection.what === 'KILL' ? 'signal' : 'error'}=${injection.what}:when=${injection.call.ordinal}`]
  // Filtered by the kernel it is faster, but then strace sends no signals.
  const filter = injection?.what === 'KILL' ? [] : ['--seccomp-bpf']
  const words = ['strace', '-f', '-qq', '-y', ...filter, '-s', '0', '-o', log, '-e', `trace=${CHANGING.join()}`, ...inject, process.execPath]
  writeFileSync(program, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  const node = process.execPath
  process.execPath = program
  try {
    return start()
  } finally {
    process.execPath = node
  }
}

/**
 * The calls of a log that changed something below a folder, in order.
 * @param folder without a link in its path
 */
export function changingCalls(log: string, folder: string): SystemCall[] {
  const counts = new Map<string, number>()
  const calls: SystemCall[] = []
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread, name = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    if (thread === undefined) continue
    const ordinal = (counts.get(`${thread} ${name}`) ?? 0) + 1
    counts.set(`${thread} ${name}`, ordinal)
    // What is opened to be read changes nothing.
    if (name === 'openat' && !line.includes('O_CREAT')) continue
    const [, path] = line.match(new RegExp(`[<"]${folder}/?([^>"]*)[>"]`)) ?? []
    if (path !== undefined) calls.push({ name, ordinal, path: path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID'), isInjected: line.includes('(INJECTED)') })
  }
  return calls
}
