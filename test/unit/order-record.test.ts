import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFields } from '../../src/queries/json-fields.js'
import { parseOrders } from '../../src/queries/order-record.js'
import type { Columns } from '../../src/store/columns.js'
import type { RecordBatch } from '../../src/topic/topic.js'

const GOOD = '{"order_id":1001,"customer_id":"C01","status":"placed","amount":25.50,"event_time":"2026-10-01T09:15:00Z"}'

test('an order becomes a row with its place in the topic', () => {
  const { columns, rejected } = parseOrders([batch([GOOD], { partition: 2, firstOffset: 2n ** 53n + 1n, timestampMs: 1_795_985_189_641 })], 'orders')
  expect(rejected).toEqual([])
  expect(rowsOf(columns)).toEqual([[1001, 'C01', 'placed', 2550n, 1_790_846_100_000_000n, 'orders', 2, 2n ** 53n + 1n, 1_795_985_189_641_000n]])
  expect(columns.vectors.map((vector) => vector.column.name).join(' ')).toBe('order_id customer_id status amount event_time topic partition offset timestamp')
})

describe('what is taken', () => {
  test.each([
    ['numbers in quotes', { order_id: '"1001"', amount: '"25.50"' }, { order_id: 1001, amount: 2550n }],
    ['the smallest and the largest', { order_id: '-2147483648', amount: '-99999999.99' }, { order_id: -2147483648, amount: -9999999999n }],
    ['zeros that lose nothing', { order_id: '1001.0', amount: '25.50000000000000000000000' }, { order_id: 1001, amount: 2550n }],
    ['exponents', { order_id: '1e3', amount: '2550E-2' }, { order_id: 1000, amount: 2550n }],
    ['a tenth', { amount: '0.1' }, { amount: 10n }],
    ['minus nothing', { order_id: '-0', amount: '-0.00' }, { order_id: 0, amount: 0n }],
    ['nulls', { customer_id: 'null', status: 'null', amount: 'null' }, { customer_id: null, status: null, amount: null }],
    ['empty texts', { customer_id: '""', status: '""' }, { customer_id: '', status: '' }],
    ['text beyond ASCII', { customer_id: '"Zoë ☕"', status: '"\\u00e9\\n\\ud83d\\ude00\\u0000"' }, { customer_id: 'Zoë ☕', status: 'é\n😀\0' }],
    ['long text', { status: JSON.stringify('x'.repeat(5_000)) }, { status: 'x'.repeat(5_000) }],
    ['no zone, which is UTC', { event_time: '"2026-10-01T09:15:00"' }, { event_time: 1_790_846_100_000_000n }],
    ['another zone', { event_time: '"2026-10-01T11:15:00.25+02:00"' }, { event_time: 1_790_846_100_250_000n }],
    ['a space for the T', { event_time: '"2026-10-01 09:15:00"' }, { event_time: 1_790_846_100_000_000n }],
    ['an escape in a time', { event_time: '"2026-10-01T09:15:00\\u005a"' }, { event_time: 1_790_846_100_000_000n }],
    ['a leap day', { event_time: '"2000-02-29T00:00:00Z"' }, { event_time: 951_782_400_000_000n }],
    ['before 1970', { event_time: '"1969-12-31T23:59:59Z"' }, { event_time: -1_000_000n }],
    ['the ends of time', { event_time: '"9999-12-31T23:59:59.999999Z"' }, { event_time: 253_402_300_799_999_999n }],
  ])('%s', (_, members, expected) => {
    const { columns, rejected } = parseOrders([batch([order(members)])], 'orders')
    expect(rejected).toEqual([])
    expect(named(columns, 0)).toMatchObject(expected)
  })

  test('members that are missing, unknown, in another order, twice, or spelled with escapes', () => {
    const value =
      ' {"__proto__":{"a":[1,{"b":null}]}, "event_time":"2026-10-01T09:15:00Z",\n\t"order_id":"x","order_id" : 7,"constructor":true,"st\\u0061tus":"paid"}\r\n'
    const { columns, rejected } = parseOrders([batch([value])], 'orders')
    expect(rejected).toEqual([])
    expect(named(columns, 0)).toMatchObject({ order_id: 7, customer_id: null, status: 'paid', amount: null })
  })
})

