import { expect, test } from 'vitest'
import { ESCAPE_WAIT_MS, KeyDecoder, PASTE_WAIT_MS, SEQUENCE_WAIT_MS } from '../../src/tui/decode-keys.js'
import { PASTE_LIMIT_BYTES, type KeyPress } from '../../src/tui/keys.js'
import { seededRandom } from './seeded-random.js'

/** What a terminal sends, and the keys that it means. `␛` stands for escape. */
const MEANINGS: ReadonlyArray<readonly [sent: string, keys: string]> = [
  // Text, several keys in one chunk.
  ['jj', 'j j'],
  ['xX[ é', 'x X [ space é'],
  ['日😀', '日 😀'],
  ['\r\n\t', 'enter enter tab'],
  ['\x7f\x08', 'backspace backspace'],
  ['\x00\x01\x03\x0c\x1a', 'ctrl-space ctrl-a ctrl-c ctrl-l ctrl-z'],
  ['\x1c\x1d\x1e\x1f', 'ctrl-\\ ctrl-] ctrl-^ ctrl-_'],
  // xterm: cursor keys in both modes, with modifiers.
  ['␛[A␛[B␛[C␛[D␛[H␛[F', 'up down right left home end'],
  ['␛OA␛OB␛OC␛OD␛OH␛OF', 'up down right left home end'],
  ['␛[1;5A␛[1;2B␛[1;3C␛[1;8D␛[1;5H', 'ctrl-up shift-down alt-right ctrl-alt-shift-left ctrl-home'],
  ['␛O5A␛O1;5B', 'ctrl-up ctrl-down'],
  ['␛[1~␛[2~␛[3~␛[4~␛[5~␛[6~', 'home insert delete end pageup pagedown'],
  ['␛[3;5~␛[5;2~', 'ctrl-delete shift-pageup'],
  ['␛OP␛OQ␛OR␛OS␛[15~␛[17~␛[24~', 'f1 f2 f3 f4 f5 f6 f12'],
  ['␛[1;5P␛[1;5Q␛[1;5R␛[1;5S␛[24;2~', 'ctrl-f1 ctrl-f2 ctrl-f3 ctrl-f4 shift-f12'],
  ['␛[Z␛[1;5I␛[1;6Z', 'shift-tab ctrl-tab ctrl-shift-tab'],
  ['␛OM␛Oj␛Ok␛Om␛Op␛Oy', 'enter * + - 0 9'],
  // rxvt and the Linux console.
  ['␛[7~␛[8~␛[11~␛[14~', 'home end f1 f4'],
  ['␛[7^␛[8$␛[5@', 'ctrl-home shift-end ctrl-shift-pageup'],
  ['␛[a␛[d␛Oa␛Oc', 'shift-up shift-left ctrl-up ctrl-right'],
  ['␛[[A␛[[E', 'f1 f5'],
  // Alt, and escape before another key that arrives with it.
  ['␛b␛f␛\x7f', 'alt-b alt-f alt-backspace'],
  ['␛␛[A', 'escape up'],
  ['␛\x03', 'escape ctrl-c'],
  // Kitty's protocol and modifyOtherKeys.
  ['␛[120u␛[120;2u␛[97;5u␛[27u␛[13u␛[127u', 'x X ctrl-a escape enter backspace'],
  ['␛[49:33;2u␛[97;3u␛[9;2u', '! alt-a shift-tab'],
  ['␛[120;1:3u␛[1;1:3A␛[57441u␛[120;9u', ''],
  ['␛[1;1:1A␛[1;129B', 'up down'],
  ['␛[27;5;99~', 'ctrl-c'],
  // Reports are swallowed whole: focus, mouse in four dialects, cursor position, device and mode reports, colours, XTGETTCAP, APC.
  ['␛[I␛[Oj', 'j'],
  ['␛[<0;5;5M␛[<0;5;5mj', 'j'],
  ['␛[M !!j', 'j'],
  ['␛[32;10;12Mj', 'j'],
  ['␛[24;80R␛[24;5Rj', 'j'],
  ['␛[?1;2c␛[>0;276;0c␛[?2026;2$y␛[?1uj', 'j'],
  ['␛]11;rgb:ffff/ffff/ffff␛\\j␛]52;c;S0s=\x07k', 'j k'],
  ['␛P1+r544e=787465␛\\j␛_Gi=1;OK␛\\k', 'j k'],
  ['␛[99;99;99xj␛[5;6\x18k␛[12\x03', 'j k ctrl-c'],
  ['\u009bA\u0085j', 'up j'],
]

test.each(MEANINGS)('%j is %s', (sent, keys) => {
  const bytes = new TextEncoder().encode(sent.replaceAll('␛', '\x1b'))
  expect(names(new KeyDecoder().push(bytes))).toBe(keys)
  expect(names(new KeyDecoder().push(sent.replaceAll('␛', '\x1b')))).toBe(keys)
  const decoder = new KeyDecoder()
  expect(names([...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte))))).toBe(keys)
  expect(decoder.waitMs).toBe(null)
})

