import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { safeJson, safeText } from '../../src/safe-text.js'

const RUNS = 10_000

/** Written apart from the pattern in src: ranges by number, so that a mistake in one is not a mistake in both. */
const FORBIDDEN: ReadonlyArray<readonly [number, number, string]> = [
  [0x00, 0x1f, 'C0'],
  [0x7f, 0x9f, 'DEL and C1'],
  [0xad, 0xad, 'soft hyphen'],
  [0x34f, 0x34f, 'grapheme joiner'],
  [0x61c, 0x61c, 'Arabic letter mark'],
  [0x115f, 0x1160, 'Hangul fillers'],
  [0x180b, 0x180f, 'Mongolian selectors'],
  [0x200b, 0x200f, 'zero width, marks of direction'],
  [0x2028, 0x202e, 'line and paragraph separators, bidi'],
  [0x2060, 0x206f, 'invisible operators, isolates'],
  [0x3164, 0x3164, 'Hangul filler'],
  [0xd800, 0xdfff, 'lone surrogates'],
  [0xfe00, 0xfe0f, 'variation selectors'],
  [0xfeff, 0xfeff, 'byte order mark'],
  [0xffa0, 0xffa0, 'half-width filler'],
  [0xfff9, 0xfffb, 'annotation marks'],
  [0xe0000, 0xe0fff, 'tags'],
]

describe('safeText', () => {
  test('leaves text alone that shows as itself', () => {
    for (const text of ['', 'bronze_orders', 'Zürich 25,50 €', '注文', '🙂', '\u00a0']) expect(safeText(text)).toBe(text)
  })

  test('shows what a terminal would obey', () => {
    expect(safeText('a\u001b[2Jb')).toBe('a␛[2Jb')
    expect(safeText('one\r\ntwo\tthree')).toBe('one␍␊two␉three')
    expect(safeText('\u007f\u009b31m')).toBe('␡\\u{9b}31m')
    expect(safeText('user\u202etxt.exe')).toBe('user\\u{202e}txt.exe')
    expect(safeText('a\u200bb\ufeff\u2028')).toBe('a\\u{200b}b\\u{feff}\\u{2028}')
    expect(safeText('\ud83d alone, \ude42 alone, \ud83d\ude42 together')).toBe('\ufffd alone, \ufffd alone, 🙂 together')
  })

  test('cuts between marks and says so', () => {
    expect(safeText('bronze_orders', 13)).toBe('bronze_orders')
    expect(safeText('bronze_orders', 7)).toBe('bronze…')
    expect(safeText('🙂🙂🙂', 3)).toBe('🙂🙂🙂')
    expect(safeText('🙂🙂🙂🙂', 3)).toBe('🙂🙂…')
    expect(safeText('ab\u202ecd', 9)).toBe('ab…')
    expect(safeText('abc', 1)).toBe('…')
    expect(safeText('abc', 0)).toBe('')
  })

  test(`lets none of them through, over ${RUNS} random strings`, () => {
    fc.assert(
      fc.property(unfriendlyText(), (text) => {
        expect(forbiddenIn(safeText(text))).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('never gives back more than asked for, and the whole when it fits', () => {
    fc.assert(
      fc.property(unfriendlyText(), fc.nat(40), (text, maxLength) => {
        const whole = safeText(text)
        const short = safeText(text, maxLength)
        expect([...short].length).toBeLessThanOrEqual(maxLength)
        if ([...whole].length <= maxLength) expect(short).toBe(whole)
        else expect(short === '' || short.endsWith('…')).toBe(true)
      }),
    )
  })

  test('safe text stays as it is', () => {
    fc.assert(
      fc.property(unfriendlyText(), (text) => {
        expect(safeText(safeText(text))).toBe(safeText(text))
      }),
    )
  })
})

describe('safeJson', () => {
  test('parses back to the same value and holds no such code point', () => {
    fc.assert(
      fc.property(unfriendlyText(), (text) => {
        const json = safeJson({ [text]: [text] }, 2)
        expect(JSON.parse(json)).toEqual({ [text]: [text] })
        expect(forbiddenIn(json.replaceAll('\n', ''))).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})

test('the list in this test finds what it should', () => {
  expect(forbiddenIn('plain')).toEqual([])
  expect(forbiddenIn('\u001b')).toEqual(['C0'])
})

/** Strings of any UTF-16 units, in which the forbidden ones are frequent. */
function unfriendlyText(): fc.Arbitrary<string> {
  const forbidden = fc
    .constantFrom(...FORBIDDEN)
    .chain(([first, last]) => fc.integer({ min: first, max: last }))
    .map((code) => String.fromCodePoint(code))
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  return fc.array(fc.oneof(forbidden, unit, fc.string({ maxLength: 3, unit: 'binary' })), { maxLength: 12 }).map((pieces) => pieces.join(''))
}

function forbiddenIn(text: string): string[] {
  const found: string[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    for (const [first, last, name] of FORBIDDEN) if (code >= first && code <= last) found.push(name)
  }
  return found
}
