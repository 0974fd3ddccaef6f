/**
 * A 128-bit hash of each row: two rows of one schema have the same hash exactly when Spark's `distinct()` takes them for the same
 * row (nulls are equal, NaN is NaN, -0.0 is 0.0, strings by their bytes), as far as 128 bits can tell. It depends on values alone, so
 * it is the same in every file, process and run and may be stored, with `HASH_SCHEME` beside it. Not made to resist an attacker.
 *
 * Each value becomes one or more blocks of four 32-bit words, which no other value of its column becomes:
 *
 * | value | blocks |
 * | --- | --- |
 * | null | 0 0 0 0 |
 * | integer of any width, date, boolean | 1 low high 0 (64 bits, sign-extended: an INT and an equal BIGINT hash alike) |
 * | timestamp | 1 low high 0 |
 * | float, double | 1 low high 0, of the double; every NaN is the one with 7ff80000 00000000 |
 * | decimal, unscaled value in 64 bits | 1 low high 0 |
 * | decimal beyond | 2 word0 word1 0, then word2 word3 0 0 |
 * | string, binary | length+1 and the first 12 bytes, then 16 bytes a block; zero bytes fill the last |
 *
 * The blocks of a row, column after column, go through the rounds of MurmurHash3_x86_128, its length being the number of columns.
 */
import { type Columns, halvesOf, type Vector } from './columns.js'
import { vectorNamed } from './vector-named.js'

/** Changes whenever a row's hash does: hashes of two versions must not be compared. */
export const HASH_SCHEME = 1

/** Words of one hash. */
export const WORDS_PER_HASH = 4

/** Hashes of all rows over all columns: `WORDS_PER_HASH` words a row, row after row. */
export function hashRows(columns: Columns): Uint32Array {
  return hashVectors(columns.vectors, columns.rowCount)
}

/** Hashes of all rows over the named columns, in the order of the names; what `hashRows` of that projection gives. */
export function hashColumns(columns: Columns, names: readonly string[]): Uint32Array {
  return hashVectors(
    names.map((name) => vectorNamed(columns, name)),
    columns.rowCount,
  )
}

/** Hashes of `rowCount` rows over vectors that have no name to look up, as those of one schema under another's names. */
export function hashVectors(vectors: readonly Vector[], rowCount: number): Uint32Array {
  const hashes = new Uint32Array(rowCount * WORDS_PER_HASH)
  // Signed words stay small integers in the engine where unsigned ones become doubles.
  const state = new Int32Array(hashes.buffer)
  for (let at = 0; at < state.length; at += WORDS_PER_HASH) {
    state[at] = 0x73747265 // the bytes of "streamtop-rows-1", so that nothing else hashes alike by accident
    state[at + 1] = 0x616d746f
    state[at + 2] = 0x702d726f
    state[at + 3] = 0x77732d31
  }
  for (const vector of vectors) mixVector(state, vector, rowCount)
  finish(state, vectors.length)
  return hashes
}

function mixVector(state: Int32Array, vector: Vector, rowCount: number): void {
  switch (vector.column.type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
    case 'boolean':
      return mixIntegers(state, vector.values as Int32Array | Uint8Array, vector.nulls, rowCount)
    case 'long':
    case 'timestamp':
      return mixLongs(state, halvesOf(vector.values as BigInt64Array), vector.nulls, rowCount)
    case 'float':
    case 'double':
      return mixDoubles(state, vector.values as Float64Array, vector.nulls, rowCount)
    case 'decimal':
      return mixDecimals(state, halvesOf(vector.values as BigInt64Array), vector.nulls, rowCount)
    case 'string':
    case 'binary':
      return mixBytes(state, vector.values as Uint8Array, vector.offsets ?? new Int32Array(1), vector.nulls, rowCount)
  }
}

function mixIntegers(state: Int32Array, values: Int32Array | Uint8Array, nulls: Uint8Array | undefined, rowCount: number): void {
  for (let row = 0, at = 0; row < rowCount; row++, at += 4) {
    if (nulls !== undefined && nulls[row] === 1) mixBlock(state, at, 0, 0, 0, 0)
    else {
      const value = values[row] as number
      mixBlock(state, at, 1, value, value >> 31, 0)
    }
  }
}

function mixLongs(state: Int32Array, words: Int32Array, nulls: Uint8Array | undefined, rowCount: number): void {
  for (let row = 0, at = 0; row < rowCount; row++, at += 4) {
    if (nulls !== undefined && nulls[row] === 1) mixBlock(state, at, 0, 0, 0, 0)
    else mixBlock(state, at, 1, words[2 * row] as number, words[2 * row + 1] as number, 0)
  }
}

