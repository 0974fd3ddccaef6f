/**
 * How often each row is there: 128-bit row hashes with counts, in open addressing over two flat arrays. At most 48 bytes a
 * different row once it has grown past its first size. Removing closes the gap it leaves, so a set that rows come to and go from for ever
 * stays as fast as a new one.
 */
import { StreamtopError } from '../errors.js'
import { WORDS_PER_HASH } from './row-hash.js'

const SMALLEST_CAPACITY = 1024
const GREATEST_COUNT = 0xffffffff

export class RowMultiset {
  /** Four words a slot. */
  #keys = new Int32Array(SMALLEST_CAPACITY * WORDS_PER_HASH)
  /** 0 where the slot is free. */
  #counts = new Uint32Array(SMALLEST_CAPACITY)
  #mask = SMALLEST_CAPACITY - 1
  #rowCount = 0
  #distinctCount = 0

  /** Rows, each as often as it is there. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Rows that differ. */
  get distinctCount(): number {
    return this.#distinctCount
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.#keys.byteLength + this.#counts.byteLength
  }

  /** Adds rows by their hashes (`hashRows`), each once more. */
  add(hashes: Uint32Array): void {
    const words = signed(hashes)
    for (let at = 0; at < words.length; at += WORDS_PER_HASH) this.#addCount(words, at, 1)
  }

  /** Takes rows away, each once. All or none: `internal` when one of them is not there as often as it is to go. */
  remove(hashes: Uint32Array): void {
    const words = signed(hashes)
    for (let at = 0; at < words.length; at += WORDS_PER_HASH) {
      const slot = this.#slotOf(words, at)
      if ((this.#counts[slot] as number) === 0) {
        this.add(hashes.subarray(0, at))
        throw new StreamtopError('internal', 'a row was to be taken out of the counts that is not in them')
      }
      this.#removeOne(slot)
    }
  }

  /**
   * Adds each row, unless `other` holds it: then `other` loses it once instead. Two sets that rows of two sides are added to in this
   * way hold what each side has more of than the other.
   */
  addOrCancel(hashes: Uint32Array, other: RowMultiset): void {
    const words = signed(hashes)
    for (let at = 0; at < words.length; at += WORDS_PER_HASH) {
      const slot = other.#slotOf(words, at)
      if ((other.#counts[slot] as number) > 0) other.#removeOne(slot)
      else this.#addCount(words, at, 1)
    }
  }

  /** How often the row is there whose hash is the `row`th in `hashes`. */
  countOf(hashes: Uint32Array, row = 0): number {
    return this.#counts[this.#slotOf(signed(hashes), row * WORDS_PER_HASH)] as number
  }

  /** Rows of this that `other` lacks: over all rows the sum of max(0, count here - count there). */
  difference(other: RowMultiset): number {
    let sum = 0
    for (let slot = 0; slot < this.#counts.length; slot++) {
      const here = this.#counts[slot] as number
      if (here === 0) continue
      const there = other.#counts[other.#slotOf(this.#keys, slot * WORDS_PER_HASH)] as number
      if (here > there) sum += here - there
    }
    return sum
  }

  /** Calls `visit` with each row's hash (`WORDS_PER_HASH` words, good until `visit` returns) and its count, in no order. */
  forEach(visit: (hash: Uint32Array, count: number) => void): void {
    const keys = new Uint32Array(this.#keys.buffer)
    for (let slot = 0; slot < this.#counts.length; slot++) {
      const count = this.#counts[slot] as number
      if (count > 0) visit(keys.subarray(slot * WORDS_PER_HASH, (slot + 1) * WORDS_PER_HASH), count)
    }
  }

  #addCount(words: Int32Array, at: number, count: number): void {
    let slot = this.#slotOf(words, at)
    const before = this.#counts[slot] as number
    if (before === 0) {
      // Five sixths full is where 20 bytes a slot are still 48 a row just after it has doubled.
      if ((this.#distinctCount + 1) * 6 > this.#counts.length * 5) {
        this.#double()
        slot = this.#slotOf(words, at)
      }
      const to = slot * WORDS_PER_HASH
      this.#keys[to] = words[at] as number
      this.#keys[to + 1] = words[at + 1] as number
      this.#keys[to + 2] = words[at + 2] as number
      this.#keys[to + 3] = words[at + 3] as number
      this.#distinctCount++
    }
    if (before + count > GREATEST_COUNT) throw new StreamtopError('internal', `a row is there more than ${GREATEST_COUNT} times`)
    this.#counts[slot] = before + count
    this.#rowCount += count
  }

  #removeOne(slot: number): void {
    const count = (this.#counts[slot] as number) - 1
    this.#counts[slot] = count
    this.#rowCount--
    if (count > 0) return
    this.#distinctCount--
    this.#closeGap(slot)
  }

  /** Moves later rows of the run into the free slot, each only as far back as its home slot, until the gap is at the run's end. */
  #closeGap(free: number): void {
    const keys = this.#keys
    const counts = this.#counts
    const mask = this.#mask
    let gap = free
    for (let slot = (gap + 1) & mask; counts[slot] !== 0; slot = (slot + 1) & mask) {
      const home = (keys[slot * WORDS_PER_HASH] as number) & mask
      const distanceFromHome = (slot - home) & mask
      const distanceFromGap = (slot - gap) & mask
      if (distanceFromHome < distanceFromGap) continue
      keys.copyWithin(gap * WORDS_PER_HASH, slot * WORDS_PER_HASH, (slot + 1) * WORDS_PER_HASH)
      counts[gap] = counts[slot] as number
      counts[slot] = 0
      gap = slot
    }
  }

  /** The slot that holds this hash, or the free one where it belongs. */
  #slotOf(words: Int32Array, at: number): number {
    const keys = this.#keys
    const counts = this.#counts
    const mask = this.#mask
    const word0 = words[at] as number
    const word1 = words[at + 1] as number
    const word2 = words[at + 2] as number
    const word3 = words[at + 3] as number
    let slot = word0 & mask
    while (counts[slot] !== 0) {
      const key = slot * WORDS_PER_HASH
      if (keys[key] === word0 && keys[key + 1] === word1 && keys[key + 2] === word2 && keys[key + 3] === word3) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  #double(): void {
    const keys = this.#keys
    const counts = this.#counts
    this.#keys = new Int32Array(keys.length * 2)
    this.#counts = new Uint32Array(counts.length * 2)
    this.#mask = this.#counts.length - 1
    for (let slot = 0; slot < counts.length; slot++) {
      const count = counts[slot] as number
      if (count === 0) continue
      const from = slot * WORDS_PER_HASH
      const to = this.#slotOf(keys, from)
      this.#keys[to * WORDS_PER_HASH] = keys[from] as number
      this.#keys[to * WORDS_PER_HASH + 1] = keys[from + 1] as number
      this.#keys[to * WORDS_PER_HASH + 2] = keys[from + 2] as number
      this.#keys[to * WORDS_PER_HASH + 3] = keys[from + 3] as number
      this.#counts[to] = count
    }
  }
}

function signed(hashes: Uint32Array): Int32Array {
  return new Int32Array(hashes.buffer, hashes.byteOffset, hashes.length)
}
