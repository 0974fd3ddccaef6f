/**
 * The records of a base workspace, made from the seed, and what a table must hold after some of them, worked out without streamtop
 * or Spark. No two events have the same time: of two such events in one batch Spark may take either.
 */
import type { Sent } from '../checker.mjs'
import type { TextRow } from './spark-worker.js'
import type { Seeded } from './seeded.js'

/** An order event as texts, each as Spark casts it. */
export interface SeededRecord {
  /** A line for `streamtop produce --from`. */
  readonly line: string
  /** Its row in `orders`: order_id, customer_id, status, amount, event_time. */
  readonly row: TextRow
}

const CUSTOMERS = ['C01', 'C02', 'C03', null, 'Zoë “Ü” 😀', "O'Neill\\"]
const STATUSES = ['placed', 'placed', 'placed', 'paid', 'shipped', 'päid?']
const AMOUNTS = ['0.00', '12.00', '25.50', '-0.01', '-1234.56', '99999999.99', '-99999999.99']

/** So many records become one version of `bronze_orders`. */
export const GROUP_SIZE = 5

/** Some records. The first of each group is a new order that was placed, so that no batch is without rows for any of the queries. */
export function makeRecords(from: Seeded, count: number): SeededRecord[] {
  return Array.from({ length: count }, (_, number) => {
    const isFirst = number % GROUP_SIZE === 0
    const orderId = isFirst ? 2001 + number : from.whole(1001, 1008)
    const status = isFirst ? 'placed' : from.pick(STATUSES)
    const amount = from.chance(10) ? null : from.chance(30) ? from.pick(AMOUNTS) : `${from.whole(0, 999)}.${String(from.whole(0, 99)).padStart(2, '0')}`
    return record(orderId, from.pick(CUSTOMERS), status, amount, `${pickDay(from)} ${pickClock(from)}.${String(number + 1).padStart(6, '0')}`)
  })
}

/** The nine events of the walk-through, written down once more. */
export const NINE_EVENTS: readonly SeededRecord[] = [
  record(1001, 'C01', 'placed', '25.50', '2026-10-01 09:15:00'),
  record(1002, 'C02', 'placed', '12.00', '2026-10-01 09:40:00'),
  record(1003, 'C03', 'placed', '31.00', '2026-10-01 09:55:00'),
  record(1001, 'C01', 'paid', '25.50', '2026-10-01 10:05:00'),
  record(1004, 'C01', 'placed', '40.00', '2026-10-01 10:20:00'),
  record(1005, 'C02', 'placed', '18.25', '2026-10-01 11:30:00'),
  record(1006, 'C03', 'placed', '22.00', '2026-10-01 09:50:00'),
  record(1007, 'C02', 'placed', '15.00', '2026-10-01 10:45:00'),
  record(1008, 'C01', 'placed', '12.00', '2026-10-01 12:40:00'),
]

function record(orderId: number, customerId: string | null, status: string, amount: string | null, at: string): SeededRecord {
  const value = `{"order_id":${orderId},"customer_id":${JSON.stringify(customerId)},"status":${JSON.stringify(status)},"amount":${amount},"event_time":"${at.replace(' ', 'T')}Z"}`
  const cast = at.includes('.') ? at.replace(/0+$/, '') : at
  return { line: `${orderId}\t${value}`, row: [String(orderId), customerId, status, amount, cast] }
}

/** A record as the checker wants it told. */
export function sentOf({ line, row }: SeededRecord): Sent {
  const [orderId, customerId = null, status, amount = null, at] = row
  const [second = '', fraction = ''] = (at ?? '').split('.')
  return {
    value: line.slice(line.indexOf('\t') + 1),
    order_id: Number(orderId),
    customer_id: customerId,
    status: status ?? '',
    amount,
    event_time_us: BigInt(Date.parse(`${second.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')),
  }
}

/** Within the years that nanoseconds in 64 bits hold: delta-rs reads the timestamps that Spark writes (INT96) no further. */
function pickDay(from: Seeded): string {
  if (from.chance(10)) return from.pick(['1969-12-31', '1900-01-01', '1677-09-22', '2262-04-10'])
  return `2026-10-${String(from.whole(1, 28)).padStart(2, '0')}`
}

function pickClock(from: Seeded): string {
  return [from.whole(0, 23), from.whole(0, 59), from.whole(0, 59)].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Rows of `bronze_orders` without the last column, which is when the record was sent. */
export function bronzeRows(records: readonly SeededRecord[]): TextRow[] {
  return records.map(({ row }, offset) => [...row, 'orders', '0', String(offset)])
}

/** Rows of `orders`: the newest event of each order. */
export function newestRows(records: readonly SeededRecord[]): TextRow[] {
  const newest = new Map<string, TextRow>()
  for (const { row } of records) {
    const orderId = row[0] ?? ''
    const known = newest.get(orderId)
    if (known === undefined || padded(row[4] ?? '') > padded(known[4] ?? '')) newest.set(orderId, row)
  }
  return [...newest.values()]
}

/** A time whose text sorts as the time does: with all six digits of the fraction. */
function padded(at: string): string {
  const [whole = '', fraction = ''] = at.split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}
