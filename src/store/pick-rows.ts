/**
 * Rows of two sets of columns into one: a table's file with some rows replaced and some left out. Neighbouring rows are copied as
 * one piece, so that a few changes in a large file cost little more than a copy of its bytes.
 */
import { allocateValues, type Columns, MAX_BYTES, tooLong, type Vector, wordsPerValue } from './columns.js'

/** In `picks`: the row is left out. */
export const DELETED_ROW = -1

/**
 * The picked rows, in order: a number below `base.rowCount` is a row of `base`, one from there on a row of `other`, `DELETED_ROW` none.
 * Both have the same columns; `other` may be null when no number names a row of it.
 */
export function pickRows(base: Columns, other: Columns | null, picks: Int32Array): Columns {
  const runs = runsOf(picks, base.rowCount)
  let rowCount = 0
  for (let run = 0; run < runs.length; run += 3) rowCount += runs[run + 2] as number
  const vectors = base.vectors.map((vector, at) => pickVector(vector, other?.vectors[at] ?? vector, runs, rowCount))
  return { schema: base.schema, rowCount, vectors }
}

/** Three numbers a run: 0 for base or 1 for other, first row there, number of rows. */
function runsOf(picks: Int32Array, baseRows: number): Int32Array {
  let runs = new Int32Array(96)
  let end = 0
  for (let at = 0; at < picks.length; ) {
    const pick = picks[at] as number
    if (pick === DELETED_ROW) {
      at++
      continue
    }
    let length = 1
    while (at + length < picks.length && picks[at + length] === pick + length && pick + length !== baseRows) length++
    if (end === runs.length) {
      const grown = new Int32Array(2 * runs.length)
      grown.set(runs)
      runs = grown
    }
    const isOther = pick >= baseRows
    runs[end] = isOther ? 1 : 0
    runs[end + 1] = isOther ? pick - baseRows : pick
    runs[end + 2] = length
    end += 3
    at += length
  }
  return runs.subarray(0, end)
}

function pickVector(base: Vector, other: Vector, runs: Int32Array, rowCount: number): Vector {
  const nulls = pickNulls(base, other, runs, rowCount)
  const picked =
    base.offsets !== undefined && other.offsets !== undefined
      ? pickBytes(base, base.offsets, other, other.offsets, runs, rowCount)
      : { values: pickFixed(base, other, runs, rowCount) }
  return { column: base.column, ...picked, ...(nulls === undefined ? {} : { nulls }) }
}

function pickNulls(base: Vector, other: Vector, runs: Int32Array, rowCount: number): Uint8Array | undefined {
  if (base.nulls === undefined && other.nulls === undefined) return undefined
  const nulls = new Uint8Array(rowCount)
  let to = 0
  for (let run = 0; run < runs.length; run += 3) {
    const from = runs[run] === 0 ? base.nulls : other.nulls
    const length = runs[run + 2] as number
    if (from !== undefined) copyRun(from, runs[run + 1] as number, length, nulls, to)
    to += length
  }
  return nulls.includes(1) ? nulls : undefined
}

function pickFixed(base: Vector, other: Vector, runs: Int32Array, rowCount: number): Vector['values'] {
  const values = allocateValues(base.column.type, rowCount)
  // As 32-bit words, no value of 64 bits is made an object on its way.
  const to = narrowed(values)
  const fromBase = narrowed(base.values)
  const fromOther = narrowed(other.values)
  const width = wordsPerValue(base.column.type) * (values.BYTES_PER_ELEMENT / to.BYTES_PER_ELEMENT)
  let at = 0
  for (let run = 0; run < runs.length; run += 3) {
    const length = (runs[run + 2] as number) * width
    copyRun(runs[run] === 0 ? fromBase : fromOther, (runs[run + 1] as number) * width, length, to, at)
    at += length
  }
  return values
}

function pickBytes(
  base: Vector,
  baseOffsets: Int32Array,
  other: Vector,
  otherOffsets: Int32Array,
  runs: Int32Array,
  rowCount: number,
): { values: Uint8Array; offsets: Int32Array } {
  const offsets = new Int32Array(rowCount + 1)
  let row = 0
  let end = 0
  for (let run = 0; run < runs.length; run += 3) {
    const from = runs[run] === 0 ? baseOffsets : otherOffsets
    const first = runs[run + 1] as number
    const length = runs[run + 2] as number
    const shift = end - (from[first] as number)
    for (let index = 1; index <= length; index++) offsets[++row] = (from[first + index] as number) + shift
    end += (from[first + length] as number) - (from[first] as number)
    if (end > MAX_BYTES) throw tooLong(base.column)
  }
  const values = new Uint8Array(end)
  let at = 0
  for (let run = 0; run < runs.length; run += 3) {
    const isBase = runs[run] === 0
    const from = isBase ? baseOffsets : otherOffsets
    const first = runs[run + 1] as number
    const start = from[first] as number
    const length = (from[first + (runs[run + 2] as number)] as number) - start
    copyRun((isBase ? base : other).values as Uint8Array, start, length, values, at)
    at += length
  }
  return { values, offsets }
}

type Narrow = Int32Array | Uint8Array

function copyRun(from: Narrow, start: number, length: number, to: Narrow, at: number): void {
  // Below this many the call costs more than the loop.
  if (length > 24) to.set(from.subarray(start, start + length), at)
  else for (let index = 0; index < length; index++) to[at + index] = from[start + index] as number
}

function narrowed(values: Vector['values']): Narrow {
  if (values instanceof Int32Array || values instanceof Uint8Array) return values
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength >> 2)
}
