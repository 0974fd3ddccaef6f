import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Columns } from '../../src/store/columns.js'
import { concatColumns, sliceRows, takeRows } from '../../src/store/columns.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { hashColumns, hashRows, HASH_SCHEME } from '../../src/store/row-hash.js'
import { RowMultiset } from '../../src/store/row-multiset.js'
import { defineSchema } from '../../src/store/schema.js'

const schema = defineSchema({
  i: 'int',
  l: 'bigint',
  d: 'double',
  b: 'boolean',
  s: 'string',
  bytes: 'binary',
  day: 'date',
  amount: 'decimal(38,2)',
  at: 'timestamp',
})

/** Hashes as texts, one a row. */
function hashTexts(hashes: Uint32Array): string[] {
  const texts: string[] = []
  for (let at = 0; at < hashes.length; at += 4) texts.push([...hashes.subarray(at, at + 4)].map((word) => word.toString(16).padStart(8, '0')).join(''))
  return texts
}

function hashesOf(rows: readonly object[]): string[] {
  return hashTexts(hashRows(columnsFromRows(schema, rows)))
}

test('stored hashes stay what they are', () => {
  expect(HASH_SCHEME).toBe(1)
  const rows = [
    {},
    {
      i: 1001,
      l: -5n,
      d: 2.5,
      b: true,
      s: 'placed, and a text of more than one block',
      bytes: Uint8Array.of(0, 255),
      day: '2026-10-01',
      amount: '25.50',
      at: '2026-10-01T09:15:00Z',
    },
    { amount: '-123456789012345678901234567890.12' },
  ]
  expect(hashesOf(rows)).toMatchInlineSnapshot(`
    [
      "09e466e3bbf0743da1bbc21f3318c4d4",
      "187f99bb934816a89ecd4feca8fe3a76",
      "72015c32075bc7429f351f02bcb3e18a",
    ]
  `)
})

test('rows that Spark takes for the same have one hash', () => {
  const [zero, minusZero, nan, otherNan, ten, alsoTen] = hashesOf([
    { d: 0 },
    { d: -0 },
    { d: Number.NaN },
    { d: -Number.NaN },
    { amount: '10' },
    { amount: '10.00' },
  ])
  expect(minusZero).toBe(zero)
  expect(otherNan).toBe(nan)
  expect(alsoTen).toBe(ten)
})

test('null, empty and zero differ, and neighbouring texts do not run together', () => {
  const hashes = hashesOf([
    {},
    { i: 0 },
    { l: 0 },
    { d: 0 },
    { b: false },
    { s: '' },
    { bytes: new Uint8Array(0) },
    { day: '1970-01-01' },
    { amount: 0 },
    { at: 0n },
    { s: 'ab', bytes: Buffer.from('c') },
    { s: 'a', bytes: Buffer.from('bc') },
    { s: '\0' },
    { s: '\0\0' },
    { s: 'a\0' },
    { s: 'a' },
    { i: -1 },
    { l: -1n },
    { amount: '-0.01' },
    { amount: '184467440737095516.16' },
    { amount: '184467440737095516.15' },
  ])
  expect(new Set(hashes).size).toBe(hashes.length)
})

test('two rows have one hash exactly when all their values are equal', () => {
  const text = fc.string({ maxLength: 40, unit: fc.constantFrom('a', 'b', '\0', 'ß') })
  const row = fc.record({
    i: fc.option(fc.integer({ min: -2, max: 2 })),
    l: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    d: fc.option(fc.constantFrom(0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY)),
    b: fc.option(fc.boolean()),
    s: fc.option(text),
    bytes: fc.option(fc.uint8Array({ maxLength: 3 })),
  })
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
      const byValue = new Map<string, string>()
      const hashes = hashesOf(rows)
      rows.forEach(({ i, l, d, b, s, bytes }, at) => {
        const key = JSON.stringify([i, l === null ? null : String(l), d === null ? null : String(d === 0 ? 0 : d), b, s, bytes === null ? null : [...bytes]])
        expect(byValue.get(key) ?? hashes[at]).toBe(hashes[at])
        byValue.set(key, hashes[at] as string)
      })
      expect(new Set(byValue.values()).size).toBe(byValue.size)
    }),
  )
})

