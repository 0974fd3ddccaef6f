/** Values in and out: numbers, decimals, times and texts, exactly or as a named error. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { castToString, doubleText, floatText, hexText } from '../../src/store/cast-to-string.js'
import { civilFromDays, daysFromCivil, formatDays, parseDays } from '../../src/store/civil-time.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { Decimal, formatDecimal, parseDecimal } from '../../src/store/decimal.js'
import { defineSchema } from '../../src/store/schema.js'
import { formatTimestamp, MAX_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS, parseTimestamp, Timestamp, tryParseTimestamp } from '../../src/store/timestamp.js'
import { rowAt, rowsOf } from '../../src/store/values.js'
import { anyRows, EVERY_KIND, readable } from './any-rows.js'

function errorOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return error instanceof StreamtopError ? `${error.code}: ${error.message}` : String(error)
  }
  return 'no error'
}

describe('times', () => {
  test('days agree with the calendar of the machine', () => {
    fc.assert(
      fc.property(fc.integer({ min: -3_000_000, max: 4_000_000 }), (days) => {
        const { year, month, day } = civilFromDays(days)
        const date = new Date(days * 86_400_000)
        expect([year, month, day]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()])
        expect(daysFromCivil(year, month, day)).toBe(days)
        if (year >= 1 && year <= 9999) expect(parseDays(formatDays(days))).toBe(days)
      }),
      { numRuns: 500 },
    )
    expect(formatDays(daysFromCivil(10000, 1, 1))).toBe('+10000-01-01')
    expect(formatDays(daysFromCivil(-1, 12, 31))).toBe('-0001-12-31')
    for (const bad of ['2026-02-29', '2026-13-01', '2026-1-01', '0000-01-01', '2026-10-00', '']) expect(parseDays(bad)).toBeNull()
  })

  test('a timestamp’s text is read exactly', () => {
    const nineFifteen = 1_790_846_100_000_000n
    expect(BigInt(Date.UTC(2026, 9, 1, 9, 15)) * 1000n).toBe(nineFifteen)
    for (const text of [
      '2026-10-01T09:15:00Z',
      '2026-10-01 09:15:00',
      '2026-10-01T09:15',
      '2026-10-01T11:15:00+02:00',
      '2026-10-01T11:15:00+0200',
      '2026-10-01T04:15:00-05',
      '2026-10-01T09:15:00.000z',
    ]) {
      expect(parseTimestamp(text), text).toBe(nineFifteen)
    }
    expect(parseTimestamp('2026-10-01T09:15:00.1234567Z') - nineFifteen).toBe(123_456n)
    expect(parseTimestamp('2026-10-01T09:15:00.5') - nineFifteen).toBe(500_000n)
    expect(parseTimestamp('1969-12-31T23:59:59.999999999')).toBe(-1n)
    expect(parseTimestamp('2026-10-01')).toBe(1_790_812_800_000_000n)
    expect(parseTimestamp('0001-01-01T00:00:00')).toBe(MIN_TIMESTAMP_MICROS)
    expect(parseTimestamp('9999-12-31T23:59:59.999999')).toBe(MAX_TIMESTAMP_MICROS)
    for (const bad of [
      '',
      'now',
      '2026-10-01T',
      '2026-10-01T24:00:00',
      '2026-10-01T09:60:00',
      '2026-10-01T09:15:60',
      '2026-10-01T09:15:00.',
      '2026-10-01T09:15:00.1234567890',
      '2026-10-01T09:15:00+19:00',
      '2026-10-01T09:15:00 Z',
      '0001-01-01T00:00:00+01:00',
      '2026-02-30',
      '2026-10-01X09:15:00',
      '2026/10/01',
      '12026-10-01',
    ]) {
      expect(tryParseTimestamp(bad), bad).toBeNull()
    }
    expect(errorOf(() => parseTimestamp('soon'))).toBe('bad-value: "soon" is not a timestamp')
  })

  test('text and microseconds are the same thing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: MIN_TIMESTAMP_MICROS, max: MAX_TIMESTAMP_MICROS }), (micros) => {
        const at = new Timestamp(micros)
        expect(parseTimestamp(at.toString())).toBe(micros)
        expect(parseTimestamp(at.toISOString())).toBe(micros)
        expect(at.toString()).not.toMatch(/\.\d*0$|\.$/)
      }),
    )
    expect(formatTimestamp(-1n)).toBe('1969-12-31 23:59:59.999999')
    expect(new Timestamp(100_000n).toISOString()).toBe('1970-01-01T00:00:00.100000Z')
    expect(new Timestamp(1n) < new Timestamp(2n)).toBe(true)
  })
})

describe('decimals', () => {
  test('are exact or refused', () => {
    expect(parseDecimal('25.5', 10, 2)).toBe(2550n)
    expect(parseDecimal('-0.01', 10, 2)).toBe(-1n)
    expect(parseDecimal('2.55E1', 10, 2)).toBe(2550n)
    expect(parseDecimal('25.500', 10, 2)).toBe(2550n)
    expect(parseDecimal('0E-10', 10, 2)).toBe(0n)
    expect(parseDecimal('-99999999999999999999.999999999999999999', 38, 18)).toBe(-(10n ** 38n) + 1n)
    expect(errorOf(() => parseDecimal('25.505', 10, 2))).toBe('bad-value: "25.505" has more than 2 digits behind the point')
    expect(errorOf(() => parseDecimal('100000000', 10, 2))).toBe('bad-value: "100000000" does not fit decimal(10,2)')
    expect(errorOf(() => parseDecimal('1e999999', 38, 0))).toMatch(/does not fit/)
    expect(errorOf(() => parseDecimal('1e-999999', 38, 0))).toMatch(/more than 0 digits/)
    for (const bad of ['', '.', '-', '1.2.3', 'NaN', '0x10', '1e', ' 1'])
      expect(
        errorOf(() => parseDecimal(bad, 10, 2)),
        bad,
      ).toMatch(/not a decimal/)
  })

  test('print their digits and nothing else', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), fc.integer({ min: 0, max: 38 }), (unscaled, scale) => {
        expect(parseDecimal(formatDecimal(unscaled, scale), 38, scale)).toBe(unscaled)
      }),
    )
    expect(new Decimal(2550n, 2).toString()).toBe('25.50')
    expect(new Decimal(-1n, 18).toString()).toBe('-0.000000000000000001')
    expect(Decimal.parse('25.50')).toEqual(new Decimal(2550n, 2))
    expect((new Decimal(2550n, 2) as unknown as number) >= 25.5).toBe(true)
    expect(`${JSON.stringify({ amount: new Decimal(2550n, 2) })}`).toBe('{"amount":"25.50"}')
  })
})

test('doubles and floats print as Java prints them', () => {
  const doubles = {
    0: '0.0',
    1: '1.0',
    10: '10.0',
    1e7: '1.0E7',
    9999999: '9999999.0',
    1e10: '1.0E10',
    123456789.125: '1.23456789125E8',
    0.001: '0.001',
    0.0001: '1.0E-4',
    '-0.5': '-0.5',
    1.1: '1.1',
    4.9e-324: '4.9E-324',
    1.7976931348623157e308: '1.7976931348623157E308',
  }
  for (const [value, text] of Object.entries(doubles)) {
    expect(doubleText(Number(value))).toBe(text)
  }
  expect([doubleText(-0), doubleText(Number.NaN), doubleText(-Infinity)]).toEqual(['-0.0', 'NaN', '-Infinity'])
  expect([0.1, 1 / 3, 16777216, 1e-4, 3.4028234663852886e38, 2 ** -149].map((value) => floatText(Math.fround(value)))).toEqual([
    '0.1',
    '0.33333334',
    '1.6777216E7',
    '1.0E-4',
    '3.4028235E38',
    '1.4E-45',
  ])
  expect(castToString({ kind: 'double' }, 3)).toBe('3.0')
  expect(castToString({ kind: 'integer' }, 3)).toBe('3')
  expect(castToString({ kind: 'string' }, null)).toBeNull()
  expect(hexText(Uint8Array.of(0, 255))).toBe('00FF')
})

describe('rows into columns', () => {
  const schema = defineSchema({
    id: 'int not null',
    n: 'bigint',
    price: 'decimal(5,2)',
    ok: 'boolean',
    name: 'string',
    day: 'date',
    at: 'timestamp',
    x: 'float',
    tiny: 'tinyint',
    raw: 'binary',
  })
  const convert = (row: object) => rowAt(columnsFromRows(schema, [row]), 0)

  test('each value may come in the forms people have', () => {
    const date = new Date(Date.UTC(2026, 9, 1))
    expect(
      readable(
        columnsFromRows(schema, [
          { ID: 1n, n: 5, price: 25.5, ok: true, name: 'a', day: '2026-10-01', at: date, x: 0.1, tiny: '-128', raw: Uint8Array.of(1) },
          { id: '2', n: '9223372036854775807', price: new Decimal(255n, 1), ok: 'false', day: date, at: '2026-10-01T00:00:00Z', x: 1n },
          { id: 3, n: undefined, price: 3n, at: 1_790_812_800_000_000n, x: 'NaN' },
          { id: 4, price: '3', at: new Timestamp(0n) },
        ]),
      ),
    ).toEqual([
      ['1', '5', '25.50', 'true', 'a', '2026-10-01', '2026-10-01 00:00:00', '0.1', '-128', '01'],
      ['2', '9223372036854775807', '25.50', 'false', null, '2026-10-01', '2026-10-01 00:00:00', '1.0', null, null],
      ['3', null, '3.00', null, null, null, '2026-10-01 00:00:00', 'NaN', null, null],
      ['4', null, '3.00', null, null, null, '1970-01-01 00:00:00', null, null, null],
    ])
  })

  test('what does not fit is named with its row and column', () => {
    const problems: [object, RegExp][] = [
      [{ id: 2 ** 31 }, /^bad-value: row 0: column id is integer; 2147483648 is out of range$/],
      [{ id: 1.5 }, /column id .* 1.5 is not a whole number/],
      [{}, /^bad-value: row 0: column id is null and may not be/],
      [{ id: 1, n: 2 ** 53 }, /use a bigint/],
      [{ id: 1, n: 2n ** 63n }, /column n .* out of range/],
      [{ id: 1, tiny: 128 }, /column tiny .* out of range/],
      [{ id: 1, price: 0.1 + 0.2 }, /column price .* more than 2 digits/],
      [{ id: 1, price: 1000 }, /column price .* does not fit decimal\(5,2\)/],
      [{ id: 1, price: Number.NaN }, /not a decimal/],
      [{ id: 1, ok: 1 }, /not true or false/],
      [{ id: 1, name: 5 }, /not a text/],
      [{ id: 1, name: 'a\ud800' }, /surrogate/],
      [{ id: 1, day: new Date(5) }, /not a date/],
      [{ id: 1, at: 5 }, /not a timestamp/],
      [{ id: 1, at: new Date(Number.NaN) }, /not a timestamp/],
      [{ id: 1, x: 1e300 }, /out of range/],
      [{ id: 1, raw: 'text' }, /not a Uint8Array/],
      [{ id: 1, nmae: 'a' }, /^schema-mismatch: a row has nmae, and the table has no such column/],
    ]
    for (const [row, problem] of problems) expect(errorOf(() => convert(row))).toMatch(problem)
  })

  test('rows come back, and make the same columns again', () => {
    fc.assert(
      fc.property(anyRows(10), (rows) => {
        const columns = columnsFromRows(EVERY_KIND, rows)
        const again = columnsFromRows(
          EVERY_KIND,
          [...rowsOf(columns)].map((row) => ({ ...row })),
        )
        expect(readable(again)).toEqual(readable(columns))
        expect(columns.rowCount).toBe(rows.length)
      }),
      { numRuns: 60 },
    )
  })

  test('a column called __proto__ is a column', () => {
    const row = JSON.parse('{"__proto__":"a","toString":"b"}')
    const names = defineSchema(
      Object.fromEntries([
        ['__proto__', 'string'],
        ['toString', 'string'],
      ]),
    )
    const back = rowAt(columnsFromRows(names, [row]), 0)
    expect(Object.entries(back)).toEqual([
      ['__proto__', 'a'],
      ['toString', 'b'],
    ])
    expect(rowAt(columnsFromRows(names, [{}]), 0)['toString']).toBeNull()
  })
})
