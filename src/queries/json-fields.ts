/**
 * Finds named members of a JSON object in its bytes, and checks on the way that the bytes are JSON (RFC 8259) in UTF-8.
 *
 * Nothing is built: what comes back is where each value stands, so that a number can be read digit by digit, a text copied as
 * bytes, and everything else costs only the walk over it. Depth is bounded, so no input can overflow the stack.
 */
import { isUtf8 } from 'node:buffer'

export type FieldsOutcome = 'found' | 'not-an-object' | 'not-json' | 'not-utf8' | 'too-deep'

/** What stands at a member. `escaped`: a text with a backslash in it. `other`: true, false, an object or an array. */
export const FIELD_KINDS = { absent: 0, null: 1, number: 2, string: 3, escaped: 4, other: 5 } as const

/** Objects and arrays in each other, the outermost one counted. */
export const MAX_DEPTH = 64

/**
 * @param names the members' names as bytes
 * @param found three numbers a name, filled in: kind, start and end (a text's without its quotes). Of a member that comes twice the last counts.
 */
export function findFields(bytes: Uint8Array, names: readonly Uint8Array[], found: Int32Array): FieldsOutcome {
  found.fill(0)
  sawHighByte = false
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN_BRACE) return 'not-an-object'
  at = readMembers(bytes, at + 1, names, found)
  if (at >= 0 && skipSpace(bytes, at) !== bytes.length) at = NOT_JSON
  if (sawHighByte && !isUtf8(bytes)) return 'not-utf8'
  return at >= 0 ? 'found' : at === TOO_DEEP ? 'too-deep' : 'not-json'
}

// A walker gives the position after what it walked over, or one of these.
const NOT_JSON = -1
const TOO_DEEP = -2

/** Whether a byte above 127 was met, and whether the last text had a backslash. */
let sawHighByte = false
let sawEscape = false

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const SMALL_U = 0x75

function byteAt(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? (bytes[at] as number) : -1
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    at += 1
  }
  return at
}

/** The outermost object, after its brace. */
function readMembers(bytes: Uint8Array, start: number, names: readonly Uint8Array[], found: Int32Array): number {
  let at = skipSpace(bytes, start)
  if (byteAt(bytes, at) === CLOSE_BRACE) return at + 1
  while (true) {
    if (byteAt(bytes, at) !== QUOTE) return NOT_JSON
    const nameStart = at + 1
    sawEscape = false
    at = skipString(bytes, nameStart)
    if (at < 0) return at
    const field = fieldOf(bytes, nameStart, at - 1, names)
    at = skipSpace(bytes, at)
    if (byteAt(bytes, at) !== COLON) return NOT_JSON
    at = skipSpace(bytes, at + 1)
    const first = byteAt(bytes, at)
    const valueStart = first === QUOTE ? at + 1 : at
    sawEscape = false
    at = skipValue(bytes, at, 1)
    if (at < 0) return at
    if (field >= 0) {
      found[field * 3] = kindOf(first)
      found[field * 3 + 1] = valueStart
      found[field * 3 + 2] = first === QUOTE ? at - 1 : at
    }
    at = skipSpace(bytes, at)
    const next = byteAt(bytes, at)
    if (next === CLOSE_BRACE) return at + 1
    if (next !== COMMA) return NOT_JSON
    at = skipSpace(bytes, at + 1)
  }
}

function kindOf(first: number): number {
  if (first === QUOTE) return sawEscape ? FIELD_KINDS.escaped : FIELD_KINDS.string
  if (first === MINUS || (first >= ZERO && first <= NINE)) return FIELD_KINDS.number
  return first === 0x6e ? FIELD_KINDS.null : FIELD_KINDS.other
}