test('a hash does not depend on where the row lies', () => {
  const rows = Array.from({ length: 50 }, (_, at) => (at % 3 === 0 ? { s: `row ${at}` } : { i: at, s: 'x'.repeat(at), amount: at }))
  const columns = columnsFromRows(schema, rows)
  const hashes = hashTexts(hashRows(columns))
  expect(hashTexts(hashRows(sliceRows(columns, 7, 20)))).toEqual(hashes.slice(7, 20))
  expect(hashTexts(hashRows(takeRows(columns, Int32Array.of(40, 3))))).toEqual([hashes[40], hashes[3]])
  const moved = concatColumns(schema, [sliceRows(columns, 20, 50), sliceRows(columns, 0, 20)])
  expect(hashTexts(hashRows(moved))).toEqual([...hashes.slice(20), ...hashes.slice(0, 20)])
})

test('keys hash as rows of these columns alone do', () => {
  const columns = columnsFromRows(schema, [{ i: 1, s: 'a', d: 2 }])
  const keys = columnsFromRows(defineSchema({ s: 'string', n: 'bigint' }), [{ s: 'a', n: 1n }])
  expect(hashTexts(hashColumns(columns, ['S', 'i']))).toEqual(hashTexts(hashRows(keys)))
})

test('near-identical rows do not collide, in any 64 of the bits', () => {
  // 64 bits of three quarters of a million rows collide by chance once in 60 million runs.
  for (const pair of [
    [0, 1],
    [2, 3],
    [1, 2],
  ] as const) {
    const seen = new RowMultiset()
    for (let part = 0; part < 3; part++) {
      const hashes = hashRows(nearIdenticalRows(250_000, part * 250_000))
      for (let at = 0; at < hashes.length; at += 4) {
        hashes[at] = hashes[at + pair[0]] as number
        hashes[at + 1] = hashes[at + pair[1]] as number
        hashes[at + 2] = 0
        hashes[at + 3] = 0
      }
      seen.add(hashes)
    }
    expect(seen.distinctCount).toBe(750_000)
  }
})

test('each bit of a value changes half of the bits of the hash', () => {
  const rowCount = 2000
  const plain = hashRows(nearIdenticalRows(rowCount, 0))
  for (const bit of [0, 1, 7, 15, 31]) {
    const changed = nearIdenticalRows(rowCount, 0)
    const values = changed.vectors[0]?.values as Int32Array
    for (let row = 0; row < rowCount; row++) values[row] = (values[row] as number) ^ (1 << bit)
    const hashes = hashRows(changed)
    for (let out = 0; out < 128; out++) {
      let flips = 0
      for (let row = 0; row < rowCount; row++)
        flips += (((hashes[row * 4 + (out >> 5)] as number) ^ (plain[row * 4 + (out >> 5)] as number)) >>> (out & 31)) & 1
      // Six standard deviations around a half.
      expect(Math.abs(flips / rowCount - 0.5), `bit ${bit} to ${out}`).toBeLessThan(0.07)
    }
  }
})

/** Rows that differ in a few low bits of two columns. */
function nearIdenticalRows(rowCount: number, first: number): Columns {
  const low = new Int32Array(rowCount)
  const high = new Int32Array(rowCount)
  for (let row = 0; row < rowCount; row++) {
    low[row] = (first + row) & 1023
    high[row] = ((first + row) >> 10) << 16
  }
  const two = defineSchema({ low: 'int', high: 'int' })
  return { schema: two, rowCount, vectors: two.columns.map((column, at) => ({ column, values: at === 0 ? low : high })) }
}
