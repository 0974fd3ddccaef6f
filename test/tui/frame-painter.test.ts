/** Frames as they arrive: read back through a terminal emulator, and through a terminal that is slow. */
import { Terminal } from '@xterm/headless'
import { describe, expect, test } from 'vitest'
import { FramePainter } from '../../src/tui/frame-painter.js'
import type { Frame, Size } from '../../src/tui/line.js'
import { themeNamed } from '../../src/tui/theme.js'

const THEME = themeNamed('default', 'dark')
const SIZE: Size = { columns: 10, rows: 3 }

describe('on a terminal', () => {
  test('what is on the screen is the last frame, whatever was there', async () => {
    const screen = emulator(SIZE)
    await screen.paint(frame('0123456789', 'second', 'third'))
    expect(screen.rows()).toEqual(['0123456789', 'second', 'third'])
    await screen.paint(frame('short', 'second', '日本 third'))
    expect(screen.rows()).toEqual(['short', 'second', '日本 third'])
    await screen.paint(frame('9876543210', '', ''))
    expect(screen.rows()).toEqual(['9876543210', '', ''])
  })

  test('a row as wide as the terminal keeps its last cell', async () => {
    const screen = emulator(SIZE)
    await screen.paint(frame('', '', ''))
    await screen.paint(frame('0123456789', 'abcdefgh日', 'x'))
    expect(screen.rows()).toEqual(['0123456789', 'abcdefgh日', 'x'])
  })

  test('after a resize nothing of the old frame is left, smaller or larger', async () => {
    const screen = emulator(SIZE)
    await screen.paint(frame('0123456789', 'second', 'third'))
    await screen.resize({ columns: 5, rows: 2 })
    await screen.paint(frame('01234', 'ab'))
    expect(screen.rows()).toEqual(['01234', 'ab'])
    await screen.resize({ columns: 12, rows: 4 })
    await screen.paint(frame('a', 'b', 'c', 'd'))
    expect(screen.rows()).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('what is written', () => {
  test('changed rows only, in one write, and nothing when nothing has changed', () => {
    const slow = slowTerminal()
    slow.painter.paint(frame('a', 'b', 'c'), SIZE, THEME)
    slow.take()
    slow.painter.paint(frame('a', 'B', 'c'), SIZE, THEME)
    slow.take()
    slow.painter.paint(frame('a', 'B', 'c'), SIZE, THEME)
    expect(slow.written.slice(1)).toEqual(['\u001b[?2026h\u001b[2;1HB\u001b[K\u001b[?2026l'])
  })

  test('the rest of a row is cleared only where there is one: some terminals would clear the last cell of a full row', () => {
    const slow = slowTerminal()
    slow.painter.paint(frame('a', 'b', 'c'), SIZE, THEME)
    slow.take()
    slow.painter.paint(frame('0123456789', '日本日本日', 'short'), SIZE, THEME)
    expect(slow.written[1]).toBe('\u001b[?2026h\u001b[1;1H0123456789\u001b[2;1H日本日本日\u001b[3;1Hshort\u001b[K\u001b[?2026l')
  })

  test('a slow terminal has one frame on its way, and gets the newest next', () => {
    const slow = slowTerminal()
    for (let number = 0; number < 100; number++) slow.painter.paint(frame(`frame ${number}`, '', ''), SIZE, THEME)
    expect(slow.written).toHaveLength(1)
    slow.take()
    expect(slow.written).toHaveLength(2)
    expect(slow.written[1]).toContain('frame 99')
    slow.take()
    expect(slow.written).toHaveLength(2)
  })

  test('what waits when the terminal is forgotten is never drawn', () => {
    const slow = slowTerminal()
    slow.painter.paint(frame('one', '', ''), SIZE, THEME)
    slow.painter.paint(frame('two', '', ''), SIZE, THEME)
    slow.painter.forget()
    slow.take()
    expect(slow.written).toHaveLength(1)
    slow.painter.paint(frame('three', '', ''), SIZE, THEME)
    expect(slow.written[1]).toContain('\u001b[2J')
  })
})

function frame(...rows: readonly string[]): Frame {
  return rows.map((text) => [{ text, tone: 'text' as const }])
}

/** Takes a write only when it is told to. */
function slowTerminal() {
  const written: string[] = []
  let done: () => void = () => {}
  const painter = new FramePainter((text, whenDone) => {
    written.push(text)
    done = whenDone
  })
  return { painter, written, take: () => done() }
}

function emulator(begin: Size) {
  const terminal = new Terminal({ cols: begin.columns, rows: begin.rows, allowProposedApi: true })
  let size = begin
  let written: () => void = () => {}
  const painter = new FramePainter((text, done) =>
    terminal.write(text, () => {
      done()
      written()
    }),
  )
  return {
    async paint(shown: Frame) {
      await new Promise<void>((resolve) => {
        written = resolve
        painter.paint(shown, size, THEME)
      })
    },
    async resize(next: Size) {
      size = next
      terminal.resize(next.columns, next.rows)
      painter.forget()
    },
    rows: () =>
      Array.from({ length: size.rows }, (_, row) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)?.translateToString(true) ?? ''),
  }
}
