/** A terminal that nobody looks at and nobody types on: what is drawn on it is there to be recorded. */
import { Readable, Writable } from 'node:stream'
import type { Size } from './line.js'
import type { TerminalStreams } from './terminal.js'

export function unseenTerminal({ columns, rows }: Size): TerminalStreams {
  const keyboard = Object.assign(new Readable({ read: () => {} }), { setRawMode: () => keyboard })
  const screen = Object.assign(new Writable({ write: (_text, _encoding, done) => done() }), { columns, rows })
  // The part of both that a terminal uses is there.
  return { stdin: keyboard as unknown as NodeJS.ReadStream, stdout: screen as unknown as NodeJS.WriteStream }
}
