/** Records for a schedule, each with what the checker must be told of it. No two are the same; some orders have two events at one time. */
import type { OutgoingRecord } from '../../src/topic/topic.js'
import type { Sent, SentBad } from '../checker.mjs'
import type { Random } from './random.js'

const BEGIN_S = Date.UTC(2026, 9, 1, 9) / 1000
const ORDERS = 6
const STATUSES = ['placed', 'paid', 'shipped'] as const
const BAD = ['', 'no order', '[]', '{"order_id":null}', '{"order_id":1', '\u0000', '{"order_id":"x","event_time":"2026-10-01T09:15:00Z"}'] as const

/** @param number of the record in its schedule: its amount, so that each is another */
export function order(random: Random, number: number): { readonly record: OutgoingRecord; readonly sent: Sent } {
  const order_id = 1001 + random.below(ORDERS)
  const customer_id = `C${random.below(3)}`
  const status = random.oneOf(STATUSES)
  const amount = `${1 + Math.floor(number / 100)}.${String(number % 100).padStart(2, '0')}`
  // Time goes on by a minute a record; some are late by up to an hour, many fall on one minute.
  const eventS = BEGIN_S + 60 * Math.max(0, Math.floor(number / 3) - (random.chance(0.3) ? random.below(60) : 0))
  const value = JSON.stringify({ order_id, customer_id, status, amount, event_time: new Date(eventS * 1000).toISOString() })
  return {
    record: { key: Buffer.from(String(order_id)), value: Buffer.from(value) },
    sent: { value, order_id, customer_id, status, amount, event_time_us: eventS * 1_000_000 },
  }
}

/** A record that is no order, or a null. */
export function badRecord(random: Random): { readonly record: OutgoingRecord; readonly bad: SentBad } {
  const value = random.chance(0.2) ? null : Buffer.from(random.oneOf(BAD))
  return { record: { key: random.chance(0.5) ? null : Buffer.from('k'), value }, bad: { value } }
}
