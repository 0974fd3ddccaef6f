/** Z85, the text form in which Delta writes bytes into its log (ZeroMQ RFC 32): five characters for four bytes, most significant first. */
import { StreamtopError } from '../errors.js'

/** The bytes of a text. Throws `table-damaged` when the text is not Z85. */
export function decodeZ85(text: string): Uint8Array {
  if (text.length % 5 !== 0) throw damaged(text)
  const bytes = new Uint8Array((text.length / 5) * 4)
  const view = new DataView(bytes.buffer)
  for (let at = 0, to = 0; at < text.length; at += 5, to += 4) {
    let value = 0
    for (let i = at; i < at + 5; i++) {
      const digit = DIGITS.get(text.charAt(i))
      if (digit === undefined) throw damaged(text)
      value = value * 85 + digit
    }
    if (value > 0xffffffff) throw damaged(text)
    view.setUint32(to, value)
  }
  return bytes
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((character, digit) => [character, digit]))

function damaged(text: string): StreamtopError {
  return new StreamtopError('table-damaged', `${JSON.stringify(text.slice(0, 40))} is not Z85 text`)
}