describe('what is handed back, and why', () => {
  test.each<[string | Uint8Array | null, string]>([
    [null, 'the value is null'],
    ['', 'the value is not a JSON object'],
    ['null', 'the value is not a JSON object'],
    ['[1]', 'the value is not a JSON object'],
    ['"{}"', 'the value is not a JSON object'],
    ['\ufeff{}', 'the value is not a JSON object'],
    ['{', 'the value is not well-formed JSON'],
    [`${GOOD}x`, 'the value is not well-formed JSON'],
    [order({ note: '01' }), 'the value is not well-formed JSON'],
    [order({ note: '1.' }), 'the value is not well-formed JSON'],
    [order({ note: '"\\x"' }), 'the value is not well-formed JSON'],
    [order({ amount: '+1' }), 'the value is not well-formed JSON'],
    [`${GOOD.slice(0, -1)},}`, 'the value is not well-formed JSON'],
    [Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]), 'the value is not UTF-8'],
    [Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]), 'the value is not UTF-8'],
    [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, "the value's JSON is deeper than 64"],
    [`{"a":${'['.repeat(500_000)}`, "the value's JSON is deeper than 64"],
    [`{"a":"${'x'.repeat(1024 * 1024)}"}`, 'the value is over 1 MiB'],
    ['{}', 'order_id is missing or null'],
    [order({ order_id: 'null' }), 'order_id is missing or null'],
    [order({ order_id: 'true' }), 'order_id is not a number'],
    [order({ order_id: '[1]' }), 'order_id is not a number'],
    [order({ order_id: '""' }), 'order_id is not a number'],
    [order({ order_id: '"1001x"' }), 'order_id is not a number'],
    [order({ order_id: '1001.5' }), 'order_id is not a whole number'],
    [order({ order_id: '2147483648' }), 'order_id is out of range'],
    [order({ order_id: '-2147483649' }), 'order_id is out of range'],
    [order({ order_id: '1e400' }), 'order_id is out of range'],
    [order({ amount: '25.505' }), 'amount has more than 2 decimals'],
    [order({ amount: '0.30000000000000004' }), 'amount has more than 2 decimals'],
    [order({ amount: '1e-400' }), 'amount has more than 2 decimals'],
    [order({ amount: '100000000' }), 'amount is out of range'],
    [order({ amount: '99999999.999' }), 'amount has more than 2 decimals'],
    [order({ amount: '1e999999999999' }), 'amount is out of range'],
    [order({ amount: '9'.repeat(100_000) }), 'amount is out of range'],
    [order({ amount: '"NaN"' }), 'amount is not a number'],
    [order({ amount: 'false' }), 'amount is not a number'],
    [order({ customer_id: '1' }), 'customer_id is not a text'],
    [order({ status: '{"a":1}' }), 'status is not a text'],
    [order({ status: '"\\ud800"' }), 'status has half of a surrogate pair'],
    [order({ event_time: 'null' }), 'event_time is missing or null'],
    [order({ event_time: '1790846100' }), 'event_time is not a text'],
    [order({ event_time: '"yesterday"' }), 'event_time is not a timestamp'],
    [order({ event_time: '"2026-02-29T00:00:00Z"' }), 'event_time is not a timestamp'],
    [order({ event_time: '"2026-10-01T24:00:00Z"' }), 'event_time is not a timestamp'],
    [order({ event_time: '"2026-1x-01T09:15:00Z"' }), 'event_time is not a timestamp'],
  ])('%.60s: %s', (value, reason) => {
    const { columns, rejected } = parseOrders([batch([GOOD, value, GOOD], { partition: 1, firstOffset: 5n, timestampMs: 12 })], 'orders')
    expect(rejected).toEqual([{ partition: 1, offset: 6n, timestampMs: 12, key: Buffer.from('k6'), value: bytesOf(value), reason }])
    expect(rowsOf(columns).map((row) => row[7])).toEqual([5n, 7n])
  })

  test('a time of the record that no column holds', () => {
    const { rejected } = parseOrders([batch([GOOD], { timestampMs: 2 ** 60 })], 'orders')
    expect(rejected[0]?.reason).toBe("the record's timestamp is out of range")
  })
})

test('a row that is not finished leaves nothing in the next one', () => {
  const bad = order({ customer_id: 'null', status: '"\\udfff"' })
  const { columns } = parseOrders([batch([GOOD, bad, order({ customer_id: '"C9"', amount: 'null' }), bad, GOOD])], 'orders')
  expect(rowsOf(columns).map((row) => row.slice(0, 4))).toEqual([
    [1001, 'C01', 'placed', 2550n],
    [1001, 'C9', 'placed', null],
    [1001, 'C01', 'placed', 2550n],
  ])
  expect(columns.vectors.map((vector) => vector.nulls !== undefined)).toEqual([false, false, false, true, false, false, false, false, false])
})

