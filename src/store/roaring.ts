/**
 * A set of numbers in the portable format of 64-bit Roaring bitmaps, as Delta keeps deleted rows (RoaringFormatSpec, "Standard 64-bit
 * extension"): buckets by the high 32 bits, in each one containers by the next 16, as a list, a bitmap or runs.
 */
import { StreamtopError } from '../errors.js'

/**
 * The numbers of a bitmap, ascending.
 * @throws table-damaged when the bytes are no such bitmap, or go on behind it
 */
export function decodeRoaring64(bytes: Uint8Array): Float64Array {
  const reader = new Reader(bytes)
  const buckets = reader.uint64()
  const parts: Float64Array[] = []
  let before = -1
  for (let bucket = 0; bucket < buckets; bucket++) {
    const high = reader.uint32()
    if (high <= before) throw damaged('its buckets are not in order')
    before = high
    decodeRoaring32(reader, high * 2 ** 32, parts)
  }
  if (!reader.isAtEnd()) throw damaged('it goes on behind its end')
  const numbers = new Float64Array(parts.reduce((count, part) => count + part.length, 0))
  let at = 0
  for (const part of parts) {
    numbers.set(part, at)
    at += part.length
  }
  return numbers
}

const COOKIE_WITHOUT_RUNS = 12346
const COOKIE_WITH_RUNS = 12347
/** From so many containers on, a bitmap with runs has offsets too; one without has them always. */
const OFFSETS_FROM = 4
const LARGEST_LIST = 4096

/** One 32-bit bitmap; each of its containers becomes a part. */
function decodeRoaring32(reader: Reader, base: number, parts: Float64Array[]): void {
  const cookie = reader.uint32()
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS
  if (!hasRuns && cookie !== COOKIE_WITHOUT_RUNS) throw damaged(`it begins with ${cookie}`)
  const containerCount = hasRuns ? (cookie >>> 16) + 1 : reader.uint32()
  if (containerCount > 65536) throw damaged(`it has ${containerCount} containers`)
  const isRun = hasRuns ? reader.take((containerCount + 7) >> 3) : new Uint8Array(0)
  const containers = Array.from({ length: containerCount }, () => ({ key: reader.uint16(), cardinality: reader.uint16() + 1 }))
  if (!hasRuns || containerCount >= OFFSETS_FROM) reader.take(containerCount * 4)
  for (const [index, { key, cardinality }] of containers.entries()) {
    if (index > 0 && key <= (containers[index - 1]?.key ?? 0)) throw damaged('its containers are not in order')
    const first = base + key * 65536
    const numbers = new Float64Array(cardinality)
    let filled = 0
    if (((isRun[index >> 3] ?? 0) >> (index & 7)) & 1) filled = readRuns(reader, first, numbers)
    else if (cardinality > LARGEST_LIST) filled = readBits(reader, first, numbers)
    else for (; filled < cardinality; filled++) numbers[filled] = first + reader.uint16()
    if (filled !== cardinality) throw damaged(`a container has ${filled} numbers and says ${cardinality}`)
    for (let i = 1; i < cardinality; i++) if ((numbers[i] as number) <= (numbers[i - 1] as number)) throw damaged('its numbers are not in order')
    parts.push(numbers)
  }
}

function readRuns(reader: Reader, first: number, numbers: Float64Array): number {
  let filled = 0
  for (let runs = reader.uint16(); runs > 0; runs--) {
    const start = reader.uint16()
    const end = start + reader.uint16()
    if (end > 65535) throw damaged('a run goes past its container')
    for (let low = start; low <= end; low++) numbers[filled++] = first + low
  }
  return filled
}

function readBits(reader: Reader, first: number, numbers: Float64Array): number {
  let filled = 0
  for (const [index, byte] of reader.take(8192).entries()) {
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) numbers[filled++] = first + index * 8 + bit
  }
  return filled
}

/** Little-endian numbers out of bytes; running out of them is an error. */
class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  take(count: number): Uint8Array {
    const start = this.#skip(count)
    return this.#bytes.subarray(start, start + count)
  }

  uint16(): number {
    return this.#view.getUint16(this.#skip(2), true)
  }

  uint32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  uint64(): number {
    return Number(this.#view.getBigUint64(this.#skip(8), true))
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  #skip(count: number): number {
    const start = this.#at
    if (start + count > this.#bytes.length) throw damaged('it is cut off')
    this.#at += count
    return start
  }
}

function damaged(what: string): StreamtopError {
  return new StreamtopError('table-damaged', `a Roaring bitmap cannot be read: ${what}`)
}
