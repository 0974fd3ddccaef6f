/**
 * LZ4 frames, to read (LZ4 Frame Format 1.6 and Block Format): what Java's and C's Kafka clients write. Checksums within a frame are
 * passed over, for Kafka's record batch around it has its own. Written here because the packages that read frames are native or
 * no longer kept.
 */
import { ByteReader } from './kafka-bytes.js'

/**
 * The content of all frames, one after the other.
 * @param largestBytes more than this is refused, as a RangeError
 * @throws RangeError for what is not LZ4
 */
export function readLz4Frames(bytes: Uint8Array, largestBytes: number): Uint8Array {
  const output = new Output(largestBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reader = new ByteReader(bytes)
  while (reader.remaining > 0) {
    const magic = view.getUint32(reader.skip(4), true)
    const size = magic === FRAME_MAGIC ? null : view.getUint32(reader.skip(4), true)
    if (size === null) readFrame(reader, view, output)
    else if (magic >>> 4 === SKIPPABLE_MAGIC >>> 4) reader.skip(size)
    else throw new RangeError('no LZ4 frame begins here')
  }
  return output.finish()
}

const FRAME_MAGIC = 0x184d2204
const SKIPPABLE_MAGIC = 0x184d2a50
const UNCOMPRESSED = 0x8000_0000

function readFrame(reader: ByteReader, view: DataView, output: Output): void {
  const flags = reader.int8()
  if ((flags & 0xc0) !== 0x40) throw new RangeError('the LZ4 frame is of another version')
  const hasBlockChecksum = (flags & 0x10) !== 0
  const hasContentSize = (flags & 0x08) !== 0
  const hasContentChecksum = (flags & 0x04) !== 0
  const hasDictionary = (flags & 0x01) !== 0
  if (hasDictionary) throw new RangeError('the LZ4 frame needs a dictionary')
  reader.int8()
  if (hasContentSize) reader.skip(8)
  reader.skip(1)
  const frameStart = output.length
  for (;;) {
    const size = view.getUint32(reader.skip(4), true)
    if (size === 0) break
    const block = reader.take(size & ~UNCOMPRESSED)
    if (size >= UNCOMPRESSED) output.add(block, 0, block.length)
    else readBlock(block, output, frameStart)
    if (hasBlockChecksum) reader.skip(4)
  }
  if (hasContentChecksum) reader.skip(4)
}

/** A block's matches may reach back into the blocks before it, but not out of the frame. */
function readBlock(block: Uint8Array, output: Output, frameStart: number): void {
  let at = 0
  const next = (): number => {
    const byte = block[at++]
    if (byte === undefined) throw new RangeError('an LZ4 block is cut short')
    return byte
  }
  const length = (fromToken: number): number => {
    let total = fromToken
    if (fromToken < 15) return total
    for (let byte = 255; byte === 255; ) {
      byte = next()
      total += byte
    }
    return total
  }
  while (at < block.length) {
    const token = next()
    const literals = length(token >>> 4)
    if (literals > block.length - at) throw new RangeError('an LZ4 block is cut short')
    output.add(block, at, at + literals)
    at += literals
    // The last sequence has literals alone.
    if (at === block.length) return
    const distance = next() | (next() << 8)
    const matched = length(token & 0xf) + 4
    if (distance === 0 || distance > output.length - frameStart) throw new RangeError('an LZ4 match reaches back too far')
    output.repeat(distance, matched)
  }
}

/** Bytes that grow, and that can be copied from themselves. */
class Output {
  #bytes = new Uint8Array(64 * 1024)
  length = 0

  constructor(private readonly largestBytes: number) {}

  add(source: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from)
    this.#bytes.set(source.subarray(from, to), this.length)
    this.length += to - from
  }

  /** Copies bytes from `distance` back; they may overlap with what is being written, and then repeat. */
  repeat(distance: number, count: number): void {
    this.#makeRoom(count)
    const [bytes, start] = [this.#bytes, this.length]
    if (distance >= count) bytes.copyWithin(start, start - distance, start - distance + count)
    else for (let index = start; index < start + count; index++) bytes[index] = bytes[index - distance] as number
    this.length += count
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  #makeRoom(count: number): void {
    const wanted = this.length + count
    if (wanted > this.largestBytes) throw new RangeError(`more than ${this.largestBytes} bytes`)
    if (wanted <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(wanted, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.length))
    this.#bytes = larger
  }
}