test('no records, no rows; several batches, all of them', () => {
  expect(parseOrders([], 'orders').columns.rowCount).toBe(0)
  expect(parseOrders([batch([GOOD, GOOD]), batch([]), batch([GOOD], { partition: 1 })], 'orders').columns.rowCount).toBe(3)
})

test('amounts are as exact as their text', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -9_999_999_999n, max: 9_999_999_999n }), (unscaled) => {
      const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(3, '0')
      const text = `${unscaled < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
      expect(named(parseOrders([batch([order({ amount: text })])], 'orders').columns, 0)).toMatchObject({ amount: unscaled })
    }),
  )
})

test('what is JSON, and where its members stand, is what JSON.parse says', () => {
  const names = ['a', 'é', '__proto__'].map((name) => Buffer.from(name))
  const json = fc.json({ maxDepth: 3, stringUnit: 'binary' })
  const damaged = fc
    .tuple(json, fc.nat(), fc.constantFrom('', ',', '"', '}', '[', '0', '.', 'e', '-', '\\', ' ', '\n', '\u0001', 'é'))
    .map(([text, at, insert]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + insert + text.slice(place + (at % 2))
    })
  const members = fc.array(fc.tuple(fc.constantFrom('"a"', '"\\u0061"', '"é"', '"__proto__"', '"b"'), json), { maxLength: 5 })
  const object = members.map((list) => `{${list.map(([name, value]) => `${name} : ${value}`).join(' , ')}}`)
  fc.assert(
    fc.property(fc.oneof(json, damaged, object), (text) => {
      const bytes = Buffer.from(text)
      const found = new Int32Array(names.length * 3)
      const outcome = findFields(bytes, names, found)
      const parsed = tryParse(bytes.toString())
      if (parsed === undefined) expect(outcome).not.toBe('found')
      else expect(outcome).toBe(typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? 'found' : 'not-an-object')
      if (outcome !== 'found' || parsed === undefined) return
      for (const [field, name] of ['a', 'é', '__proto__'].entries()) {
        const [kind, start, end] = found.subarray(field * 3)
        const value = Object.getOwnPropertyDescriptor(parsed, name)?.value as unknown
        if (value === undefined) expect(kind).toBe(0)
        else {
          const isText = typeof value === 'string'
          const shown = bytes.subarray(start, end).toString()
          expect(JSON.parse(isText ? `"${shown}"` : shown)).toEqual(value)
          expect(kind).toBe(value === null ? 1 : typeof value === 'number' ? 2 : isText ? (shown.includes('\\') ? 4 : 3) : 5)
        }
      }
    }),
    { numRuns: 500 },
  )
})

/** GOOD with other texts for some of its members. */
function order(members: Readonly<Record<string, string>>): string {
  const all = { order_id: '1001', customer_id: '"C01"', status: '"placed"', amount: '25.50', event_time: '"2026-10-01T09:15:00Z"', ...members }
  return `{${Object.entries(all)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`
}

interface Place {
  readonly partition?: number
  readonly firstOffset?: bigint
  readonly timestampMs?: number
}

function batch(values: readonly (string | Uint8Array | null)[], { partition = 0, firstOffset = 0n, timestampMs = 0 }: Place = {}): RecordBatch {
  const offsets = values.map((_, index) => firstOffset + BigInt(index))
  return {
    partition,
    rowCount: values.length,
    offsets: new BigInt64Array(offsets),
    timestampsMs: new Float64Array(values.length).fill(timestampMs),
    keys: offsets.map((offset) => Buffer.from(`k${offset}`)),
    values: values.map(bytesOf),
  }
}

function bytesOf(value: string | Uint8Array | null): Uint8Array | null {
  return typeof value === 'string' ? Buffer.from(value) : value
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function named(columns: Columns, row: number): Record<string, unknown> {
  return Object.fromEntries(columns.vectors.map((vector, position) => [vector.column.name, rowsOf(columns)[row]?.[position]]))
}

/** Rows read straight from the layout that `Columns` documents. */
function rowsOf(columns: Columns): unknown[][] {
  return Array.from({ length: columns.rowCount }, (_, row) =>
    columns.vectors.map(({ column, values, offsets, nulls }) => {
      if (nulls?.[row]) return null
      if (column.type.kind === 'string') return Buffer.from((values as Uint8Array).subarray(offsets?.[row], offsets?.[row + 1])).toString()
      if (column.type.kind !== 'decimal') return values[row]
      const [low, high] = (values as BigInt64Array).subarray(2 * row)
      return ((high as bigint) << 64n) | BigInt.asUintN(64, low as bigint)
    }),
  )
}
