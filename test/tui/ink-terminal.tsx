/** Ink on fake streams: what ink-testing-library does, at a size that a test chooses. */
import { EventEmitter } from 'node:events'
import { render } from 'ink'
import type { ReactElement } from 'react'
import { onTestFinished } from 'vitest'
import type { Size } from '../../src/tui/line.js'

export function renderAt(element: ReactElement, { columns, rows }: Size) {
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows,
    isTTY: true,
    frames: [] as string[],
    write: (text: string) => void stdout.frames.push(text),
  })
  const stdin = Object.assign(new EventEmitter(), {
    ...{ isTTY: true, isRaw: false, waiting: null as string | null },
    setRawMode: (isRaw: boolean) => {
      stdin.isRaw = isRaw
    },
    setEncoding: () => {},
    ref: () => {},
    unref: () => {},
    resume: () => {},
    pause: () => {},
    read: () => {
      const { waiting } = stdin
      stdin.waiting = null
      return waiting
    },
  })
  const app = render(element, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stderr: stdout as unknown as NodeJS.WriteStream,
    ...{ debug: true, exitOnCtrlC: false, patchConsole: false },
  })
  onTestFinished(() => app.unmount())
  return {
    app,
    stdin,
    /** The newest frame, without its codes, as lines. */
    lines: () =>
      (stdout.frames.at(-1) ?? '')
        // biome-ignore lint/suspicious/noControlCharactersInRegex: codes are what is taken away
        .replace(/\u001b\[[\d;]*m/g, '')
        .split('\n')
        .map((line) => line.trimEnd()),
    /** As a terminal gives it: readable first, then the data as it is read. */
    type(text: string) {
      stdin.waiting = text
      stdin.emit('readable')
      stdin.emit('data', text)
    },
    resize(size: Size) {
      Object.assign(stdout, size)
      stdout.emit('resize')
    },
  }
}
