/**
 * The newest moment of each key, over rows that only come: 128-bit hashes of keys in open addressing over flat arrays, 24 bytes a
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
  #used = new Uint8Array(SMALLEST_CAPACITY)
  #keyCount = 0
  #rowCount = 0

  /** Rows taken in. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Keys that differ. */
  get keyCount(): number {
    return this.#keyCount
  }

  add({ keys, moments }: KeyedRows): void {
    const words = new Int32Array(keys.buffer, keys.byteOffset, keys.length)
    for (let row = 0; row < moments.length; row++) this.#put(words, row * WORDS_PER_HASH, moments[row] as bigint)
    this.#rowCount += moments.length
  }

  /** Keys of this that `other` lacks, or has with an older moment only. */
  keysBehind(other: NewestByKey): number {
    let behind = 0
    for (let slot = 0; slot < this.#used.length; slot++) {
      if (this.#used[slot] === 0) continue
      const there = other.#slotOf(this.#keys, slot * WORDS_PER_HASH)
      if (other.#used[there] === 0 || (other.#moments[there] as bigint) < (this.#moments[slot] as bigint)) behind++
    }
    return behind
  }

  #put(words: Int32Array, at: number, moment: bigint): void {
    let slot = this.#slotOf(words, at)
    if (this.#used[slot] === 1) {
      if (moment > (this.#moments[slot] as bigint)) this.#moments[slot] = moment
      return
    }
    if ((this.#keyCount + 1) * 4 > this.#used.length * 3) {
      this.#double()
      slot = this.#slotOf(words, at)
    }
    this.#keys.set(words.subarray(at, at + WORDS_PER_HASH), slot * WORDS_PER_HASH)
    this.#moments[slot] = moment
    this.#used[slot] = 1
    this.#keyCount++
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

  #double(): void {
    const [keys, moments, used] = [this.#keys, this.#moments, this.#used]
    this.#keys = new Int32Array(keys.length * 2)
    this.#moments = new BigInt64Array(moments.length * 2)
    this.#used = new Uint8Array(used.length * 2)
    for (let slot = 0; slot < used.length; slot++) {
      if (used[slot] === 0) continue
      const to = this.#slotOf(keys, slot * WORDS_PER_HASH)
      this.#keys.set(keys.subarray(slot * WORDS_PER_HASH, (slot + 1) * WORDS_PER_HASH), to * WORDS_PER_HASH)
      this.#moments[to] = moments[slot] as bigint
      this.#used[to] = 1
    }
  }
}
