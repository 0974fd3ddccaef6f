/** The built dashboard in a pseudo-terminal, with what its benchmark wants to know of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { CLI } from './query-process.js'

const LONGEST_WAIT_MS = 60_000

export class DashboardProcess {
  /** Bytes that were drawn so far. */
  byteCount = 0
  readonly pid: number
  readonly ended: Promise<void>
  readonly #pty
  readonly #screen

  constructor(workspace: string, args: readonly string[] = [], [columns, rows] = [120, 40]) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 })
    this.#pty = spawn(process.execPath, [CLI, ...args], { cols: columns, rows, cwd: workspace, env: { ...process.env, TERM: 'xterm-256color' } })
    this.pid = this.#pty.pid
    this.#pty.onData((data) => {
      this.byteCount += Buffer.byteLength(data)
      this.#screen.write(data)
    })
    this.ended = new Promise((resolve) => this.#pty.onExit(() => resolve()))
  }

  press(keys: string): void {
    this.#pty.write(keys)
  }

  text(): string {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, row) => active.getLine(row)?.translateToString(true) ?? '').join('\n')
  }

  /** Waits until the screen shows it. */
  async shows(wanted: RegExp): Promise<RegExpExecArray> {
    let found: RegExpExecArray | null = null
    await waitFor(`the screen shows ${wanted}`, () => {
      found = wanted.exec(this.text())
      return found !== null
    })
    return found as unknown as RegExpExecArray
  }

  async quit(): Promise<void> {
    this.press('q')
    await this.ended
  }
}

/** Looks again and again, without a pause for `isUrgent`. */
export async function waitFor(what: string, look: () => boolean, isUrgent = false): Promise<void> {
  const startedMs = performance.now()
  while (!look()) {
    if (performance.now() - startedMs > LONGEST_WAIT_MS) throw new Error(`not within ${LONGEST_WAIT_MS / 1_000} s: ${what}`)
    await new Promise((resolve) => (isUrgent ? setImmediate(resolve) : setTimeout(resolve, 5)))
  }
}

/** Whether a process runs no more; one that nobody has taken note of counts as dead. */
export function isDead(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat === '' || 'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
}

/** Milliseconds of processor time that a process and its threads have had: ticks of a hundredth of a second, proc(5). */
export function processorMs(pid: number): number {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => textOf(`/proc/${pid}/task/${thread}/children`).trim().split(' '))
    .filter((child) => child !== '')
    .map(Number)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
