/** Pictures: every character at its cell, and a document that every parser takes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeText } from '../../src/safe-text.js'
import type { Frame, Line } from '../../src/tui/line.js'
import { svgOf } from '../../src/tui/svg.js'
import { themeNamed } from '../../src/tui/theme.js'
import { cellWidth } from '../../src/tui/width.js'
import { loadWidths } from '../../src/tui/width.js'

await loadWidths()

const DARK = themeNamed('default', 'dark')
const FRAME: Frame = [
  [
    { text: ' ✕ KILLED', tone: 'dead' },
    { text: '  a <b> & "c"', tone: 'text' },
  ],
  [
    { text: '日本 x', tone: 'text' },
    { text: ' 6 ', tone: 'alarm' },
  ],
]

test('each text stands at its cell with its length said, wide characters on two cells', () => {
  const svg = svgOf(FRAME, { columns: 30, rows: 2 }, DARK)
  expect(textsOf(svg)).toEqual([
    { row: 0, cell: 1, cells: 1, text: '✕' },
    { row: 0, cell: 3, cells: 6, text: 'KILLED' },
    { row: 0, cell: 11, cells: 1, text: 'a' },
    { row: 0, cell: 13, cells: 3, text: '<b>' },
    { row: 0, cell: 17, cells: 1, text: '&' },
    { row: 0, cell: 19, cells: 3, text: '"c"' },
    { row: 1, cell: 0, cells: 4, text: '日本' },
    { row: 1, cell: 5, cells: 1, text: 'x' },
    { row: 1, cell: 7, cells: 1, text: '6' },
  ])
})

test('reverse is a box in the colour of the tone, and the ground follows the theme', () => {
  expect(svgOf(FRAME, { columns: 30, rows: 2 }, DARK)).toMatch(/<rect x="64" y="29" width="27" height="19" fill="#e6b450"\/>/)
  expect(svgOf(FRAME, { columns: 30, rows: 2 }, themeNamed('light', 'dark'))).toContain('<rect width="290" height="58" rx="8" fill="#ffffff"/>')
})

test('characters that XML has no place for are marks', () => {
  const svg = svgOf([[{ text: 'a\ufffeb\uffffc', tone: 'text' }]], { columns: 10, rows: 1 }, DARK)
  expect(textsOf(svg).map(({ text }) => text)).toEqual(['a', '\ufffd', 'b', '\ufffd', 'c'])
})

test('whatever the text, the document is whole and each cell reads as on the terminal', () => {
  const line: fc.Arbitrary<Line> = fc.array(
    fc.record({ text: fc.string({ unit: 'binary' }).map((text) => safeText(text)), tone: fc.constantFrom('text', 'alarm', 'dead') }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 3 }), (frame) => {
      const svg = svgOf(frame, { columns: 80, rows: 3 }, DARK)
      for (const one of svg.trimEnd().split('\n')) expect(one).toMatch(WHOLE_ELEMENT)
      for (const [row, spans] of frame.entries()) {
        const texts = textsOf(svg).filter((text) => text.row === row)
        const visible = spans.flatMap(({ text }) =>
          [...new Intl.Segmenter().segment(text)].filter(({ segment }) => cellWidth(segment) > 0).map(({ segment }) => segment),
        )
        expect(texts.map(({ text }) => text).join('')).toBe(
          visible
            .join('')
            .replaceAll(' ', '')
            .replace(/[\ufffe\uffff]/g, '\ufffd'),
        )
      }
    }),
  )
})

/** A line of the document: an element that is opened or closed, or a text in which every mark of XML is an entity. XML 1.0 characters only. */
const WHOLE_ELEMENT =
  /^(<svg [^<>]+>|<rect [^<>]+\/>|<g [^<>]+>|<\/g>|<\/svg>|<text [^<>&]+>(?:[\t\n\r\u0020-\u0025\u0027-\u003b=?-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&amp;|&lt;|&gt;)+<\/text>)$/u

interface PlacedText {
  readonly row: number
  readonly cell: number
  readonly cells: number
  readonly text: string
}

function textsOf(svg: string): PlacedText[] {
  return [...svg.matchAll(/<text x="(\d+)" y="(\d+)" textLength="(\d+)"[^>]*>([^<]*)<\/text>/g)].map(({ 1: x, 2: y, 3: length, 4: text = '' }) => ({
    row: (Number(y) - 24) / 19,
    cell: (Number(x) - 10) / 9,
    cells: Number(length) / 9,
    text: text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  }))
}
