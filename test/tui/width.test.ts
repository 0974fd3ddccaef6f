/** Cells and cutting: a fast path for most characters must agree with the exact measure, and nothing is ever wider than asked. */
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { shownText } from '../../src/tui/foreign-text.js'
import { lineWidth, span, wrapSpans } from '../../src/tui/spans.js'
import { cellWidth, clip, headOf, loadWidths, padLeft, padRight } from '../../src/tui/width.js'

await loadWidths()

const SAFE = fc.string({ unit: 'binary', maxLength: 30 }).map((text) => shownText(text, false))

test('every character of the basic plane has its exact width', () => {
  for (let code = 0x20; code < 0xd800; code++) {
    const text = shownText(String.fromCodePoint(code), false)
    expect(cellWidth(text), `U+${code.toString(16)}`).toBe(stringWidth(text))
  }
})

describe('cutting', () => {
  test('fills and cuts to cells, not to characters', () => {
    expect(clip('events_copy', 8, '…')).toBe('events_…')
    expect(clip('注文コピー', 6, '…')).toBe('注文…')
    expect(clip('注文', 4, '…')).toBe('注文')
    expect(padRight('注文', 6, '…')).toBe('注文  ')
    expect(padLeft('7', 3, '…')).toBe('  7')
    expect(clip('events_copy', 2, '...')).toBe('..')
  })

  test('a combining mark stays with its letter', () => {
    expect(headOf('e\u0301a', 1)).toBe('e\u0301')
    expect(clip('e\u0301e\u0301e\u0301', 2, '…')).toBe('e\u0301…')
  })

  test('no text is wider than what was asked for', () => {
    fc.assert(
      fc.property(SAFE, fc.integer({ min: 0, max: 40 }), (text, width) => {
        expect(stringWidth(clip(text, width, '…'))).toBeLessThanOrEqual(width)
        expect(stringWidth(clip(text, width, '...'))).toBeLessThanOrEqual(width)
        expect(cellWidth(padRight(text, width, '…'))).toBe(width)
      }),
    )
  })
})

describe('wrapping', () => {
  const wrapped = (text: string, width: number) => wrapSpans([span(text)], width).map((line) => line.map((part) => part.text).join(''))

  test('breaks between words, and a long word into pieces', () => {
    expect(wrapped('it will run batch 7 again', 11)).toEqual(['it will run', 'batch 7', 'again'])
    expect(wrapped('abcdefgh ij', 3)).toEqual(['abc', 'def', 'gh', 'ij'])
    expect(wrapped('', 10)).toEqual([])
  })

  test('tones stay with their words across lines', () => {
    const lines = wrapSpans([span('Next: ', 'said'), span('s', 'key'), span(' start it', 'said')], 8)
    expect(lines).toEqual([[span('Next:', 'said'), span(' s', 'key')], [span('start it', 'said')]])
  })

  test('no line is wider than asked, and no word is lost', () => {
    fc.assert(
      fc.property(fc.array(SAFE, { maxLength: 8 }), fc.integer({ min: 2, max: 20 }), (words, width) => {
        const lines = wrapSpans([span(words.join(' '))], width)
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width)
        const letters = (text: string) => text.replace(/ /g, '')
        expect(letters(lines.map((line) => line.map((part) => part.text).join('')).join(''))).toBe(letters(words.join(' ')))
      }),
    )
  })
})

test('foreign text in ASCII keeps what it was readable', () => {
  expect(shownText('a\u001b[2J注', true)).toBe('a\\u{1b}[2J\\u{6ce8}')
  expect(shownText('e\u0301\u0301\u0301\u0301\u0301\u0301', false)).toBe('e\u0301\u0301\u0301')
})
