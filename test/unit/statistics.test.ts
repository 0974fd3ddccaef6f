/** File statistics: their text, that they bound the data, and that a reader skips nothing it should not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { mayContain, parseStatistics } from '../../src/store/parse-statistics.js'
import { defineSchema, parseSchemaString } from '../../src/store/schema.js'
import { type Comparable, compareValues, rangeOf, statisticsOf } from '../../src/store/statistics.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { anyRows, EVERY_KIND } from './any-rows.js'

const statisticsText = (schema: Record<string, string>, rows: object[]) => statisticsOf(columnsFromRows(defineSchema(schema), rows))

test('the orders of a batch, as Spark writes them', () => {
  const schema = { order_id: 'int', status: 'string', amount: 'decimal(10,2)', event_time: 'timestamp', offset: 'bigint' }
  const rows = [
    { order_id: 1008, status: 'placed', amount: '40.00', event_time: '2026-10-01T12:40:00Z', offset: 0 },
    { order_id: 1001, status: 'paid', amount: '12.00', event_time: '2026-10-01T09:15:00Z', offset: 8 },
  ]
  expect(statisticsText(schema, rows)).toBe(
    '{"numRecords":2,"minValues":{"order_id":1001,"status":"paid","amount":12.00,"event_time":"2026-10-01T09:15:00.000Z","offset":0},' +
      '"maxValues":{"order_id":1008,"status":"placed","amount":40.00,"event_time":"2026-10-01T12:40:00.000Z","offset":8},' +
      '"nullCount":{"order_id":0,"status":0,"amount":0,"event_time":0,"offset":0}}',
  )
})

describe('what is written is true', () => {
  test('timestamps are cut down and up to milliseconds, and stay within four digits of year', () => {
    const bounds = (...times: string[]) =>
      JSON.parse(
        statisticsText(
          { at: 'timestamp' },
          times.map((at) => ({ at })),
        ),
      )
    expect(bounds('2026-10-01T00:00:00.000001Z')).toMatchObject({
      minValues: { at: '2026-10-01T00:00:00.000Z' },
      maxValues: { at: '2026-10-01T00:00:00.001Z' },
    })
    expect(bounds('1969-12-31T23:59:59.999999Z')).toMatchObject({
      minValues: { at: '1969-12-31T23:59:59.999Z' },
      maxValues: { at: '1970-01-01T00:00:00.000Z' },
    })
    expect(bounds('9999-12-31T23:59:59.999Z').maxValues).toEqual({ at: '9999-12-31T23:59:59.999Z' })
    expect(bounds('9999-12-31T23:59:59.999001Z')).toMatchObject({ minValues: { at: '9999-12-31T23:59:59.999Z' }, maxValues: {} })
  })

  test('texts are cut to 32 characters, and a cut maximum stays above', () => {
    const bounds = (text: string) => JSON.parse(statisticsText({ text: 'string' }, [{ text }]))
    expect(bounds('a'.repeat(32))).toMatchObject({ minValues: { text: 'a'.repeat(32) }, maxValues: { text: 'a'.repeat(32) } })
    expect(bounds('a'.repeat(33))).toMatchObject({ minValues: { text: 'a'.repeat(32) }, maxValues: { text: `${'a'.repeat(32)}\u007f` } })
    expect(bounds('😀'.repeat(33))).toMatchObject({ minValues: { text: '😀'.repeat(32) }, maxValues: { text: `${'😀'.repeat(32)}\u{10ffff}` } })
    expect(bounds('\u{10ffff}'.repeat(33)).maxValues).toEqual({})
    expect(bounds('"\\\n')).toMatchObject({ maxValues: { text: '"\\\n' } })
  })

  test('numbers keep every digit, and what JSON cannot say is left out', () => {
    expect(statisticsText({ n: 'bigint', d: 'decimal(38,18)' }, [{ n: 2n ** 63n - 1n, d: '-0.000000000000000001' }])).toContain(
      '"minValues":{"n":9223372036854775807,"d":-0.000000000000000001}',
    )
    expect(statisticsText({ x: 'double' }, [{ x: 1 }, { x: Number.NaN }])).toBe('{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"x":0}}')
    expect(statisticsText({ x: 'double' }, [{ x: 1 }, { x: Infinity }])).toContain('"minValues":{"x":1.0},"maxValues":{}')
    expect(statisticsText({ x: 'double' }, [{ x: 0 }, { x: -0 }, { x: 0 }])).toContain('"minValues":{"x":-0.0},"maxValues":{"x":0.0}')
    expect(statisticsText({ x: 'float' }, [{ x: 0.1 }])).toContain('"minValues":{"x":0.1}')
  })

  test('booleans, bytes and nulls have counts alone, and so have columns past the 32nd', () => {
    expect(statisticsText({ ok: 'boolean', raw: 'binary', n: 'int' }, [{ ok: true, raw: Uint8Array.of(1) }, {}])).toBe(
      '{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"ok":1,"raw":1,"n":2}}',
    )
    const wide = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`c${i}`, 'int']))
    const stats = JSON.parse(statisticsText(wide, [{ c0: 1, c31: 1, c32: 1 }]))
    expect([Object.keys(stats.minValues), Object.keys(stats.nullCount).length]).toEqual([['c0', 'c31'], 32])
    expect(statisticsText({ n: 'int' }, [])).toBe('{"numRecords":0,"minValues":{},"maxValues":{},"nullCount":{"n":0}}')
  })
})

test('every value lies between the bounds that are read back, and nothing that is there is skipped', () => {
  fc.assert(
    fc.property(anyRows(12), (rows) => {
      const columns = columnsFromRows(EVERY_KIND, rows)
      const text = statisticsOf(columns)
      JSON.parse(text)
      const stats = parseStatistics(text, EVERY_KIND)
      expect(stats.rowCount).toBe(rows.length)
      for (const vector of columns.vectors) {
        const { name, type } = vector.column
        expect(stats.nullCount(name)).toBe(rows.filter((row) => (row as Record<string, unknown>)[name] === null).length)
        const values = rows.flatMap((_, row): Comparable[] => {
          if (vector.nulls?.[row] === 1) return []
          const range = rangeOf(
            columnsFromRows({ columns: [vector.column] }, [{ [name]: (rows[row] as Record<string, unknown>)[name] }]).vectors[0] as never,
            1,
          )
          return range ? [range.low] : []
        })
        const [min, max] = [stats.min(name), stats.max(name)]
        for (const value of values) {
          if (min !== null) expect(compareValues(min, value)).toBeLessThanOrEqual(0)
          if (max !== null) expect(compareValues(max, value)).toBeGreaterThanOrEqual(0)
          expect(mayContain(stats, name, value, value)).toBe(true)
        }
        const sorted = values.toSorted(compareValues)
        const isExact = !['string', 'timestamp', 'float', 'double', 'boolean', 'binary'].includes(type.kind)
        if (isExact && sorted.length > 0) expect([min, max]).toEqual([sorted[0], sorted.at(-1)])
        const range = rangeOf(vector, rows.length)
        if (range) expect([compareValues(range.low, sorted[0] as Comparable), compareValues(range.high, sorted.at(-1) as Comparable)]).toEqual([0, 0])
      }
    }),
    { numRuns: 100 },
  )
})

describe('reading', () => {
  const schema = defineSchema({ n: 'bigint', d: 'decimal(38,18)', at: 'timestamp', x: 'double', text: 'string', day: 'date' })

  test('Spark’s own statistics, exact to the last digit', () => {
    const versions = join(sparkWorkspace('types'), 'tables', 'types', '_delta_log')
    const log = readFileSync(join(versions, '00000000000000000001.json'), 'utf8')
    const add = JSON.parse(log.trim().split('\n').at(-1) ?? '').add
    const table = readFileSync(join(versions, '00000000000000000000.json'), 'utf8')
    const stats = parseStatistics(add.stats, parseSchemaString(JSON.parse(table.split('\n')[1] ?? '').metaData.schemaString))
    expect([stats.rowCount, stats.nullCount('b'), stats.min('l'), stats.max('L')]).toEqual([4, 2, -(2n ** 63n), 2n ** 63n - 1n])
    expect([stats.min('big'), stats.max('big')]).toEqual([-(10n ** 38n) + 1n, 10n ** 38n - 1n])
    expect([stats.min('d'), stats.max('d'), stats.min('b'), stats.max('s')]).toEqual([-Infinity, null, null, 'ü€😀'])
    expect([stats.min('day'), stats.max('day')]).toEqual([-719162, 2932896])
    expect(stats.max('at')).toBe(253_402_300_799_999_999n)
  })

  test('what cannot be trusted proves nothing', () => {
    for (const text of [null, '', '{', '[]', '{"numRecords":"many"}', '{"minValues":{"n":1.5,"d":"?","at":"soon","day":"x"},"maxValues":null}']) {
      const stats = parseStatistics(text, schema)
      expect([stats.rowCount, stats.min('n'), stats.min('d'), stats.min('at'), stats.max('day'), stats.nullCount('n')]).toEqual([
        null,
        null,
        null,
        null,
        null,
        null,
      ])
      expect(mayContain(stats, 'n', 1n, 2n)).toBe(true)
    }
  })

  test('a file is skipped when its bounds say so', () => {
    const stats = parseStatistics(
      '{"numRecords":3,"minValues":{"n":10,"at":"2026-10-01T00:00:00.000Z","text":"b"},"maxValues":{"n":20,"at":"2026-10-01T00:00:00.000Z","text":"1e5"},"nullCount":{"n":0,"x":3}}',
      schema,
    )
    expect([mayContain(stats, 'n', 0n, 9n), mayContain(stats, 'n', 21n, 30n), mayContain(stats, 'N', 0n, 10n), mayContain(stats, 'n', 20n, 30n)]).toEqual([
      false,
      false,
      true,
      true,
    ])
    const midnight = stats.min('at') as bigint
    expect([mayContain(stats, 'at', midnight + 999n, midnight + 5000n), mayContain(stats, 'at', midnight + 1000n, midnight + 5000n)]).toEqual([true, false])
    expect(mayContain(stats, 'x', 0, 1)).toBe(false)
    expect(mayContain(stats, 'd', 0n, 1n)).toBe(true)
    expect(stats.max('text')).toBe('1e5')
  })

  test('texts compare as their bytes do', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 4 }), (a, b) => {
        expect(Math.sign(compareValues(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
    expect(compareValues('\uffff', '😀')).toBeLessThan(0)
  })
})
