/**
 * A data file's statistics as Delta keeps them in the log (Delta protocol, "Per-file Statistics"), laid out as Spark lays them
 * out. A minimum or maximum is never narrower than the data: what cannot be said truly, and in valid JSON, is left out.
 */
import { doubleText, floatText } from './cast-to-string.js'
import { formatClock, formatDays, splitMicros } from './civil-time.js'
import { type Columns, halvesOf, type Vector } from './columns.js'
import { formatDecimal } from './decimal.js'
import { stringAt, unscaledAt } from './values.js'

/**
 * A value as it is compared: number for byte, short, integer, float, double and date (days since 1970); bigint for long, timestamp
 * (microseconds since 1970) and decimal (the whole number at the column's scale); text for string.
 */
export type Comparable = number | bigint | string

export interface ValueRange {
  readonly low: Comparable
  readonly high: Comparable
}

/**
 * The JSON text of a file's statistics: row count, and for the first 32 columns the least and greatest value and how many are
 * null. Boolean and binary columns have counts of nulls alone.
 */
export function statisticsOf(columns: Columns): string {
  const minValues: string[] = []
  const maxValues: string[] = []
  const nullCounts: string[] = []
  for (const vector of columns.vectors.slice(0, INDEXED_COLUMNS)) {
    const name = JSON.stringify(vector.column.name)
    nullCounts.push(`${name}:${countNulls(vector)}`)
    const rows = extremeRows(vector, columns.rowCount)
    if (!rows) continue
    const min = lowerBoundText(vector, rows.min)
    const max = upperBoundText(vector, rows.max)
    if (min !== null) minValues.push(`${name}:${min}`)
    if (max !== null) maxValues.push(`${name}:${max}`)
  }
  return `{"numRecords":${columns.rowCount},"minValues":{${minValues}},"maxValues":{${maxValues}},"nullCount":{${nullCounts}}}`
}

/** The least and greatest value of a column; null when it has none, or when its values have no order that bounds them (boolean, binary, a NaN). */
export function rangeOf(vector: Vector, rowCount: number): ValueRange | null {
  const rows = extremeRows(vector, rowCount)
  return rows && { low: comparableAt(vector, rows.min), high: comparableAt(vector, rows.max) }
}

/** Less than, equal or greater than 0. Texts compare as their UTF-8 bytes do, as Spark compares them. */
export function compareValues(a: Comparable, b: Comparable): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

/** Delta's `delta.dataSkippingNumIndexedCols`. */
const INDEXED_COLUMNS = 32
/** Delta's `spark.databricks.io.skipping.stringPrefixLength`, in characters (code points). */
const PREFIX_CHARACTERS = 32

interface ExtremeRows {
  readonly min: number
  readonly max: number
}

function countNulls({ nulls }: Vector): number {
  let count = 0
  if (nulls) for (const isNull of nulls) count += isNull
  return count
}

/** A row with the least and one with the greatest value. */
function extremeRows(vector: Vector, rowCount: number): ExtremeRows | null {
  const { values, offsets, nulls, column } = vector
  const first = nulls ? nulls.indexOf(0) : 0
  if (first < 0 || first >= rowCount) return null
  if (values instanceof Int32Array) return extremes(values, nulls, first, rowCount)
  if (values instanceof Float64Array) return values.some(Number.isNaN) ? null : extremesWithZeros(values, nulls, first, rowCount)
  if (values instanceof BigInt64Array) return extremesOfWords(halvesOf(values), column.type.kind === 'decimal' ? 4 : 2, nulls, first, rowCount)
  if (column.type.kind === 'string' && offsets) return extremesOfTexts(values, offsets, nulls, first, rowCount)
  return null
}

function extremes(values: Int32Array | Float64Array, nulls: Uint8Array | undefined, first: number, rowCount: number): ExtremeRows {
  let [min, max] = [first, first]
  let least = values[first] as number
  let greatest = least
  for (let row = first + 1; row < rowCount; row++) {
    if (nulls?.[row] === 1) continue
    const value = values[row] as number
    if (value < least) {
      least = value
      min = row
    } else if (value > greatest) {
      greatest = value
      max = row
    }
  }
  return { min, max }
}

/** -0.0 counts as less than 0.0 here, so that a reader who tells them apart is not misled. */
function extremesWithZeros(values: Float64Array, nulls: Uint8Array | undefined, first: number, rowCount: number): ExtremeRows {
  let { min, max } = extremes(values, nulls, first, rowCount)
  if (values[min] === 0 || values[max] === 0) {
    for (let row = first; row < rowCount; row++) {
      if (values[row] !== 0 || nulls?.[row] === 1) continue
      if (Object.is(values[row], -0)) {
        if (values[min] === 0) min = row
      } else if (values[max] === 0) max = row
    }
  }
  return { min, max }
}

/** Of 64- and 128-bit values as 32-bit halves, low first: only the highest is signed. */
function extremesOfWords(halves: Int32Array, width: number, nulls: Uint8Array | undefined, first: number, rowCount: number): ExtremeRows {
  let [min, max] = [first, first]
  for (let row = first + 1; row < rowCount; row++) {
    if (nulls?.[row] === 1) continue
    if (compareHalves(halves, row * width, min * width, width) < 0) min = row
    else if (compareHalves(halves, row * width, max * width, width) > 0) max = row
  }
  return { min, max }
}

