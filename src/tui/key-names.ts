/**
 * What a terminal's codes mean as keys: xterm's and VT220's, with the variants of rxvt, the Linux console and kitty's keyboard
 * protocol. Pure tables and functions; null for what is no key of ours. Sources: xterm's ctlseqs, rxvt's rxvtRef, console_codes(4),
 * kitty's "comprehensive keyboard handling".
 */

/** CSI finals, and SS3 finals of the cursor and function keys. */
const BY_FINAL: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
}

/** `CSI NUMBER ~`. */
const BY_NUMBER: Readonly<Record<number, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  11: 'f1',
  12: 'f2',
  13: 'f3',
  14: 'f4',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
}

/** rxvt's arrows: small letters after CSI are shifted, after SS3 they are with ctrl. */
const RXVT_ARROWS: Readonly<Record<string, string>> = { a: 'up', b: 'down', c: 'right', d: 'left' }

/** The number pad in application mode: `SS3 j` is its `*`. */
const KEYPAD: Readonly<Record<string, string>> = { M: 'enter', X: '=', j: '*', k: '+', l: ',', m: '-', n: '.', o: '/' }

const SHIFT = 1
const ALT = 2
const CTRL = 4
/** Super, hyper and meta: a key for the desktop. */
const FOREIGN_MODIFIERS = 8 | 16 | 32
const RELEASED = 3

/** The key of `CSI parameters final`, without a paste's brackets. */
export function keyOfCsi(parameters: string, final: string): string | null {
  // `CSI ? …`, `CSI < …` (mouse), `CSI > …` are answers and reports.
  if (/[^\d;:]/.test(parameters)) return null
  const [first = '', second = '', third = ''] = parameters.split(';')
  const number = numberOf(first, 1)
  if (final === 'u') return keyOfCode(first, second)
  if (final === '~') return number === 27 && third !== '' ? keyOfCode(third, second) : withModifiers(BY_NUMBER[number], second)
  if (final === 'Z') return parameters === '' || number === 1 ? withModifiers('tab', second === '' ? '2' : second) : null
  // Without parameters these are focus in and out.
  if (final === 'I') return number === 1 && second !== '' ? withModifiers('tab', second) : null
  if (parameters === '' && final in RXVT_ARROWS) return `shift-${RXVT_ARROWS[final]}`
  if (/^\d+$/.test(parameters) && '^$@'.includes(final)) return withModifiers(BY_NUMBER[number], { '^': '5', $: '2', '@': '6' }[final] ?? '')
  // A cursor position report ends in R too, but seldom stands in row 1.
  return number === 1 ? withModifiers(BY_FINAL[final], second) : null
}

/** The key of `SS3 parameters final`; some terminals put the modifier there. */
export function keyOfSs3(parameters: string, final: string): string | null {
  if (parameters === '' && final in RXVT_ARROWS) return `ctrl-${RXVT_ARROWS[final]}`
  if (parameters === '' && final >= 'p' && final <= 'y') return String(final.charCodeAt(0) - 'p'.charCodeAt(0))
  if (parameters === '' && final in KEYPAD) return KEYPAD[final] ?? null
  return withModifiers(BY_FINAL[final], parameters.split(';').at(-1) ?? '')
}

/** `ESC [ [ A` to `E`: F1 to F5 of the Linux console. */
export function keyOfLinuxConsole(final: string): string | null {
  return final >= 'A' && final <= 'E' ? `f${final.charCodeAt(0) - 'A'.charCodeAt(0) + 1}` : null
}

/** The key of a C0 control, DEL, or a printable code point; null for C1 controls and U+FFFD, which stands for bytes that somebody else found broken. */
export function keyOfCodePoint(code: number): string | null {
  if (code === 0x0d || code === 0x0a) return 'enter'
  if (code === 0x09) return 'tab'
  if (code === 0x1b) return 'escape'
  if (code === 0x20) return 'space'
  if (code === 0x7f || code === 0x08) return 'backspace'
  if (code === 0) return 'ctrl-space'
  if (code < 0x20) return `ctrl-${String.fromCharCode(code + 0x40).toLowerCase()}`
  if ((code >= 0x80 && code < 0xa0) || code === 0xfffd) return null
  return String.fromCodePoint(code)
}

/** A key that came with escape before it. */
export function withAlt(name: string | null): string | null {
  return name === null ? null : `alt-${name}`
}

/** Kitty's `CODE:SHIFTED:BASE ; MODIFIERS:EVENT`, and xterm's modifyOtherKeys. */
function keyOfCode(codes: string, modifiers: string): string | null {
  const [code, shifted] = codes.split(':').map((text) => numberOf(text, 0))
  const { bits, isReleased } = modifiersOf(modifiers)
  // Private use: media keys, and modifiers pressed alone.
  if (code === undefined || code === 0 || (code >= 0xe000 && code <= 0xf8ff) || !isCodePoint(code) || isReleased || bits & FOREIGN_MODIFIERS) return null
  const name = keyOfCodePoint(code)
  if (name === null) return null
  if ([...name].length > 1) return prefixed(name, bits)
  const character = bits & SHIFT ? (shifted && isCodePoint(shifted) ? String.fromCodePoint(shifted) : name.toUpperCase()) : name
  if (bits & CTRL) return prefixed(name.toLowerCase(), bits & ~SHIFT)
  return [...character].length === 1 ? prefixed(character, bits & ~SHIFT) : null
}

function withModifiers(name: string | undefined, modifiers: string): string | null {
  if (name === undefined) return null
  const { bits, isReleased } = modifiersOf(modifiers)
  return isReleased || bits & FOREIGN_MODIFIERS ? null : prefixed(name, bits)
}

function prefixed(name: string, bits: number): string {
  return `${bits & CTRL ? 'ctrl-' : ''}${bits & ALT ? 'alt-' : ''}${bits & SHIFT ? 'shift-' : ''}${name}`
}

/** Terminals send one more than the bits, so that 1 is none. Caps lock and num lock are left out. */
function modifiersOf(text: string): { readonly bits: number; readonly isReleased: boolean } {
  const [modifiers = '', event = ''] = text.split(':')
  return { bits: Math.max(0, numberOf(modifiers, 1) - 1) & 63, isReleased: numberOf(event, 1) === RELEASED }
}

function numberOf(text: string, otherwise: number): number {
  return /^\d{1,7}$/.test(text) ? Number(text) : otherwise
}

/** Whether a number is a code point that may stand in a text. */
export function isCodePoint(code: number): boolean {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
}
