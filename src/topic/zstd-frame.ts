/**
 * How much a zstd frame can ask for, told from its headers alone (RFC 8878): fzstd has no limit, and a block of four bytes may stand
 * for 128 KiB.
 */
import { ByteReader } from './kafka-bytes.js'

/**
 * Refuses frames that need more memory than is allowed, for their content or for their window.
 * @throws RangeError, also for what is not zstd
 */
export function checkZstdFrames(bytes: Uint8Array, largestBytes: number): void {
  const reader = new ByteReader(bytes)
  let total = 0
  const count = (size: number): void => {
    total += size
    if (total > largestBytes) throw new RangeError(`more than ${largestBytes} bytes`)
  }
  while (reader.remaining > 0) {
    const magic = littleEndian(reader, 4)
    if (magic === FRAME_MAGIC) checkFrame(reader, largestBytes, count)
    else if (magic >= SKIPPABLE_MAGIC && magic < SKIPPABLE_MAGIC + 16) reader.skip(littleEndian(reader, 4))
    else throw new RangeError('no zstd frame begins here')
  }
}

const FRAME_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50

/** What a compressed block holds at most. */
const LARGEST_BLOCK = 128 * 1024
const RAW = 0
const REPEATED = 1

function checkFrame(reader: ByteReader, largestBytes: number, count: (size: number) => void): void {
  const flags = littleEndian(reader, 1)
  const isSingleSegment = (flags & 0x20) !== 0
  const hasChecksum = (flags & 0x04) !== 0
  // In a single segment the window is the content.
  const windowBytes = isSingleSegment ? 0 : windowOf(littleEndian(reader, 1))
  reader.skip([0, 1, 2, 4][flags & 3] as number)
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >>> 6] as number
  const contentBytes = littleEndian(reader, sizeBytes)
  // Memory for either is taken before a block is read.
  if (windowBytes > largestBytes || contentBytes > largestBytes) throw new RangeError(`more than ${largestBytes} bytes`)
  for (let isLast = false; !isLast; ) {
    const header = littleEndian(reader, 3)
    isLast = (header & 1) === 1
    const type = (header >>> 1) & 3
    const size = header >>> 3
    count(type === RAW || type === REPEATED ? size : LARGEST_BLOCK)
    reader.skip(type === REPEATED ? 1 : size)
  }
  if (hasChecksum) reader.skip(4)
}

/** Five bits of exponent, three of mantissa. */
function windowOf(descriptor: number): number {
  return 2 ** (10 + (descriptor >>> 3)) * (1 + (descriptor & 7) / 8)
}

function littleEndian(reader: ByteReader, count: number): number {
  return reader.take(count).reduceRight((value, byte) => value * 256 + byte, 0)
}
