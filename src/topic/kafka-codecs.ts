/**
 * The compressions of Kafka's record batches, to read; each is loaded when the first batch with it comes. gzip, and zstd where it
 * has it, are Node's own.
 */
import type { Decompress } from './record-batch-decoder.js'

/** The name of the codec with a number, as it stands in a batch's attributes; null for a number that Kafka has not given. */
export function codecName(number: number): string | null {
  return CODECS.get(number)?.name ?? null
}

/** Loads a codec; null when there is none of that number. */
export async function loadCodec(number: number): Promise<Decompress | null> {
  return (await CODECS.get(number)?.load()) ?? null
}

const CODECS: ReadonlyMap<number, { readonly name: string; readonly load: () => Promise<Decompress> }> = new Map([
  [1, { name: 'gzip', load: loadGzip }],
  [2, { name: 'snappy', load: loadSnappy }],
  [3, { name: 'lz4', load: loadLz4 }],
  [4, { name: 'zstd', load: loadZstd }],
])

/** What one batch may unpack to: a few bytes can ask for any amount of memory. */
const LARGEST_BATCH_BYTES = 512 * 1024 * 1024

async function loadGzip(): Promise<Decompress> {
  const { gunzipSync } = await import('node:zlib')
  return (bytes) => gunzipSync(bytes, { maxOutputLength: LARGEST_BATCH_BYTES })
}

async function loadZstd(): Promise<Decompress> {
  const zlib: object = await import('node:zlib')
  // From Node 22.15 on.
  const ofNode = (zlib as { zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array }).zstdDecompressSync
  if (ofNode) return (bytes) => ofNode(bytes, { maxOutputLength: LARGEST_BATCH_BYTES })
  const [{ decompress }, { checkZstdFrames }] = await Promise.all([import('fzstd'), import('./zstd-frame.js')])
  return (bytes) => {
    checkZstdFrames(bytes, LARGEST_BATCH_BYTES)
    return decompress(bytes)
  }
}

async function loadLz4(): Promise<Decompress> {
  const { readLz4Frames } = await import('./lz4-frame.js')
  return (bytes) => readLz4Frames(bytes, LARGEST_BATCH_BYTES)
}

async function loadSnappy(): Promise<Decompress> {
  const { snappyUncompressor } = await import('hysnappy')
  const uncompress = snappyUncompressor()
  return (bytes) => readSnappy(bytes, uncompress)
}

type Uncompress = (input: Uint8Array, outputBytes: number) => Uint8Array

/** Java's clients frame snappy as snappy-java does (a header, then blocks behind their lengths); C's write one block alone. */
function readSnappy(bytes: Uint8Array, uncompress: Uncompress): Uint8Array {
  if (!XERIAL_MAGIC.every((byte, index) => bytes[index] === byte)) return uncompressBlock(bytes, uncompress)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocks: Uint8Array[] = []
  let total = 0
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const size = view.getInt32(at)
    at += 4
    if (size < 0 || size > bytes.length - at) throw new RangeError('a snappy block is cut short')
    const block = uncompressBlock(bytes.subarray(at, at + size), uncompress)
    total += block.length
    if (total > LARGEST_BATCH_BYTES) throw new RangeError(`more than ${LARGEST_BATCH_BYTES} bytes`)
    blocks.push(block)
    at += size
  }
  return Buffer.concat(blocks, total)
}

/** 0x82 "SNAPPY" 0, then two versions of 32 bits. */
const XERIAL_MAGIC = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]
const XERIAL_HEADER_BYTES = 16

/** A block says first, as a varint, how long it will be. */
function uncompressBlock(block: Uint8Array, uncompress: Uncompress): Uint8Array {
  let size = 0
  let at = 0
  for (; at < 5; at++) {
    const byte = block[at]
    if (byte === undefined) throw new RangeError('a snappy block is cut short')
    size += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) break
  }
  if (size > LARGEST_BATCH_BYTES) throw new RangeError(`more than ${LARGEST_BATCH_BYTES} bytes`)
  return uncompress(block, size)
}
