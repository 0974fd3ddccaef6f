/** The built command in a real pseudo-terminal, and what a person would see on it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type IPty, spawn } from '@lydell/node-pty'
import { Terminal } from '@xterm/headless'
import { onTestFinished } from 'vitest'
import { isRunning, until } from './command.js'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface TerminalChoices {
  readonly folder: string
  readonly columns?: number
  readonly rows?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Another program than the command. */
  readonly program?: string
  /** In a shell with job control, which starts it. */
  readonly inShell?: boolean
}

export interface OpenTerminal {
  readonly pid: number
  /** The rows as they are seen, without blanks at their ends. */
  rows(): string[]
  text(): string
  /** Everything that was written, codes too. */
  readonly written: { text: string }
  /** Waits until the screen shows it. */
  shows(wanted: string | RegExp): Promise<void>
  /** Waits until it was written, for what may be gone from the screen before anybody looks. */
  wrote(wanted: string): Promise<void>
  press(keys: string): void
  resize(columns: number, rows: number): void
  /** Also when it has ended by then. */
  signal(name: NodeJS.Signals): void
  /** Stops reading: the terminal takes no more. */
  freeze(): void
  /** Closes the terminal: the window is gone. */
  hangUp(): void
  readonly ended: Promise<number>
  /** What is left of the dashboard's ways. */
  state(): Promise<{ readonly isAlternate: boolean; readonly hasCursor: boolean; readonly wraps: boolean; readonly pastesInBrackets: boolean }>
}

/** Starts a command line in a terminal; what still runs when the test ends is killed. */
export function openTerminal(
  line: string,
  { folder, columns = 80, rows = 24, environment = {}, program = CLI, inShell = false }: TerminalChoices,
): OpenTerminal {
  const words = line.split(' ').filter((word) => word !== '')
  const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env as Record<string, string>
  const env = { ...inherited, TERM: 'xterm-256color', PS1: 'shell> ', ...environment }
  const pty: IPty = spawn(inShell ? 'bash' : process.execPath, inShell ? ['--norc'] : [program, ...words], { cols: columns, rows, cwd: folder, env })
  if (inShell) pty.write(`"${process.execPath}" "${program}" ${line}\r`)
  const screen = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 })
  const written = { text: '' }
  pty.onData((data) => {
    written.text += data
    screen.write(data)
  })
  const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode)))
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  onTestFinished(() => {
    if (!hasEnded) pty.kill('SIGKILL')
  })
  const seen = () => Array.from({ length: screen.rows }, (_, row) => screen.buffer.active.getLine(row)?.translateToString(true) ?? '')
  const settled = () => new Promise<void>((resolve) => screen.write('', resolve))
  return {
    pid: pty.pid,
    rows: seen,
    text: () => seen().join('\n'),
    written,
    shows: async (wanted) => {
      try {
        await until(`the screen shows ${wanted}`, () => (typeof wanted === 'string' ? seen().join('\n').includes(wanted) : wanted.test(seen().join('\n'))))
      } catch (error) {
        throw new Error(`${(error as Error).message}:\n${seen().join('\n')}`)
      }
    },
    wrote: async (wanted) => void (await until(`${wanted} is written`, () => written.text.includes(wanted))),
    press: (keys) => pty.write(keys),
    resize(nextColumns, nextRows) {
      screen.resize(nextColumns, nextRows)
      pty.resize(nextColumns, nextRows)
    },
    signal: (name) => pty.kill(name),
    freeze: () => pty.pause(),
    hangUp: () => (pty as unknown as { destroy(): void }).destroy(),
    ended,
    async state() {
      await settled()
      return {
        isAlternate: screen.buffer.active.type === 'alternate',
        hasCursor: written.text.lastIndexOf('\u001b[?25h') > written.text.lastIndexOf('\u001b[?25l'),
        wraps: screen.modes.wraparoundMode,
        pastesInBrackets: screen.modes.bracketedPasteMode,
      }
    },
  }
}

/** How a terminal is that a program has left whole. */
export const WHOLE = { isAlternate: false, hasCursor: true, wraps: true, pastesInBrackets: false }

/** The query processes that were started in a folder and still run. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isQueryIn(folder, name))
    .map(Number)
    .filter(isRunning)
}

function isQueryIn(folder: string, pid: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('child.js')
  } catch {
    // It is somebody else's, or ends at this moment.
    return false
  }
}
