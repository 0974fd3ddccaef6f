import { gzipSync } from 'node:zlib'
import { snappyCompress } from 'hysnappy'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecName, loadCodec } from '../../src/topic/kafka-codecs.js'
import type { Decompress } from '../../src/topic/record-batch-decoder.js'
import { readLz4Frames } from '../../src/topic/lz4-frame.js'
import { checkZstdFrames } from '../../src/topic/zstd-frame.js'

const TEXT = Buffer.from('a text that repeats, a text that repeats, a text that repeats '.repeat(50))

async function codec(number: number): Promise<Decompress> {
  const loaded = await loadCodec(number)
  if (loaded === null) throw new Error(`no codec ${number}`)
  return loaded
}

describe('codecs', () => {
  it('have names, and those of no number are not there', async () => {
    expect([1, 2, 3, 4, 5].map(codecName)).toEqual(['gzip', 'snappy', 'lz4', 'zstd', null])
    expect(await loadCodec(5)).toBeNull()
  })

  it('gzip', async () => {
    expect(Buffer.from((await codec(1))(gzipSync(TEXT)))).toEqual(TEXT)
  })

  it('snappy, alone and in frames of several blocks', async () => {
    const [whole, half] = [Buffer.from(snappyCompress(TEXT)), Buffer.from(snappyCompress(TEXT.subarray(0, 100)))]
    const sized = (block: Buffer) => Buffer.concat([Buffer.from([0, 0, block.length >> 8, block.length & 255]), block])
    const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1])
    const unpack = await codec(2)
    expect(Buffer.from(unpack(whole))).toEqual(TEXT)
    expect(Buffer.from(unpack(Buffer.concat([header, sized(half), sized(whole)])))).toEqual(Buffer.concat([TEXT.subarray(0, 100), TEXT]))
    expect(() => unpack(Buffer.concat([header, sized(whole).subarray(0, 20)]))).toThrow('cut short')
  })

  it('zstd: a frame with a raw block and one with a repeated byte', async () => {
    const frame = (...blocks: readonly Buffer[]) => Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...blocks])
    const raw = (content: Buffer, isLast: boolean) => Buffer.concat([blockHeader(content.length, 0, isLast), content])
    const repeated = (count: number, byte: number, isLast: boolean) => Buffer.concat([blockHeader(count, 1, isLast), Buffer.from([byte])])
    const unpack = await codec(4)
    expect(Buffer.from(unpack(frame(raw(Buffer.from('abc'), false), repeated(5, 0x7a, true)))).toString()).toBe('abczzzzz')
    expect(() => unpack(Buffer.from('no zstd at all'))).toThrow()
  })

  it('zstd that asks for more than a batch may have is refused before it has it', async () => {
    const repeated = (isLast: boolean) => Buffer.concat([blockHeader(128 * 1024, 1, isLast), Buffer.from([0])])
    const most = 512 * 1024 * 1024
    const size = Buffer.alloc(4)
    size.writeUInt32LE(most + 1)
    const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
    const asking = [
      // 17 KB of blocks that stand for 513 MB.
      Buffer.concat([magic, Buffer.from([0x00, 0x58]), ...Array.from({ length: 4_103 }, () => repeated(false)), repeated(true)]),
      // A content, and a window, of more than 512 MB.
      Buffer.concat([magic, Buffer.from([0xa0]), size, repeated(true)]),
      Buffer.concat([magic, Buffer.from([0x00, 20 << 3]), repeated(true)]),
    ]
    const unpack = await codec(4)
    for (const frame of asking) expect(() => unpack(frame)).toThrow()
    for (const frame of asking) expect(() => checkZstdFrames(frame, most)).toThrow(`more than ${most} bytes`)
  })
})

