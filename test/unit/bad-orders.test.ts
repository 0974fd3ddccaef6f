/** No record stops the parser, none is lost, and each that is no order is handed back with its bytes and a reason of a fixed list. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseOrders } from '../../src/queries/order-record.js'
import { rowsOf } from '../../src/store/values.js'
import type { RecordBatch } from '../../src/topic/topic.js'
import { BAD_ORDERS, orderText } from '../fixtures/bad-orders.js'
import { SEED } from '../seed.js'

const REASONS = new Set([...BAD_ORDERS.map(({ reason }) => reason), "the record's timestamp is out of range"])

test('the list is long, and no record stands in it twice', () => {
  expect(BAD_ORDERS.length).toBeGreaterThanOrEqual(80)
  expect(new Set(BAD_ORDERS.map(({ value }) => value && Buffer.from(value).toString('latin1'))).size).toBe(BAD_ORDERS.length)
})

test('each of the list is handed back with its reason, and the good ones around it are rows', () => {
  const values = BAD_ORDERS.flatMap(({ value }, index) => [Buffer.from(orderText({ order_id: String(index) })), value])
  const { columns, rejected } = parseOrders([batchOf(values)], 'orders')
  expect(rejected.map(({ reason }) => reason)).toEqual(BAD_ORDERS.map(({ reason }) => reason))
  expect(rejected.map(({ offset }) => Number(offset))).toEqual(BAD_ORDERS.map((_, index) => 2 * index + 1))
  expect(rejected.every(({ value }, index) => value === BAD_ORDERS[index]?.value)).toBe(true)
  expect([...rowsOf(columns)].map((row) => row['order_id'])).toEqual(BAD_ORDERS.map((_, index) => index))
  expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  expect(({} as Record<string, unknown>)['order_id']).toBeUndefined()
})

const goodMembers = fc.record({
  order_id: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(String),
  customer_id: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  status: fc.constantFrom('"placed"', '"paid"', 'null'),
  amount: fc.integer({ min: -9_999_999_999, max: 9_999_999_999 }).map((cents) => (cents / 100).toFixed(2)),
  event_time: fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => `"${date.toISOString()}"`),
})
const good = goodMembers.map((members) => ({ isGood: true, value: Buffer.from(orderText(members)) }))
const listed = fc.constantFrom(...BAD_ORDERS.filter(({ value }) => (value?.length ?? 0) < 10_000)).map(({ value }) => ({ isGood: false, value }))
const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => ({ isGood: null, value }))
const json = fc.json({ maxDepth: 4, stringUnit: 'binary' }).map((text) => ({ isGood: null, value: Buffer.from(text) }))
/** An order of which a piece is cut out, doubled, or written over. */
const damaged = fc.tuple(goodMembers, fc.nat(), fc.nat(12), fc.uint8Array({ maxLength: 3 }), fc.boolean()).map(([members, at, length, insert, doubles]) => {
  const value = Buffer.from(orderText(members))
  const start = at % value.length
  const rest = value.subarray(doubles ? Math.max(0, start - length) : start + length)
  return { isGood: null, value: Buffer.concat([value.subarray(0, start), insert, rest]) }
})
/** An order with any JSON in place of some of its members. */
const swapped = fc
  .tuple(goodMembers, fc.dictionary(fc.constantFrom('order_id', 'customer_id', 'status', 'amount', 'event_time', '__proto__'), fc.json({ maxDepth: 2 })))
  .map(([members, others]) => ({ isGood: null, value: Buffer.from(orderText({ ...members, ...others })) }))

test(`any records (seed ${SEED}): each is a row or is rejected, once, in order, and rightly`, () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(good, listed, bytes, json, damaged, swapped), { maxLength: 30 }), (records) => {
      const { columns, rejected } = parseOrders([batchOf(records.map(({ value }) => value))], 'orders')
      const rows = new Map([...rowsOf(columns)].map((row) => [Number(row['offset']), row]))
      const refused = new Map(rejected.map((record) => [Number(record.offset), record]))
      expect(rows.size + refused.size).toBe(records.length)
      expect([...rows.keys()]).toEqual([...rows.keys()].sort((a, b) => a - b))
      for (const [offset, { isGood, value }] of records.entries()) {
        const row = rows.get(offset)
        const refusal = refused.get(offset)
        expect(row === undefined).toBe(refusal !== undefined)
        if (isGood !== null) expect(row !== undefined).toBe(isGood)
        if (refusal) expect([refusal.value === value, REASONS.has(refusal.reason)]).toEqual([true, true])
        const parsed = parsedOrNull(value)
        if (row) expect(shown(row)).toEqual(shown(parsed ?? {}))
        if (refusal && /well-formed|JSON object|UTF-8/.test(refusal.reason)) expect(parsed).toBeNull()
      }
    }),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) },
  )
})

/** Another parser's view: an object, or null for bytes that are none. */
function parsedOrNull(value: Uint8Array | null): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value ?? new Uint8Array()))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The members of an order as both views can be compared: numbers as the nearest double, the time in milliseconds. */
function shown(row: Readonly<Record<string, unknown>>): unknown[] {
  const number = (value: unknown) => (value === null || value === undefined ? null : Number(String(value)))
  const [, day = '', clock = '00:00', zone = 'Z'] = /^(.{10})(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(.+)?$/.exec(String(row['event_time'])) ?? []
  const moment = Date.parse(`${day}T${clock}${zone.length === 3 ? `${zone}:00` : zone.toUpperCase()}`)
  return [number(row['order_id']), row['customer_id'] ?? null, row['status'] ?? null, number(row['amount']), moment]
}

function batchOf(values: readonly (Uint8Array | null)[]): RecordBatch {
  return {
    partition: 0,
    rowCount: values.length,
    offsets: new BigInt64Array(values.map((_, index) => BigInt(index))),
    timestampsMs: new Float64Array(values.length),
    keys: values.map(() => null),
    values,
  }
}
