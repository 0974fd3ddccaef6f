import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Line } from '../../src/tui/line.js'
import { paintLine, textOf } from '../../src/tui/paint.js'
import { themeNamed } from '../../src/tui/theme.js'
import { loadWidths } from '../../src/tui/width.js'

await loadWidths()

const DARK = themeNamed('default', 'dark')
const MONO = themeNamed('mono', 'dark')
const LINE: Line = [
  { text: ' 1 ', tone: 'text' },
  { text: '●', tone: 'alive' },
  { text: ' running', tone: 'alive' },
  { text: '', tone: 'alarm' },
  { text: ' 6 ', tone: 'alarm' },
  { text: 'dup  ', tone: 'text' },
]

test('a code at each change of tone, none for the terminal’s own, and the terminal’s own style at the end', () => {
  expect(paintLine(LINE, DARK)).toBe(' 1 \u001b[36m● running\u001b[0;1;7;33m 6 \u001b[0mdup  ')
  expect(paintLine([{ text: 'x', tone: 'dead' }], DARK)).toBe('\u001b[1;91mx\u001b[0m')
})

test('without colours bold and reverse are left, and a line without a tone has no codes at all', () => {
  expect(paintLine(LINE, MONO)).toBe(' 1 ● running\u001b[1;7m 6 \u001b[0mdup  ')
  expect(paintLine([{ text: 'plain', tone: 'text' }], DARK)).toBe('plain')
})

test('as text: no codes, no blanks at the end', () => {
  expect(textOf(LINE)).toBe(' 1 ● running 6 dup')
})

test('whatever stands in a span, a terminal gets no control but SGR codes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const painted = paintLine([{ text, tone: 'alarm' }], DARK)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
      expect(painted.replace(/\u001b\[[\d;]*m/g, '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    }),
  )
})