function mixDoubles(state: Int32Array, values: Float64Array, nulls: Uint8Array | undefined, rowCount: number): void {
  const double = new Float64Array(1)
  const words = new Int32Array(double.buffer)
  for (let row = 0, at = 0; row < rowCount; row++, at += 4) {
    if (nulls !== undefined && nulls[row] === 1) mixBlock(state, at, 0, 0, 0, 0)
    else {
      const value = values[row] as number
      if (Number.isNaN(value)) mixBlock(state, at, 1, 0, 0x7ff80000, 0)
      else {
        double[0] = value + 0 // -0 + 0 is 0
        mixBlock(state, at, 1, words[0] as number, words[1] as number, 0)
      }
    }
  }
}

function mixDecimals(state: Int32Array, words: Int32Array, nulls: Uint8Array | undefined, rowCount: number): void {
  for (let row = 0, at = 0; row < rowCount; row++, at += 4) {
    if (nulls !== undefined && nulls[row] === 1) mixBlock(state, at, 0, 0, 0, 0)
    else {
      const low = words[4 * row] as number
      const high = words[4 * row + 1] as number
      const sign = high >> 31
      const word2 = words[4 * row + 2] as number
      const word3 = words[4 * row + 3] as number
      if (word2 === sign && word3 === sign) mixBlock(state, at, 1, low, high, 0)
      else {
        mixBlock(state, at, 2, low, high, 0)
        mixBlock(state, at, word2, word3, 0, 0)
      }
    }
  }
}

function mixBytes(state: Int32Array, bytes: Uint8Array, offsets: Int32Array, nulls: Uint8Array | undefined, rowCount: number): void {
  for (let row = 0, at = 0; row < rowCount; row++, at += 4) {
    if (nulls !== undefined && nulls[row] === 1) mixBlock(state, at, 0, 0, 0, 0)
    else {
      let from = offsets[row] as number
      const end = offsets[row + 1] as number
      mixBlock(state, at, end - from + 1, wordAt(bytes, from, end), wordAt(bytes, from + 4, end), wordAt(bytes, from + 8, end))
      for (from += 12; from < end; from += 16) {
        mixBlock(state, at, wordAt(bytes, from, end), wordAt(bytes, from + 4, end), wordAt(bytes, from + 8, end), wordAt(bytes, from + 12, end))
      }
    }
  }
}

/** The four bytes from `at` on, low byte first; those from `end` on count as zero. */
function wordAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 <= end) {
    return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
  }
  let word = 0
  for (let index = end - 1; index >= at; index--) word = (word << 8) | (bytes[index] as number)
  return word
}

/** One round of MurmurHash3_x86_128 on the four words of `state` from `at` on. For a fixed block or a fixed state it is a bijection. */
function mixBlock(state: Int32Array, at: number, block1: number, block2: number, block3: number, block4: number): void {
  let h1 = state[at] as number
  let h2 = state[at + 1] as number
  let h3 = state[at + 2] as number
  let h4 = state[at + 3] as number

  let k = Math.imul(block1, 0x239b961b)
  h1 ^= Math.imul((k << 15) | (k >>> 17), 0xab0e9789)
  h1 = (h1 << 19) | (h1 >>> 13)
  h1 = (Math.imul((h1 + h2) | 0, 5) + 0x561ccd1b) | 0

  k = Math.imul(block2, 0xab0e9789)
  h2 ^= Math.imul((k << 16) | (k >>> 16), 0x38b34ae5)
  h2 = (h2 << 17) | (h2 >>> 15)
  h2 = (Math.imul((h2 + h3) | 0, 5) + 0x0bcaa747) | 0

  k = Math.imul(block3, 0x38b34ae5)
  h3 ^= Math.imul((k << 17) | (k >>> 15), 0xa1e38b93)
  h3 = (h3 << 15) | (h3 >>> 17)
  h3 = (Math.imul((h3 + h4) | 0, 5) + 0x96cd1c35) | 0

  k = Math.imul(block4, 0xa1e38b93)
  h4 ^= Math.imul((k << 18) | (k >>> 14), 0x239b961b)
  h4 = (h4 << 13) | (h4 >>> 19)
  h4 = (Math.imul((h4 + h1) | 0, 5) + 0x32ac3b17) | 0

  state[at] = h1
  state[at + 1] = h2
  state[at + 2] = h3
  state[at + 3] = h4
}

function finish(state: Int32Array, length: number): void {
  for (let at = 0; at < state.length; at += WORDS_PER_HASH) {
    let h1 = (state[at] as number) ^ length
    let h2 = (state[at + 1] as number) ^ length
    let h3 = (state[at + 2] as number) ^ length
    let h4 = (state[at + 3] as number) ^ length
    h1 = (h1 + h2 + h3 + h4) | 0
    h2 = finalMix((h2 + h1) | 0)
    h3 = finalMix((h3 + h1) | 0)
    h4 = finalMix((h4 + h1) | 0)
    h1 = finalMix(h1)
    h1 = (h1 + h2 + h3 + h4) | 0
    state[at] = h1
    state[at + 1] = (h2 + h1) | 0
    state[at + 2] = (h3 + h1) | 0
    state[at + 3] = (h4 + h1) | 0
  }
}

function finalMix(word: number): number {
  let mixed = word
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
