/**
 * Rows by their key: one pass over a batch builds it, one pass over another's key columns finds what matches. Two keys are equal when
 * their values are, which is looked up each time: the hash only says where to look. A key with a null in it equals no key (SQL's `=`).
 */
import type { Columns, Vector } from './columns.js'
import { hashVectors, WORDS_PER_HASH } from './row-hash.js'
import { vectorNamed } from './vector-named.js'
import { equalityOf, isNull, type RowEquality } from './vector-order.js'

const NO_ROW = -1

export interface KeyIndex {
  readonly vectors: readonly Vector[]
  /** The first row of each different key, in row order; keys with nulls are left out. */
  readonly firstRows: Int32Array
  /** For each row the next one with the same key, or -1. */
  readonly nextRows: Int32Array
  readonly hashes: Int32Array
  /** The first row of a key in each used slot, -1 in the others; a power of two of them. */
  readonly slots: Int32Array
}

/** Indexes all rows by the named columns. Rows with the same key are chained in row order. */
export function indexByKey(columns: Columns, keyNames: readonly string[]): KeyIndex {
  const vectors = keyNames.map((name) => vectorNamed(columns, name))
  const rowCount = columns.rowCount
  const hashes = signedHashes(vectors, rowCount)
  const equal = keyEquality(vectors, vectors)
  const slots = new Int32Array(slotCountFor(rowCount)).fill(NO_ROW)
  const mask = slots.length - 1
  const nextRows = new Int32Array(rowCount).fill(NO_ROW)
  const lastRows = new Int32Array(rowCount)
  const firstRows = new Int32Array(rowCount)
  let keyCount = 0
  for (let row = 0; row < rowCount; row++) {
    if (hasNull(vectors, row)) continue
    let slot = (hashes[row * WORDS_PER_HASH] as number) & mask
    let first = slots[slot] as number
    while (first !== NO_ROW && !(sameHash(hashes, first, hashes, row) && equal(first, row))) {
      slot = (slot + 1) & mask
      first = slots[slot] as number
    }
    if (first === NO_ROW) {
      slots[slot] = row
      lastRows[row] = row
      firstRows[keyCount++] = row
    } else {
      nextRows[lastRows[first] as number] = row
      lastRows[first] = row
    }
  }
  return { vectors, firstRows: firstRows.slice(0, keyCount), nextRows, hashes, slots }
}

/**
 * For each row the first row in the index with the same key, or -1. `keyNames` name the columns here, in the index's order; their types
 * must be the index's (`schema-mismatch`).
 */
export function matchRows(index: KeyIndex, columns: Columns, keyNames: readonly string[]): Int32Array {
  const vectors = keyNames.map((name) => vectorNamed(columns, name))
  const equal = keyEquality(index.vectors, vectors)
  const matches = new Int32Array(columns.rowCount).fill(NO_ROW)
  if (index.firstRows.length === 0) return matches
  const hashes = signedHashes(vectors, columns.rowCount)
  const mask = index.slots.length - 1
  for (let row = 0; row < columns.rowCount; row++) {
    let slot = (hashes[row * WORDS_PER_HASH] as number) & mask
    let first = index.slots[slot] as number
    while (first !== NO_ROW) {
      if (sameHash(index.hashes, first, hashes, row) && !hasNull(vectors, row) && equal(first, row)) {
        matches[row] = first
        break
      }
      slot = (slot + 1) & mask
      first = index.slots[slot] as number
    }
  }
  return matches
}

/** Half full at most, so that a probe that finds nothing ends at once. */
function slotCountFor(rowCount: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(16, 2 * rowCount)))
}

function signedHashes(vectors: readonly Vector[], rowCount: number): Int32Array {
  return new Int32Array(hashVectors(vectors, rowCount).buffer)
}

function sameHash(left: Int32Array, leftRow: number, right: Int32Array, rightRow: number): boolean {
  return left[leftRow * WORDS_PER_HASH] === right[rightRow * WORDS_PER_HASH] && left[leftRow * WORDS_PER_HASH + 1] === right[rightRow * WORDS_PER_HASH + 1]
}

function keyEquality(left: readonly Vector[], right: readonly Vector[]): RowEquality {
  const equalities = left.map((vector, at) => equalityOf(vector, right[at] as Vector))
  const only = equalities[0]
  if (only !== undefined && equalities.length === 1) return only
  return (leftRow, rightRow) => equalities.every((equal) => equal(leftRow, rightRow))
}

function hasNull(vectors: readonly Vector[], row: number): boolean {
  for (const vector of vectors) if (isNull(vector, row)) return true
  return false
}