test('an escape is a key when nothing follows, and only then', () => {
  const decoder = new KeyDecoder()
  expect(decoder.push('\x1b')).toEqual([])
  expect(decoder.waitMs).toBe(ESCAPE_WAIT_MS)
  expect(names(decoder.flush())).toBe('escape')
  expect(decoder.waitMs).toBe(null)
  expect(decoder.flush()).toEqual([])

  expect(names(decoder.push('\x1b[1;'))).toBe('')
  expect(decoder.waitMs).toBe(SEQUENCE_WAIT_MS)
  expect(names(decoder.push('5C'))).toBe('ctrl-right')
  // A sequence that was never finished leaves nothing, nor does the first half of a character.
  expect(names([...decoder.push('\x1b[12'), ...decoder.flush(), ...decoder.push('x')])).toBe('x')
  expect(names([...decoder.push(Uint8Array.of(0xc3)), ...decoder.flush(), ...decoder.push('x')])).toBe('x')
})

test('a paste is one key, whatever it holds and however it is cut', () => {
  const text = 'kill K\r\nD y\x03 ü \x1b[A \x1b[20\x1b[201 日'
  const bytes = new TextEncoder().encode(`a\x1b[200~${text}\x1b[201~b`)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = new KeyDecoder()
    expect([...decoder.push(bytes.slice(0, cut)), ...decoder.push(bytes.slice(cut))]).toEqual([{ name: 'a' }, { name: 'paste', text }, { name: 'b' }])
  }
})

test('a paste without an end ends by itself, and a large one is cut', () => {
  const decoder = new KeyDecoder()
  expect(decoder.push('\x1b[200~abc\x1b[2')).toEqual([])
  expect(decoder.waitMs).toBe(PASTE_WAIT_MS)
  expect(decoder.flush()).toEqual([{ name: 'paste', text: 'abc\x1b[2' }])
  expect(names(decoder.push('q'))).toBe('q')

  const [paste] = decoder.push(`\x1b[200~${'x'.repeat(1_000_000)}\x1b[201~`)
  expect(paste?.text).toBe('x'.repeat(PASTE_LIMIT_BYTES))
})

test('broken UTF-8 is nothing, and takes no key with it', () => {
  const sent = [0x80, 0x6a, 0xc3, 0x6a, 0xe2, 0x82, 0x6a, 0xc0, 0xaf, 0x6a, 0xed, 0xa0, 0x80, 0x6a, 0xf5, 0x80, 0x6a, 0xff, 0xc3, 0xa9]
  expect(names(new KeyDecoder().push(Uint8Array.from(sent)))).toBe('j j j j j j é')
})

test('endless sequences are swallowed and the keyboard comes back', () => {
  const decoder = new KeyDecoder()
  expect(names(decoder.push(`\x1b[${'1;'.repeat(100_000)}Aj`))).toBe('j')
  expect(names([...decoder.push(`\x1b]${'x'.repeat(100)}`), ...decoder.flush(), ...decoder.push('j')])).toBe('j')
  expect(names(decoder.push(`\x1bP${'x'.repeat(70_000)}`)).endsWith('x x')).toBe(true)
})

test('ten thousand chunks of random bytes throw nothing and give only names', () => {
  const { seed, next, byte } = seededRandom()
  const pieces = ['\x1b', '\x1b[', '\x1bO', '\x1b[200~', '\x1b[201~', '\x1b]', '\x1b\\', '[1;5P', '\x9b', ';', 'M', '~'].map((text) =>
    new TextEncoder().encode(text),
  )
  const decoder = new KeyDecoder()
  for (let chunk = 0; chunk < 10_000; chunk++) {
    const random = Uint8Array.from({ length: next(12) }, byte)
    const bytes = next(3) === 0 ? (pieces[next(pieces.length)] ?? random) : random
    const keys = [...decoder.push(bytes), ...(next(20) === 0 ? decoder.flush() : [])]
    for (const { name, text } of keys) {
      expect(name, `seed ${seed}, chunk ${chunk}`).toMatch(NAME)
      expect(text !== undefined, `seed ${seed}, chunk ${chunk}`).toBe(name === 'paste')
    }
  }
  decoder.flush()
  expect(names(decoder.push('q')), `seed ${seed}`).toBe('q')
})

const NAMED = 'up|down|left|right|home|end|pageup|pagedown|insert|delete|backspace|enter|escape|tab|space|paste|f[1-9]|f1[0-2]'
const NAME = new RegExp(`^(ctrl-)?(alt-)?(shift-)?(${NAMED}|\\P{Cc})$`, 'u')

function names(keys: readonly KeyPress[]): string {
  return keys.map(({ name }) => name).join(' ')
}
