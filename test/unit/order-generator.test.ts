import { expect, test } from 'vitest'
import type { OrderEvent } from '../../src/queries/order-event.js'
import { nextOrders, orderGenerator } from '../../src/queries/order-generator.js'
import { ORDER_PARTS, partRecords } from '../../src/queries/order-parts.js'
import { parseOrders } from '../../src/queries/order-record.js'
import type { OutgoingRecord } from '../../src/topic/topic.js'

test('the four parts are nine events, to the byte', () => {
  expect(ORDER_PARTS.map((part) => part.length)).toEqual([3, 2, 2, 2])
  const [first] = partRecords(1)
  expect(text(first?.key)).toBe('1001')
  expect(text(first?.value)).toBe('{"order_id":1001,"customer_id":"C01","status":"placed","amount":25.50,"event_time":"2026-10-01T09:15:00Z"}')
  expect([1, 2, 3, 4].flatMap(partRecords).map((record) => text(record.key))).toEqual(['1001', '1002', '1003', '1001', '1004', '1005', '1006', '1007', '1008'])
  expect(partRecords(5)).toEqual([])
})

test('every event is an order, no two are equal, no order has two events at one time', () => {
  for (const seed of [1, 2, 'a workshop']) {
    const events = take(orderGenerator(seed), 24 * 200)
    const records = nextOrders(null, seed, events.length).records
    const { rejected } = parseOrders(
      [
        {
          partition: 0,
          rowCount: records.length,
          offsets: new BigInt64Array(records.length),
          timestampsMs: new Float64Array(records.length),
          keys: [],
          values: records.map((record) => record.value),
        },
      ],
      'orders',
    )
    expect(rejected, `seed ${seed}`).toEqual([])
    expect(new Set(events.map((event) => JSON.stringify(event))).size, `seed ${seed}`).toBe(events.length)
    expect(new Set(events.map(({ orderId, eventTime }) => `${orderId} ${eventTime}`)).size, `seed ${seed}`).toBe(events.length)
  }
})

test('orders go on after 1008 and 12:40, and each is placed, then paid, then shipped in time', () => {
  const events = take(orderGenerator(1), 24 * 50)
  const byOrder = new Map<number, OrderEvent[]>()
  for (const event of events) byOrder.set(event.orderId, [...(byOrder.get(event.orderId) ?? []), event])
  expect([...byOrder.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 * 50 }, (_, i) => 1009 + i))
  for (const ofOrder of byOrder.values()) {
    const inTime = ofOrder.toSorted((a, b) => (a.eventTime < b.eventTime ? -1 : 1))
    expect(inTime.map((event) => event.status)).toEqual(['placed', 'paid', 'shipped'].slice(0, inTime.length))
    expect(new Set(ofOrder.map(({ customerId, amount }) => `${customerId} ${amount}`)).size).toBe(1)
  }
  expect(events[30]?.eventTime.slice(0, 13)).toBe('2026-10-01T12')
})

test('some come late: new orders, and orders that are paid before they are placed', () => {
  const events = take(orderGenerator(1), 24 * 50)
  const newestBefore = (place: number) => Math.max(...events.slice(Math.max(0, place - 24), place).map((event) => Date.parse(event.eventTime)))
  const behindMs = events.map((event, place) => newestBefore(place) - Date.parse(event.eventTime))
  // Two of each 24 by ten minutes or more; the very first event has none before it that it could be late to.
  expect(behindMs.filter((ms) => ms >= 9 * 60_000).length).toBeGreaterThanOrEqual(98)
  expect(behindMs.filter((ms) => ms >= 9 * 60_000).length).toBeLessThanOrEqual(100)
  expect(Math.max(...behindMs)).toBeLessThan(50 * 60_000)
  const paidFirst = events.filter((event, place) => event.status === 'paid' && !events.slice(0, place).some((before) => before.orderId === event.orderId))
  expect(paidFirst.length).toBe(50)
})

test('an event depends on seed and number alone', () => {
  const events = take(orderGenerator(7), 100)
  expect(take(orderGenerator('7'), 100)).toEqual(events)
  for (const start of [1, 23, 24, 25, 60]) expect(take(orderGenerator(7, start), 40)).toEqual(events.slice(start, start + 40))
  expect(take(orderGenerator(8), 100)).not.toEqual(events)
  expect(take(orderGenerator(7, 2_000_000_000), 1)[0]?.orderId).toBeGreaterThan(1_000_000_000)
  expect(() => take(orderGenerator(7, 5_000_000_000), 1)).toThrow(expect.objectContaining({ code: 'bad-value' }))
})

test('a generator that is asked again goes on; another seed begins new orders', () => {
  const whole = nextOrders(null, 1, 10).records
  const first = nextOrders(null, 1, 4)
  const second = nextOrders(first.state, 1, 6)
  expect([...first.records, ...second.records].map(plain)).toEqual(whole.map(plain))
  const other = nextOrders(second.state, 2, 24)
  const before = new Set(whole.map((record) => text(record.key)))
  expect(other.records.some((record) => before.has(text(record.key)))).toBe(false)
})

function take(events: Iterator<OrderEvent>, count: number): OrderEvent[] {
  return Array.from({ length: count }, () => events.next().value as OrderEvent)
}

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString()
}

function plain(record: OutgoingRecord): string[] {
  return [text(record.key), text(record.value)]
}