describe('zstd frames', () => {
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  const repeated = (count: number, isLast: boolean) => Buffer.concat([blockHeader(count, 1, isLast), Buffer.from([0])])

  it('several of them, with sizes and checksums, and frames to be skipped', () => {
    const plain = Buffer.concat([magic, Buffer.from([0x00, 0x00]), repeated(1_000, false), repeated(500, true)])
    const sized = Buffer.concat([magic, Buffer.from([0x20 | 0x04, 200]), repeated(200, true), Buffer.alloc(4)])
    const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9])
    const all = Buffer.concat([plain, skipped, sized, plain])
    checkZstdFrames(all, 3_200)
    expect(() => checkZstdFrames(all, 3_199)).toThrow('more than 3199 bytes')
    for (let length = 1; length < sized.length; length++) {
      expect(() => checkZstdFrames(sized.subarray(0, length), 1_000), `cut at ${length}`).toThrow(RangeError)
    }
  })

  it('anything is in order or a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (random) => {
        try {
          checkZstdFrames(Buffer.concat([magic, random]), 10_000)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

function blockHeader(size: number, type: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3)
  return header
}

describe('LZ4 frames', () => {
  const MOST = 1_000_000
  const size = (count: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(count >>> 0)
    return bytes
  }
  /** Flags 0x40: version 1, linked blocks, nothing else. */
  const frame = (blocks: readonly Buffer[], flags = 0x40, extra = Buffer.alloc(0), end = Buffer.alloc(0)) =>
    Buffer.concat([size(0x184d2204), Buffer.from([flags, 0x40]), extra, Buffer.from([0]), ...blocks, size(0), end])
  const stored = (text: string) => Buffer.concat([size(text.length | 0x8000_0000), Buffer.from(text)])
  const packed = (...bytes: readonly number[]) => Buffer.concat([size(bytes.length), Buffer.from(bytes)])
  const read = (bytes: Buffer) => Buffer.from(readLz4Frames(bytes, MOST)).toString()

  it('stored blocks, and matches that overlap with what they write', () => {
    expect(read(frame([stored('abc'), stored('def')]))).toBe('abcdef')
    // "ab", then 8 from 2 back, then "!".
    expect(read(frame([packed(0x24, 0x61, 0x62, 2, 0, 0x10, 0x21)]))).toBe('ababababab!')
  })

  it('a match reaches into the block before, but not out of the frame', () => {
    const reaching = packed(0x00, 3, 0, 0x10, 0x21)
    expect(read(frame([stored('xyz'), reaching]))).toBe('xyzxyzx!')
    expect(() => read(Buffer.concat([frame([stored('xyz')]), frame([reaching])]))).toThrow('reaches back too far')
  })

  it('long runs: lengths of more than one byte', () => {
    // 20 literals, 300 matched: 15 + 5, 15 + 255 + 26 + 4.
    const literals = [...Buffer.from('abcdefghijklmnopqrst')]
    expect(read(frame([packed(0xff, 5, ...literals, 20, 0, 255, 26, 0x10, 0x21)]))).toBe(`${'abcdefghijklmnopqrst'.repeat(16)}!`)
  })

  it('checksums, sizes, several frames and frames to be skipped are passed over', () => {
    const checked = frame([Buffer.concat([stored('abc'), size(1)])], 0x40 | 0x10 | 0x08 | 0x04, Buffer.alloc(8), size(9))
    const skipped = Buffer.concat([size(0x184d2a53), size(3), Buffer.from('...')])
    expect(read(Buffer.concat([checked, skipped, frame([stored('def')])]))).toBe('abcdef')
  })

  it('cut at any byte, or more than allowed: an error', () => {
    const bytes = frame([stored('abc'), packed(0x24, 0x61, 0x62, 2, 0, 0x10, 0x21)])
    for (let length = 1; length < bytes.length; length++) expect(() => readLz4Frames(bytes.subarray(0, length), MOST), `cut at ${length}`).toThrow(RangeError)
    expect(() => readLz4Frames(bytes, 5)).toThrow('more than 5 bytes')
  })

  it('anything is bytes or a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (random) => {
        try {
          readLz4Frames(frame([packed(...random)]), 10_000)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})
