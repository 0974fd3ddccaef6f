import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { RowMultiset } from '../../src/store/row-multiset.js'

/** Hashes of few bits, so that rows crowd into neighbouring slots and wrap around the table's end. */
function hashesOf(rows: readonly number[]): Uint32Array {
  const hashes = new Uint32Array(rows.length * 4)
  rows.forEach((row, at) => {
    hashes[at * 4] = row % 7 < 4 ? 1023 - (row % 3) : row % 11
    hashes[at * 4 + 3] = row
  })
  return hashes
}

test('counts each row and each different row', () => {
  const rows = new RowMultiset()
  rows.add(hashesOf([1, 2, 2, 3]))
  expect([rows.rowCount, rows.distinctCount]).toEqual([4, 3])
  rows.remove(hashesOf([2, 3]))
  expect([rows.rowCount, rows.distinctCount]).toEqual([2, 2])
  expect([1, 2, 3].map((row) => rows.countOf(hashesOf([row])))).toEqual([1, 1, 0])
})

test('a row that is not there is not removed, nor are those before it', () => {
  const rows = new RowMultiset()
  rows.add(hashesOf([1, 2]))
  expect(() => rows.remove(hashesOf([1, 2, 2]))).toThrow(StreamtopError)
  expect([1, 2].map((row) => rows.countOf(hashesOf([row])))).toEqual([1, 1])
})

test('does what a map of counts does', () => {
  const step = fc.record({ add: fc.boolean(), rows: fc.array(fc.nat(60), { maxLength: 40 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.array(fc.nat(60)), (steps, others) => {
      const rows = new RowMultiset()
      const model = new Map<number, number>()
      for (const { add, rows: named } of steps) {
        const moved = add ? named : namedOften(named, model)
        for (const row of moved) model.set(row, (model.get(row) ?? 0) + (add ? 1 : -1))
        if (add) rows.add(hashesOf(moved))
        else rows.remove(hashesOf(moved))
      }
      const live = [...model].filter(([, count]) => count > 0)
      expect(rows.rowCount).toBe(live.reduce((sum, [, count]) => sum + count, 0))
      expect(rows.distinctCount).toBe(live.length)
      const found: [number, number][] = []
      rows.forEach((hash, count) => {
        found.push([hash[3] as number, count])
      })
      expect(found.sort(byRow)).toEqual(live.sort(byRow))

      const other = new RowMultiset()
      other.add(hashesOf(others))
      const countThere = (row: number) => others.filter((named) => named === row).length
      expect(rows.difference(other)).toBe(live.reduce((sum, [row, count]) => sum + Math.max(0, count - countThere(row)), 0))
    }),
  )
})

test('grows past its first size and stays small', () => {
  const rows = new RowMultiset()
  const hashes = new Uint32Array(4 * 200_000)
  for (let row = 0; row < 200_000; row++) {
    hashes[row * 4] = Math.imul(row, 0x9e3779b1)
    hashes[row * 4 + 1] = row
  }
  rows.add(hashes)
  rows.add(hashes.subarray(0, 400))
  expect([rows.rowCount, rows.distinctCount]).toEqual([200_100, 200_000])
  expect(rows.byteLength / rows.distinctCount).toBeLessThanOrEqual(48)
  rows.remove(hashes)
  expect([rows.rowCount, rows.distinctCount]).toEqual([100, 100])
})

/** Of these rows as many as there are. */
function namedOften(named: readonly number[], model: ReadonlyMap<number, number>): number[] {
  const left = new Map(model)
  return named.filter((row) => {
    const count = left.get(row) ?? 0
    left.set(row, count - 1)
    return count > 0
  })
}

function byRow(left: readonly [number, number], right: readonly [number, number]): number {
  return left[0] - right[0]
}
