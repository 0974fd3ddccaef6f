/**
 * A terminal's bytes as keys. Sequences may come in pieces and several keys at once; whatever is no key of ours (mouse, focus, answers
 * to questions, unknown sequences) is swallowed whole, so that no tail of it is taken for keys. Never throws, holds a bounded amount.
 *
 * An escape may be a key or the beginning of one: only silence tells. Whoever owns the timer looks at `waitMs` after each `push`, and
 * calls `flush` when nothing came for so long.
 */
import { isCodePoint, keyOfCodePoint, keyOfCsi, keyOfLinuxConsole, keyOfSs3, withAlt } from './key-names.js'
import { PASTE_LIMIT_BYTES, type KeyPress } from './keys.js'

/** Silence after an escape that makes it a key. Terminals send a sequence in one piece; a slow line may break it. */
export const ESCAPE_WAIT_MS = 50
/** Silence after a begun sequence that gives it up. */
export const SEQUENCE_WAIT_MS = 200
/** Silence in a paste that ends it, should its end never come: the keyboard must not stay dead. */
export const PASTE_WAIT_MS = 1_000

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
/** A sequence with more is swallowed unread. */
const MOST_PARAMETERS = 64
/** An OSC or DCS that goes on for longer was none. */
const MOST_STRING_BYTES = 65_536
const PASTE_END = '\x1b[201~'

/** Where in a sequence it is. `string`: in an OSC, DCS, SOS, PM or APC; `mouse`: in the three bytes of an X10 report. */
type State = 'ground' | 'escape' | 'csi' | 'ss3' | 'console' | 'mouse' | 'string' | 'string-escape' | 'paste'

export class KeyDecoder {
  #state: State = 'ground'
  /** Parameters and intermediates of the sequence. */
  #parameters = ''
  #isTooLong = false
  /** Bytes of a `mouse` report or `string` so far. */
  #count = 0
  #paste: number[] = []
  /** The last bytes of a paste, as long as they may be the beginning of its end. */
  #pasteEnd = 0
  readonly #character = new CodePointDecoder()
  #keys: KeyPress[] = []