/** Which of the names stands between two quotes, or -1. */
function fieldOf(bytes: Uint8Array, start: number, end: number, names: readonly Uint8Array[]): number {
  if (sawEscape) {
    const name = Buffer.from(decodeText(bytes, start, end))
    return names.findIndex((candidate) => name.equals(candidate))
  }
  for (let field = 0; field < names.length; field++) {
    const name = names[field] as Uint8Array
    if (name.length !== end - start) continue
    let same = 0
    while (same < name.length && name[same] === bytes[start + same]) same += 1
    if (same === name.length) return field
  }
  return -1
}

/** The text between two quotes of JSON that was checked before. A surrogate without its partner stays one. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

/** @param depth how many objects and arrays the value lies in */
function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  switch (byteAt(bytes, at)) {
    case QUOTE:
      return skipString(bytes, at + 1)
    case OPEN_BRACE:
      return depth === MAX_DEPTH ? TOO_DEEP : skipObject(bytes, at + 1, depth + 1)
    case OPEN_BRACKET:
      return depth === MAX_DEPTH ? TOO_DEEP : skipArray(bytes, at + 1, depth + 1)
    case 0x6e:
      return skipWord(bytes, at, NULL)
    case 0x74:
      return skipWord(bytes, at, TRUE)
    case 0x66:
      return skipWord(bytes, at, FALSE)
    default:
      return skipNumber(bytes, at)
  }
}

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) if (byteAt(bytes, at + i) !== word[i]) return NOT_JSON
  return at + word.length
}

/** After the opening quote; gives the position after the closing one. */
function skipString(bytes: Uint8Array, start: number): number {
  const end = bytes.length
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte >= 0x80) sawHighByte = true
    else if (byte < 0x20) return NOT_JSON
    else if (byte === BACKSLASH) {
      sawEscape = true
      at += 1
      const escaped = byteAt(bytes, at)
      if (escaped === SMALL_U) {
        for (let digit = 1; digit <= 4; digit++) if (!isHexDigit(byteAt(bytes, at + digit))) return NOT_JSON
        at += 4
      } else if (!SIMPLE_ESCAPES.has(escaped)) return NOT_JSON
    }
  }
  return NOT_JSON
}

const SIMPLE_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (isDigit(byteAt(bytes, at))) at += 1
  return at
}

function skipNumber(bytes: Uint8Array, start: number): number {
  let at = byteAt(bytes, start) === MINUS ? start + 1 : start
  const whole = at
  at = skipDigits(bytes, at)
  if (at === whole || (at > whole + 1 && bytes[whole] === ZERO)) return NOT_JSON
  if (byteAt(bytes, at) === POINT) {
    const fraction = at + 1
    at = skipDigits(bytes, fraction)
    if (at === fraction) return NOT_JSON
  }
  if ((byteAt(bytes, at) | 0x20) === 0x65) {
    const sign = byteAt(bytes, at + 1)
    const exponent = sign === MINUS || sign === PLUS ? at + 2 : at + 1
    at = skipDigits(bytes, exponent)
    if (at === exponent) return NOT_JSON
  }
  return at
}

function skipArray(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start)
  if (byteAt(bytes, at) === CLOSE_BRACKET) return at + 1
  while (true) {
    at = skipValue(bytes, at, depth)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    const next = byteAt(bytes, at)
    if (next === CLOSE_BRACKET) return at + 1
    if (next !== COMMA) return NOT_JSON
    at = skipSpace(bytes, at + 1)
  }
}

function skipObject(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start)
  if (byteAt(bytes, at) === CLOSE_BRACE) return at + 1
  while (true) {
    if (byteAt(bytes, at) !== QUOTE) return NOT_JSON
    at = skipString(bytes, at + 1)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (byteAt(bytes, at) !== COLON) return NOT_JSON
    at = skipValue(bytes, skipSpace(bytes, at + 1), depth)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    const next = byteAt(bytes, at)
    if (next === CLOSE_BRACE) return at + 1
    if (next !== COMMA) return NOT_JSON
    at = skipSpace(bytes, at + 1)
  }
}
