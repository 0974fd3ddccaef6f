/**
 * Makes foreign text safe to print. A table's name, a record's value or an error from another program may hold escape
 * sequences that move the cursor or characters that reorder a line; whatever a terminal would not show as itself is shown as a
 * mark instead. Pure, and one line in means one line out.
 */

/**
 * The text with every control, format, invisible and line-separating code point made visible: C0 and DEL as control pictures
 * (`␛`), others as `\u{202e}`, a lone surrogate as U+FFFD. Tabs and line ends count as controls.
 *
 * @param maxLength the most code points to give back; a longer text is cut between marks and ends in `…`
 */
export function safeText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const safe = PLAIN.test(text) ? text : text.replace(UNSAFE, visibleMark)
  return safe.length <= maxLength ? safe : cut(text, maxLength)
}

/** A value as JSON that is safe to print: the same code points as in `safeText`, here as JSON's own escapes, so nothing is lost. */
export function safeJson(value: unknown, indent?: number): string {
  // JSON.stringify escapes C0 and lone surrogates itself, so a control that is left here is layout of its own or a raw DEL or C1.
  return JSON.stringify(value, null, indent).replace(UNSAFE, (character) => (character === '\n' ? character : jsonEscape(character)))
}

const PLAIN = /^[\x20-\x7e]*$/
/** Controls, formats (bidi, zero width, tags), lone surrogates, line and paragraph separators, and what Unicode says to draw as nothing. */
export const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

function visibleMark(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return `\\u{${code.toString(16)}}`
}

function jsonEscape(character: string): string {
  let escaped = ''
  for (let unit = 0; unit < character.length; unit++) escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`
  return escaped
}

function cut(text: string, maxLength: number): string {
  const marks: string[] = []
  let length = 0
  let roomBeforeDots = 0
  for (const character of text) {
    const mark = character.replace(UNSAFE, visibleMark)
    // A mark such as `\u{202e}` is ASCII, any other is one code point.
    length += mark.length > 2 ? mark.length : 1
    if (length > maxLength) return maxLength < 1 ? '' : `${marks.slice(0, roomBeforeDots).join('')}…`
    marks.push(mark)
    if (length <= maxLength - 1) roomBeforeDots = marks.length
  }
  return marks.join('')
}
