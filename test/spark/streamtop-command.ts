/** The built command as a process, with what it said. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `streamtop ARGS` in a workspace, whatever comes of it. */
export function tryStreamtop(dist: string, workspace: string, args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(dist, 'cli.js'), ...args], { cwd: workspace, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}

/** Runs it and throws unless it ends with 0. @returns its stdout */
export async function streamtop(dist: string, workspace: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await tryStreamtop(dist, workspace, args)
  if (code !== 0) throw new Error(`streamtop ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`)
  return stdout
}