  /** How long to wait for more before `flush`; null when nothing is held back. */
  get waitMs(): number | null {
    if (this.#state === 'paste') return PASTE_WAIT_MS
    if (this.#state === 'escape') return ESCAPE_WAIT_MS
    return this.#state === 'ground' && !this.#character.isPartial ? null : SEQUENCE_WAIT_MS
  }

  /** The keys that a chunk completes, in order. Text is taken as its UTF-8 bytes. */
  push(chunk: Uint8Array | string): KeyPress[] {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    for (const byte of bytes) this.#take(byte)
    return this.#taken()
  }

  /** Nothing more came: an escape was the key, a begun paste is all there is, anything else that was begun is dropped. */
  flush(): KeyPress[] {
    if (this.#state === 'escape') this.#emit('escape')
    if (this.#state === 'paste') this.#endPaste()
    this.#character.reset()
    this.#state = 'ground'
    return this.#taken()
  }

  #taken(): KeyPress[] {
    const keys = this.#keys
    this.#keys = []
    return keys
  }

  #emit(name: string | null): void {
    if (name !== null) this.#keys.push({ name })
  }

  #take(byte: number): void {
    if (this.#state === 'paste') return this.#takePasted(byte)
    if (this.#state === 'mouse') return this.#takeMouse()
    if (this.#state === 'string' || this.#state === 'string-escape') return this.#takeString(byte)
    if (this.#state === 'ground') return this.#takeText(byte)
    // A control inside of a sequence ends it, and is a key.
    if (byte === CAN || byte === SUB) this.#state = 'ground'
    else if (byte === ESC && this.#state === 'escape') this.#emit('escape')
    else if (byte === ESC) this.#begin('escape')
    else if (this.#state === 'escape') this.#takeEscaped(byte)
    else if (byte < 0x20 || byte > 0x7e) this.#giveUp(byte)
    else if (this.#state === 'console') this.#end(keyOfLinuxConsole(String.fromCharCode(byte)))
    else this.#takeSequence(byte)
  }

  #takeText(byte: number): void {
    if (byte === ESC) {
      this.#character.reset()
      this.#begin('escape')
      return
    }
    const code = this.#character.push(byte)
    if (code === 0x9b) this.#begin('csi')
    else if (code === 0x8f) this.#begin('ss3')
    else if (code !== null) this.#emit(keyOfCodePoint(code))
  }

  #begin(state: State): void {
    this.#state = state
    this.#parameters = ''
    this.#isTooLong = false
    this.#count = 0
  }

  #end(name: string | null): void {
    this.#state = 'ground'
    this.#emit(name)
  }

  #giveUp(byte: number): void {
    this.#state = 'ground'
    this.#takeText(byte)
  }

  #takeEscaped(byte: number): void {
    const character = String.fromCharCode(byte)
    if (byte < 0x20) {
      // Ctrl-c right after escape must not be lost.
      this.#emit('escape')
      this.#giveUp(byte)
    } else if (character === '[') this.#begin('csi')
    else if (character === 'O') this.#begin('ss3')
    else if (']PX^_'.includes(character)) this.#begin('string')
    else if (byte < 0x80) this.#end(withAlt(keyOfCodePoint(byte)))
    else this.#giveUp(byte)
  }

  #takeSequence(byte: number): void {
    const character = String.fromCharCode(byte)
    const isRxvtShift = character === '$' && this.#state === 'csi' && /^\d+$/.test(this.#parameters)
    const mayGoOn = this.#state === 'csi' ? byte < 0x40 : /[\d;]/.test(character)
    if (mayGoOn && !isRxvtShift) {
      if (this.#parameters.length < MOST_PARAMETERS) this.#parameters += character
      else this.#isTooLong = true
      return
    }
    if (this.#isTooLong) this.#end(null)
    else if (this.#state === 'ss3') this.#end(keyOfSs3(this.#parameters, character))
    else if (character === '[' && this.#parameters === '') this.#state = 'console'
    else if (character === 'M' && this.#parameters === '') this.#begin('mouse')
    else if (character === '~' && this.#parameters === '200') this.#begin('paste')
    else this.#end(keyOfCsi(this.#parameters, character))
  }

  /** The button and two coordinates are any bytes. */
  #takeMouse(): void {
    this.#count += 1
    if (this.#count === 3) this.#state = 'ground'
  }

  #takeString(byte: number): void {
    this.#count += 1
    const wasEscape = this.#state === 'string-escape'
    if (wasEscape && byte === 0x5c) this.#state = 'ground'
    else if (wasEscape) {
      // The string was broken off by another sequence.
      this.#begin('escape')
      this.#take(byte)
    } else if (byte === ESC) this.#state = 'string-escape'
    else if (byte === BEL || byte === CAN || byte === SUB || this.#count > MOST_STRING_BYTES) this.#state = 'ground'
    else if (byte < 0x20) this.#giveUp(byte)
  }

  #takePasted(byte: number): void {
    if (byte === PASTE_END.charCodeAt(this.#pasteEnd)) {
      this.#pasteEnd += 1
      if (this.#pasteEnd < PASTE_END.length) return
      this.#pasteEnd = 0
      this.#endPaste()
      return
    }
    // Only its first byte is an escape, so a broken-off end can begin again at this byte alone.
    this.#keepPasted(PASTE_END.slice(0, this.#pasteEnd))
    this.#pasteEnd = byte === ESC ? 1 : 0
    if (byte !== ESC && this.#paste.length < PASTE_LIMIT_BYTES) this.#paste.push(byte)
  }

  #keepPasted(text: string): void {
    for (let index = 0; index < text.length && this.#paste.length < PASTE_LIMIT_BYTES; index++) this.#paste.push(text.charCodeAt(index))
  }

  #endPaste(): void {
    this.#keepPasted(PASTE_END.slice(0, this.#pasteEnd))
    // A limit may cut a character in two.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(this.#paste))
    this.#paste = []
    this.#pasteEnd = 0
    this.#state = 'ground'
    this.#keys.push({ name: 'paste', text })
  }
}

/** UTF-8, a byte at a time. */
class CodePointDecoder {
  #code = 0
  #least = 0
  /** Bytes of the character that are still to come. */
  #missing = 0

  get isPartial(): boolean {
    return this.#missing > 0
  }

  /** The character that the byte completes; null when there is more to come, or the bytes are broken. */
  push(byte: number): number | null {
    if (this.#missing > 0 && (byte & 0xc0) === 0x80) {
      this.#code = (this.#code << 6) | (byte & 0x3f)
      this.#missing -= 1
      return this.#missing === 0 && this.#code >= this.#least && isCodePoint(this.#code) ? this.#code : null
    }
    this.#missing = 0
    if (byte < 0x80) return byte
    if (byte >= 0xc2 && byte <= 0xdf) this.#begin(byte & 0x1f, 1, 0x80)
    else if (byte >= 0xe0 && byte <= 0xef) this.#begin(byte & 0x0f, 2, 0x800)
    else if (byte >= 0xf0 && byte <= 0xf4) this.#begin(byte & 0x07, 3, 0x10000)
    return null
  }

  reset(): void {
    this.#missing = 0
  }

  #begin(code: number, missing: number, least: number): void {
    this.#code = code
    this.#missing = missing
    this.#least = least
  }
}
