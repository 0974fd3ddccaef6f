/** A program that is started, waited for, and timed. */
import { spawnSync } from 'node:child_process'

/** One process from its start to its end. */
export function timed(args: readonly string[], cwd: string): { readonly ms: number; readonly output: string; readonly status: number | null } {
  const startedMs = performance.now()
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  return { ms: performance.now() - startedMs, output: stdout + stderr, status }
}
