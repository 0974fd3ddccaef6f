/**
 * Which records of a topic a table holds, as ranges of offsets a partition: a table that took a topic in order is a few ranges however
 * large it is, so what it lacks is counted without listing a record. Ranges are end-exclusive, sorted, and never touch each other.
 */
import { StreamtopError } from '../errors.js'
import type { Columns } from './columns.js'
import { vectorNamed } from './vector-named.js'
import { isNull } from './vector-order.js'

export interface OffsetRange {
  readonly partition: number
  readonly start: bigint
  readonly end: bigint
}

export interface OffsetRanges {
  /** By partition, then by start. */
  readonly ranges: readonly OffsetRange[]
  /** Rows counted, each copy of a record; `duplicateCount` is what of them the ranges do not account for. */
  readonly rowCount: number
}

export const NO_OFFSETS: OffsetRanges = { ranges: [], rowCount: 0 }

/** Of rows with a partition (INT) and an offset (BIGINT) column. Rows in which one of them is null are no record and are not counted. */
export function offsetRangesOf(columns: Columns, names: { readonly partition: string; readonly offset: string }): OffsetRanges {
  const partitionVector = vectorNamed(columns, names.partition)
  const offsetVector = vectorNamed(columns, names.offset)
  const partitions = partitionVector.values
  const offsets = offsetVector.values
  if (!(partitions instanceof Int32Array) || !(offsets instanceof BigInt64Array)) {
    throw new StreamtopError('schema-mismatch', `${names.partition} has to be an INT and ${names.offset} a BIGINT to count records by`)
  }
  const runs: OffsetRange[] = []
  let rowCount = 0
  let partition = 0
  let start = 0n
  let end = 0n
  for (let row = 0; row < columns.rowCount; row++) {
    if (isNull(partitionVector, row) || isNull(offsetVector, row)) continue
    rowCount++
    const offset = offsets[row] as bigint
    if (offset === end && partitions[row] === partition && end > start) {
      end++
      continue
    }
    if (end > start) runs.push({ partition, start, end })
    partition = partitions[row] as number
    start = offset
    end = offset + 1n
  }
  if (end > start) runs.push({ partition, start, end })
  return { ranges: joined(runs), rowCount }
}

/** The records of all of them; rows are counted in each. */
export function unionOffsets(...parts: readonly OffsetRanges[]): OffsetRanges {
  return { ranges: joined(parts.flatMap((part) => part.ranges)), rowCount: parts.reduce((sum, part) => sum + part.rowCount, 0) }
}

/** The records of `expected` that `present` does not have. */
export function differenceOfOffsets(expected: readonly OffsetRange[], present: readonly OffsetRange[]): OffsetRange[] {
  const lacking: OffsetRange[] = []
  const there = joined(present)
  let at = 0
  for (const { partition, start, end } of joined(expected)) {
    let from = start
    while (at < there.length && isBefore(there[at] as OffsetRange, partition, start)) at++
    for (let next = at; from < end; next++) {
      const range = there[next]
      if (range === undefined || range.partition !== partition || range.start >= end) {
        lacking.push({ partition, start: from, end })
        break
      }
      if (range.start > from) lacking.push({ partition, start: from, end: range.start })
      if (range.end > from) from = range.end
    }
  }
  return lacking
}

/** How many records of `expected` are not in `present`. */
export function missingFrom(expected: readonly OffsetRange[], present: readonly OffsetRange[]): bigint {
  return recordCount(differenceOfOffsets(expected, present))
}

/** Records in ranges that do not overlap. */
export function recordCount(ranges: readonly OffsetRange[]): bigint {
  return ranges.reduce((sum, { start, end }) => sum + (end - start), 0n)
}

/** Rows that are a second or later copy of a record. */
export function duplicateCount(offsets: OffsetRanges): number {
  return offsets.rowCount - Number(recordCount(offsets.ranges))
}

/** JSON: `{"rows":7,"partitions":{"0":"0-5 8-10"}}`. */
export function formatOffsets(offsets: OffsetRanges): string {
  const partitions: Record<string, string> = {}
  for (const { partition, start, end } of offsets.ranges) {
    const before = partitions[partition]
    partitions[partition] = `${before === undefined ? '' : `${before} `}${start}-${end}`
  }
  return JSON.stringify({ rows: offsets.rowCount, partitions })
}

/** What `formatOffsets` wrote; `internal` when it did not. */
export function parseOffsets(text: string): OffsetRanges {
  try {
    const { rows, partitions } = JSON.parse(text) as { rows: number; partitions: Record<string, string> }
    if (!Number.isSafeInteger(rows)) throw new Error('rows is no number')
    const ranges = Object.entries(partitions).flatMap(([partition, list]) =>
      list.split(' ').map((range) => {
        const parts = /^(-?\d+)-(-?\d+)$/.exec(range)
        if (parts === null) throw new Error(`${range} is no range`)
        return { partition: Number(partition), start: BigInt(parts[1] as string), end: BigInt(parts[2] as string) }
      }),
    )
    return { ranges: joined(ranges), rowCount: rows }
  } catch (cause) {
    throw new StreamtopError('internal', 'stored offset ranges cannot be read', { cause })
  }
}

/** Sorted, with those that overlap or touch made one. */
function joined(ranges: readonly OffsetRange[]): OffsetRange[] {
  const sorted = ranges.filter(({ start, end }) => end > start).sort(inOrder)
  const result: OffsetRange[] = []
  for (const range of sorted) {
    const last = result.at(-1)
    if (last === undefined || last.partition !== range.partition || last.end < range.start) result.push(range)
    else if (range.end > last.end) result[result.length - 1] = { ...last, end: range.end }
  }
  return result
}

function inOrder(left: OffsetRange, right: OffsetRange): number {
  if (left.partition !== right.partition) return left.partition - right.partition
  return left.start < right.start ? -1 : left.start > right.start ? 1 : 0
}

function isBefore(range: OffsetRange, partition: number, start: bigint): boolean {
  return range.partition < partition || (range.partition === partition && range.end <= start)
}