function compareHalves(halves: Int32Array, a: number, b: number, width: number): number {
  const top = (halves[a + width - 1] as number) - (halves[b + width - 1] as number)
  if (top !== 0) return top
  for (let i = width - 2; i >= 0; i--) {
    const difference = ((halves[a + i] as number) >>> 0) - ((halves[b + i] as number) >>> 0)
    if (difference !== 0) return difference
  }
  return 0
}

function extremesOfTexts(bytes: Uint8Array, offsets: Int32Array, nulls: Uint8Array | undefined, first: number, rowCount: number): ExtremeRows {
  let [min, max] = [first, first]
  for (let row = first + 1; row < rowCount; row++) {
    if (nulls?.[row] === 1) continue
    if (compareBytes(bytes, offsets, row, min) < 0) min = row
    else if (compareBytes(bytes, offsets, row, max) > 0) max = row
  }
  return { min, max }
}

function compareBytes(bytes: Uint8Array, offsets: Int32Array, a: number, b: number): number {
  const aStart = offsets[a] as number
  const bStart = offsets[b] as number
  const aLength = (offsets[a + 1] as number) - aStart
  const bLength = (offsets[b + 1] as number) - bStart
  const shared = Math.min(aLength, bLength)
  for (let i = 0; i < shared; i++) {
    const difference = (bytes[aStart + i] as number) - (bytes[bStart + i] as number)
    if (difference !== 0) return difference
  }
  return aLength - bLength
}

/** UTF-16 puts the characters past U+FFFF before U+E000 to U+FFFF; UTF-8 puts them behind. */
function compareTexts(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return orderOfUnit(x) - orderOfUnit(y)
  }
  return a.length - b.length
}

function orderOfUnit(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

function comparableAt(vector: Vector, row: number): Comparable {
  if (vector.column.type.kind === 'string') return stringAt(vector, row)
  if (vector.column.type.kind === 'decimal') return unscaledAt(vector, row)
  return vector.values[row] as number | bigint
}

function lowerBoundText(vector: Vector, row: number): string | null {
  switch (vector.column.type.kind) {
    case 'string':
      return JSON.stringify(prefixOf(vector, row).text)
    case 'timestamp':
      return timestampText(floorToMillis((vector.values as BigInt64Array)[row] as bigint))
    default:
      return exactText(vector, row)
  }
}

function upperBoundText(vector: Vector, row: number): string | null {
  switch (vector.column.type.kind) {
    case 'string':
      return upperTextBound(prefixOf(vector, row))
    case 'timestamp':
      return timestampText(-floorToMillis(-((vector.values as BigInt64Array)[row] as bigint)))
    default:
      return exactText(vector, row)
  }
}

function exactText(vector: Vector, row: number): string | null {
  const { type } = vector.column
  const value = vector.values[row]
  if (type.kind === 'decimal') return formatDecimal(unscaledAt(vector, row), type.scale)
  if (type.kind === 'date') return dateText(value as number)
  if (type.kind === 'float') return Number.isFinite(value) ? floatText(value as number) : null
  if (type.kind === 'double') return Number.isFinite(value) ? doubleText(value as number) : null
  return String(value)
}

/** 0001-01-01 and 9999-12-31: dates past them have no text that every reader takes. */
const MIN_DAYS = -719_162
const MAX_DAYS = 2_932_896

function dateText(days: number): string | null {
  return days < MIN_DAYS || days > MAX_DAYS ? null : `"${formatDays(days)}"`
}

/** ISO with milliseconds; null where the year has no four digits. */
function timestampText(milliseconds: bigint): string | null {
  const { days, microsOfDay } = splitMicros(milliseconds * 1000n)
  if (days < MIN_DAYS || days > MAX_DAYS) return null
  return `"${formatDays(days)}T${formatClock(microsOfDay)}.${String(Math.floor(microsOfDay / 1000) % 1000).padStart(3, '0')}Z"`
}

function floorToMillis(micros: bigint): bigint {
  return (micros - (((micros % 1000n) + 1000n) % 1000n)) / 1000n
}

interface Prefix {
  readonly text: string
  /** The code point that the cut left out first, or null when nothing was cut. */
  readonly next: number | null
}

/** A text's first characters, found in its bytes, so that a long text is not decoded whole. */
function prefixOf(vector: Vector, row: number): Prefix {
  const bytes = vector.values as Uint8Array
  const start = vector.offsets?.[row] ?? 0
  const end = vector.offsets?.[row + 1] ?? 0
  let characters = 0
  for (let at = start; at < end; at++) {
    if (((bytes[at] as number) & 0xc0) === 0x80) continue
    if (characters === PREFIX_CHARACTERS) return { text: decode(bytes, start, at), next: decode(bytes, at, Math.min(end, at + 4)).codePointAt(0) ?? 0 }
    characters++
  }
  return { text: decode(bytes, start, end), next: null }
}

/** A cut text is below its own beginning with a greater character behind it, where there is a greater one. Delta adds the same two. */
function upperTextBound({ text, next }: Prefix): string | null {
  if (next === null) return JSON.stringify(text)
  if (next < 0x7f) return JSON.stringify(`${text}\u007f`)
  return next < 0x10ffff ? JSON.stringify(`${text}\u{10ffff}`) : null
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start, end)
}
