/** Names, keys, messages and whatever else others wrote, as a screen shows them. */
import { safeText } from '../safe-text.js'

/** No line of a screen needs more code points of one text. */
const MOST_CODE_POINTS = 1_000

/** A character with a heap of combining marks draws over the lines above it. */
const HEAPED_MARKS = /(\p{M}{3})\p{M}+/gu

const NOT_ASCII = /[^\x20-\x7e]/gu

/** Safe to draw, and on a screen of ASCII with every other character as `\u{1b}`. */
export function shownText(text: string, isAscii: boolean, maxLength = MOST_CODE_POINTS): string {
  if (!isAscii) return safeText(text, maxLength).replace(HEAPED_MARKS, '$1')
  return safeText(text.replace(NOT_ASCII, escaped), maxLength).replace('…', '...')
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
