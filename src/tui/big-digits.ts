/** Figures that can be read from the back of a hall: digits of seven segments, five lines or three lines high. */

/** `large`: five lines, seven cells a digit. `small`: three lines, four cells a digit. */
export type DigitSize = 'large' | 'small'

export const DIGIT_LINES: Readonly<Record<DigitSize, number>> = { large: 5, small: 3 }

/**
 * A text of digits, `-` and `?` as lines of equal width. Any other character is left blank.
 * @param isAscii drawn with `#`, or with `_` and `|` where it is small
 */
export function bigText(text: string, size: DigitSize, isAscii: boolean): string[] {
  const digits = [...text].map((character) => drawDigit(SEGMENTS[character] ?? '', size, isAscii))
  return Array.from({ length: DIGIT_LINES[size] }, (_, line) => digits.map((lines) => lines[line] ?? '').join(' '))
}

/** How many cells such a text takes. */
export function bigWidth(text: string, size: DigitSize): number {
  return [...text].length * (size === 'large' ? 7 : 4) - 1
}

/** Top, top right, bottom right, bottom, bottom left, top left, middle: `a` to `g`, as on any such display. */
const SEGMENTS: Readonly<Record<string, string>> = {
  '0': 'abcdef',
  '1': 'bc',
  '2': 'abdeg',
  '3': 'abcdg',
  '4': 'bcfg',
  '5': 'acdfg',
  '6': 'acdefg',
  '7': 'abc',
  '8': 'abcdefg',
  '9': 'abcdfg',
  '-': 'g',
  '?': 'abeg',
}

function drawDigit(segments: string, size: DigitSize, isAscii: boolean): string[] {
  if (size === 'small' && isAscii) return asStrokes(segments)
  const dots = dotsOf(segments)
  if (size === 'large') return dots.map((row) => row.map((isLit) => (isLit ? (isAscii ? '##' : '██') : '  ')).join(''))
  return [0, 2, 4].map((row) => [0, 1, 2].map((column) => HALVES[(dots[row]?.[column] ? 1 : 0) + (dots[row + 1]?.[column] ? 2 : 0)]).join(''))
}

/** Nothing, upper half, lower half, whole. */
const HALVES: readonly string[] = [' ', '▀', '▄', '█']

/** Five rows of three dots; strokes meet in the corners. */
function dotsOf(segments: string): boolean[][] {
  const has = (segment: string) => segments.includes(segment)
  const sides = (left: boolean, right: boolean) => [left, false, right]
  const across = (isAcross: boolean, left: boolean, right: boolean) => (isAcross ? [true, true, true] : sides(left, right))
  return [
    across(has('a'), has('f'), has('b')),
    sides(has('f'), has('b')),
    across(has('g'), has('f') || has('e'), has('b') || has('c')),
    sides(has('e'), has('c')),
    across(has('d'), has('e'), has('c')),
  ]
}

function asStrokes(segments: string): string[] {
  const stroke = (segment: string, character: string) => (segments.includes(segment) ? character : ' ')
  return [` ${stroke('a', '_')} `, `${stroke('f', '|')}${stroke('g', '_')}${stroke('b', '|')}`, `${stroke('e', '|')}${stroke('d', '_')}${stroke('c', '|')}`]
}
