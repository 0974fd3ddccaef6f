/** Rows of every kind for property tests, with nulls and the ends of each type, and a readable form to compare them in. */
import fc from 'fast-check'
import { castToString, hexText } from '../../src/store/cast-to-string.js'
import type { Columns } from '../../src/store/columns.js'
import { Decimal } from '../../src/store/decimal.js'
import { defineSchema } from '../../src/store/schema.js'
import { MAX_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS, Timestamp } from '../../src/store/timestamp.js'
import { valueAt } from '../../src/store/values.js'

export const EVERY_KIND = defineSchema({
  tiny: 'byte',
  small: 'short',
  whole: 'integer',
  big: 'long',
  single: 'float',
  real: 'double',
  flag: 'boolean',
  'text.with dot': 'string',
  bytes: 'binary',
  day: 'date',
  at: 'timestamp',
  price: 'decimal(9,2)',
  sum: 'decimal(18,4)',
  huge: 'decimal(38,18)',
  ids: 'decimal(38,0)',
})

const decimal = (precision: number, scale: number) =>
  fc
    .bigInt({ min: -(10n ** BigInt(precision)) + 1n, max: 10n ** BigInt(precision) - 1n })
    .chain((value) => fc.constantFrom(value, value % 1000n, 10n ** BigInt(precision) - 1n, -(10n ** BigInt(precision)) + 1n))
    .map((unscaled) => new Decimal(unscaled, scale))

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.constantFrom('', 'paid', 'placed', '__proto__'),
)

const day = fc.integer({ min: 0, max: 3_652_058 }).map((days) => {
  const at = new Timestamp(MIN_TIMESTAMP_MICROS + BigInt(days) * 86_400_000_000n)
  return at.toString().slice(0, 10)
})

/** Up to so many rows of `EVERY_KIND`. */
export function anyRows(maxLength: number) {
  const row = fc.record({
    tiny: fc.integer({ min: -128, max: 127 }),
    small: fc.integer({ min: -32768, max: 32767 }),
    whole: fc.integer(),
    big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    single: fc.float(),
    real: fc.double(),
    flag: fc.boolean(),
    'text.with dot': text,
    bytes: fc.uint8Array({ maxLength: 40 }),
    day,
    at: fc.bigInt({ min: MIN_TIMESTAMP_MICROS, max: MAX_TIMESTAMP_MICROS }).map((micros) => new Timestamp(micros)),
    price: decimal(9, 2),
    sum: decimal(18, 4),
    huge: decimal(38, 18),
    ids: decimal(38, 0),
  })
  const holes = fc.array(fc.boolean(), { minLength: EVERY_KIND.columns.length, maxLength: EVERY_KIND.columns.length })
  const withNulls = fc
    .tuple(row, holes)
    .map(([values, isNull]) => Object.fromEntries(Object.entries(values).map(([name, value], i) => [name, isNull[i] ? null : value])))
  return fc.array(fc.oneof(row, withNulls), { maxLength })
}

/** Each value as Spark prints it, binary in hex, null as null. */
export function readable(columns: Columns): (string | null)[][] {
  return Array.from({ length: columns.rowCount }, (_, row) =>
    columns.vectors.map((vector) => {
      const value = valueAt(vector, row)
      return value instanceof Uint8Array ? hexText(value) : castToString(vector.column.type, value)
    }),
  )
}
