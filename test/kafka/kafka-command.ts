/** The built command in an empty folder that is removed when its test ends. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'

export interface Said {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandFolder {
  readonly folder: string
  /** Runs a command line, given as one text, to its end. */
  streamtop(line: string, environment?: Readonly<Record<string, string>>): Said
  /** Starts one; killed when the test ends. */
  start(line: string): { readonly child: ChildProcess; readonly said: { readonly stdout: string; readonly stderr: string }; readonly ended: Promise<Said> }
  list(...parts: string[]): string[]
  read(...parts: string[]): string
}

export function commandFolder(): CommandFolder {
  const cli = join(inject('kafkaDist'), 'cli.js')
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return {
    folder,
    streamtop(line, environment = {}) {
      const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, ...environment }, timeout: 60_000 } as const
      const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...line.split(' ')], options)
      return { exitCode: status, stdout, stderr }
    },
    start(line) {
      const child = spawn(process.execPath, [cli, ...line.split(' ')], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      const said = { stdout: '', stderr: '' }
      child.stdout.on('data', (bytes) => {
        said.stdout += bytes
      })
      child.stderr.on('data', (bytes) => {
        said.stderr += bytes
      })
      return { child, said, ended: new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, ...said }))) }
    },
    list: (...parts) => (existsSync(join(folder, ...parts)) ? readdirSync(join(folder, ...parts)).sort() : []),
    read: (...parts) => readFileSync(join(folder, ...parts), 'latin1'),
  }
}
