import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import {
  duplicateCount,
  formatOffsets,
  missingFrom,
  NO_OFFSETS,
  type OffsetRanges,
  offsetRangesOf,
  parseOffsets,
  recordCount,
  unionOffsets,
} from '../../src/store/offset-ranges.js'
import { defineSchema } from '../../src/store/schema.js'

const schema = defineSchema({ partition: 'int', offset: 'bigint' })

type Record = readonly [partition: number | null, offset: number | null]

function rangesOf(records: readonly Record[]): OffsetRanges {
  const columns = columnsFromRows(
    schema,
    records.map(([partition, offset]) => ({ partition, offset })),
  )
  return offsetRangesOf(columns, { partition: 'partition', offset: 'offset' })
}

test('records in order are one range a partition', () => {
  const offsets = rangesOf([
    [1, 7],
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 8],
    [0, 9],
    [0, 1],
    [null, 5],
    [0, null],
  ])
  expect(offsets).toEqual({
    ranges: [
      { partition: 0, start: 0n, end: 3n },
      { partition: 0, start: 9n, end: 10n },
      { partition: 1, start: 7n, end: 9n },
    ],
    rowCount: 7,
  })
  expect(duplicateCount(offsets)).toBe(1)
  expect(formatOffsets(offsets)).toBe('{"rows":7,"partitions":{"0":"0-3 9-10","1":"7-9"}}')
  expect(rangesOf([])).toEqual(NO_OFFSETS)
})

test('ranges answer what sets of records answer', () => {
  const records = fc.array(fc.tuple(fc.nat(2), fc.nat(15)), { maxLength: 30 })
  fc.assert(
    fc.property(records, records, (left, right) => {
      const leftSet = new Set(left.map(String))
      const rightSet = new Set(right.map(String))
      const [leftRanges, rightRanges] = [rangesOf(left), rangesOf(right)]
      expect(recordCount(leftRanges.ranges)).toBe(BigInt(leftSet.size))
      expect(duplicateCount(leftRanges)).toBe(left.length - leftSet.size)
      expect(missingFrom(leftRanges.ranges, rightRanges.ranges)).toBe(BigInt([...leftSet].filter((record) => !rightSet.has(record)).length))
      expect(unionOffsets(leftRanges, rightRanges)).toEqual(rangesOf([...left, ...right]))
      expect(parseOffsets(formatOffsets(leftRanges))).toEqual(leftRanges)
    }),
  )
})

test('offsets of 64 bits are kept', () => {
  const text = '{"rows":2,"partitions":{"0":"9223372036854775800-9223372036854775802"}}'
  expect(formatOffsets(parseOffsets(text))).toBe(text)
  expect(() => parseOffsets('{"rows":1,"partitions":{"0":"1"}}')).toThrow('cannot be read')
})
