/**
 * The terminal as the dashboard has it: the alternate screen, raw keys, its size, and the way back. Whatever ends the process, the
 * terminal is left whole: a signal, an exit from anywhere, a throw.
 *
 * Who ends the process is `cli.ts`. Its handlers of SIGINT, SIGTERM and SIGHUP ask the verb to end; signal-exit sees them and holds
 * back there, and covers the other signals and every exit. Its `alwaysLast` puts us after whoever else writes at an exit.
 */
import { onExit } from 'signal-exit'
import { type Effects, onFailedSync } from '../effects.js'
import type { Size } from './line.js'

/** The part of `process.stdin` and `process.stdout` that is used. */
export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
}

export interface TerminalListener {
  /** Bytes from the keyboard as text, in pieces as they came. */
  onInput(text: string): void
  /** The size has changed and come to rest, or the terminal is ours again: what it shows must be drawn anew. */
  onSize(): void
  /** Nobody is at the other end any more. */
  onGone(): void
  /** Something was thrown that nobody caught; the terminal has been left. */
  onThrow(error: unknown): void
}

export class Terminal {
  readonly #streams: TerminalStreams
  readonly #listener: TerminalListener
  readonly #fx: Effects
  readonly #undo: (() => void)[] = []
  #isEntered = false
  #settling: AbortController | null = null

  /** Nothing happens to the terminal before `enter`. */
  constructor(streams: TerminalStreams, listener: TerminalListener, fx: Effects) {
    this.#streams = streams
    this.#listener = listener
    this.#fx = fx
  }

  /** A terminal that does not say its size (or says 0) has the classic one. */
  get size(): Size {
    const { columns, rows } = this.#streams.stdout
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 }
  }

  /** Whether frames may be drawn: entered, and not between two sizes. */
  get isReady(): boolean {
    return this.#isEntered && this.#settling === null
  }

  /** Takes the terminal over and listens to it. */
  open(): void {
    const { stdin, stdout } = this.#streams
    const onInput = (text: string) => this.#listener.onInput(text)
    const onGone = () => this.#listener.onGone()
    const onResize = () => this.#settle()
    const onContinue = () => this.#resume()
    const onThrow = (error: unknown) => {
      this.leave()
      this.#listener.onThrow(error)
    }
    // Node would let a terminal that takes nothing hold the whole process, a SIGTERM included.
    setBlocking(stdout, false)
    stdin.setEncoding('utf8')
    stdin.on('data', onInput).on('end', onGone).on('error', onGone)
    stdout.on('resize', onResize)
    process.on('SIGCONT', onContinue)
    // A rejection that nobody handles arrives here too.
    process.on('uncaughtException', onThrow)
    const giveWarnings = holdWarnings()
    const forgetFailedSync = onFailedSync((error, say) => {
      this.leave()
      say(error)
    })
    const forgetExit = onExit(() => this.leave(), { alwaysLast: true })
    this.#undo.push(() => {
      forgetExit()
      forgetFailedSync()
      process.off('uncaughtException', onThrow)
      process.off('SIGCONT', onContinue)
      stdout.off('resize', onResize)
      // The error listener stays: reading from a terminal that is gone may fail later.
      stdin.off('data', onInput).off('end', onGone)
      stdin.pause()
      if (stdout.writableLength === 0) setBlocking(stdout, true)
      giveWarnings()
    })
    this.enter()
  }

  /** The alternate screen, no cursor, no wrapping at the right edge, pastes in brackets. Does nothing when it is entered. */
  enter(): void {
    if (this.#isEntered) return
    this.#isEntered = true
    this.#setRaw(true)
    this.#streams.stdout.write(ENTER)
  }

  /** Back to how it was. Does nothing when it has been left. */
  leave(): void {
    if (!this.#isEntered) return
    this.#isEntered = false
    this.#streams.stdout.write(LEAVE)
    this.#setRaw(false)
  }

  /** Leaves, and listens no more. */
  close(): void {
    this.leave()
    this.#settling?.abort()
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** Ctrl-z: leaves, and stops this process until somebody continues it. */
  async suspend(): Promise<void> {
    this.leave()
    this.#fx.kill(process.pid, 'SIGTSTP')
    // Without a shell that does job control the signal is dropped, and nothing would ever continue us.
    await this.#fx.sleep(STOPPED_WITHIN_MS)
    if (!this.#isEntered) this.#resume()
  }

  write(text: string, done: () => void): void {
    this.#streams.stdout.write(text, () => done())
  }

  #resume(): void {
    if (this.#undo.length === 0) return
    // The shell has set the modes that it likes; libuv sets only what it takes for a change.
    if (this.#isEntered) this.#setRaw(false)
    this.#isEntered = false
    this.enter()
    this.#settle()
  }

  /** Dragging a window's corner gives many sizes: only the last one is drawn. */
  #settle(): void {
    this.#settling?.abort()
    const settling = new AbortController()
    this.#settling = settling
    void this.#fx.sleep(SETTLED_AFTER_MS, settling.signal).then(() => {
      if (settling.signal.aborted) return
      this.#settling = null
      this.#listener.onSize()
    })
  }

  #setRaw(isRaw: boolean): void {
    try {
      this.#streams.stdin.setRawMode(isRaw)
    } catch {
      // The terminal is gone, and with it the mode.
    }
  }
}

const SETTLED_AFTER_MS = 40
const STOPPED_WITHIN_MS = 50

/** DEC private modes: 1049 alternate screen, 7 wrapping, 25 cursor, 2004 bracketed paste, 2026 synchronized output. */
const ENTER = '\u001b[?1049h\u001b[?7l\u001b[?25l\u001b[?2004h\u001b[0m\u001b[2J\u001b[H'
const LEAVE = '\u001b[?2026l\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l'

/** Of Node's handle behind a terminal's stream; where a Node has none, writes stay as they are. */
function setBlocking(stream: NodeJS.WriteStream, isBlocking: boolean): void {
  const { _handle: handle } = stream as { _handle?: { setBlocking?: (isBlocking: boolean) => void } }
  handle?.setBlocking?.(isBlocking)
}

/** Node's warnings would be printed into the picture. @returns lets them be printed as ever, those that were held back first */
function holdWarnings(): () => void {
  const listeners = process.listeners('warning')
  const held: Error[] = []
  const hold = (warning: Error) => void held.push(warning)
  process.removeAllListeners('warning').on('warning', hold)
  return () => {
    process.off('warning', hold)
    for (const listener of listeners) process.on('warning', listener)
    for (const warning of held) for (const listener of listeners) listener(warning)
  }
}
