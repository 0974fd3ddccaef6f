/**
 * The newest moment of each key, over rows that come and go: 128-bit hashes of keys in open addressing over flat arrays, 36 bytes a
 * slot, with a signed 64-bit number as the moment.
 */
import { WORDS_PER_HASH } from '../store/row-hash.js'

const SMALLEST_CAPACITY = 1024

/** Rows by key and moment, as `keyedRowsOf` makes them. Rows without a key are left out. */
export interface KeyedRows {
  /** `WORDS_PER_HASH` words a row. */
  readonly keys: Uint32Array
  readonly moments: BigInt64Array
}

export class NewestByKey {
  #keys = new Int32Array(SMALLEST_CAPACITY * WORDS_PER_HASH)
  #moments = new BigInt64Array(SMALLEST_CAPACITY)
  /** Of all rows of the key, so that with one row left its moment is known; what is beyond 64 bits falls off and comes back. */
  #sums = new BigInt64Array(SMALLEST_CAPACITY)
  /** Rows of the key; 0 in a slot that was used says that all of them went. */
  #counts = new Uint32Array(SMALLEST_CAPACITY)
  #used = new Uint8Array(SMALLEST_CAPACITY)
  #usedCount = 0
  #keyCount = 0
  #rowCount = 0

  /** Rows taken in and not taken out. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Keys that differ. */
  get keyCount(): number {
    return this.#keyCount
  }

  add({ keys, moments }: KeyedRows): void {
    const words = signed(keys)
    for (let row = 0; row < moments.length; row++) this.#put(words, row * WORDS_PER_HASH, moments[row] as bigint)
    this.#rowCount += moments.length
  }

  /**
   * Takes rows out that were added.
   * @returns false when it is not known any more which moment of some key is the newest: then all has to be added anew
   */
  remove({ keys, moments }: KeyedRows): boolean {
    const words = signed(keys)
    for (let row = 0; row < moments.length; row++) {
      const slot = this.#slotOf(words, row * WORDS_PER_HASH)
      const left = (this.#counts[slot] as number) - 1
      if (left < 0) return false
      const moment = moments[row] as bigint
      this.#counts[slot] = left
      this.#sums[slot] = (this.#sums[slot] as bigint) - moment
      if (left === 0) this.#keyCount--
      else if (left === 1) this.#moments[slot] = this.#sums[slot] as bigint
      else if (this.#moments[slot] === moment) return false
    }
    this.#rowCount -= moments.length
    return true
  }

  /** Keys of this that `other` lacks, or has with an older moment only. */
  keysBehind(other: NewestByKey): number {
    let behind = 0
    for (let slot = 0; slot < this.#used.length; slot++) {
      if (this.#counts[slot] === 0) continue
      const there = other.#slotOf(this.#keys, slot * WORDS_PER_HASH)
      if (other.#counts[there] === 0 || (other.#moments[there] as bigint) < (this.#moments[slot] as bigint)) behind++
    }
    return behind
  }

  #put(words: Int32Array, at: number, moment: bigint): void {
    let slot = this.#slotOf(words, at)
    if (this.#used[slot] === 0) {
      if ((this.#usedCount + 1) * 4 > this.#used.length * 3) {
        this.#double()
        slot = this.#slotOf(words, at)
      }
      this.#keys.set(words.subarray(at, at + WORDS_PER_HASH), slot * WORDS_PER_HASH)
      this.#used[slot] = 1
      this.#usedCount++
    }
    const count = this.#counts[slot] as number
    if (count === 0) this.#keyCount++
    if (count === 0 || moment > (this.#moments[slot] as bigint)) this.#moments[slot] = moment
    this.#sums[slot] = (count === 0 ? 0n : (this.#sums[slot] as bigint)) + moment
    this.#counts[slot] = count + 1
  }

  /** The slot that holds this key, or the free one where it belongs. */
  #slotOf(words: Int32Array, at: number): number {
    const keys = this.#keys
    const mask = this.#used.length - 1
    let slot = (words[at] as number) & mask
    while (this.#used[slot] === 1) {
      const key = slot * WORDS_PER_HASH
      if (keys[key] === words[at] && keys[key + 1] === words[at + 1] && keys[key + 2] === words[at + 2] && keys[key + 3] === words[at + 3]) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  /** Into arrays twice as large, without the keys that went. */
  #double(): void {
    const [keys, moments, sums, counts, used] = [this.#keys, this.#moments, this.#sums, this.#counts, this.#used]
    this.#keys = new Int32Array(keys.length * 2)
    this.#moments = new BigInt64Array(moments.length * 2)
    this.#sums = new BigInt64Array(sums.length * 2)
    this.#counts = new Uint32Array(counts.length * 2)
    this.#used = new Uint8Array(used.length * 2)
    this.#usedCount = 0
    for (let slot = 0; slot < used.length; slot++) {
      if (counts[slot] === 0) continue
      const to = this.#slotOf(keys, slot * WORDS_PER_HASH)
      this.#keys.set(keys.subarray(slot * WORDS_PER_HASH, (slot + 1) * WORDS_PER_HASH), to * WORDS_PER_HASH)
      this.#moments[to] = moments[slot] as bigint
      this.#sums[to] = sums[slot] as bigint
      this.#counts[to] = counts[slot] as number
      this.#used[to] = 1
      this.#usedCount++
    }
  }
}

function signed(keys: Uint32Array): Int32Array {
  return new Int32Array(keys.buffer, keys.byteOffset, keys.length)
}
