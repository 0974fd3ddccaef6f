/** An event of an order, and the record that carries it in a topic. */
import type { OutgoingRecord } from '../topic/topic.js'

export interface OrderEvent {
  readonly orderId: number
  readonly customerId: string
  readonly status: 'placed' | 'paid' | 'shipped'
  /** With two decimals: `25.50`. */
  readonly amount: string
  /** UTC, to the second: `2026-10-01T09:15:00Z`. */
  readonly eventTime: string
}

/** The record of an event: the key is the order id as text, the value compact JSON in which the amount keeps its two decimals. */
export function orderRecord(event: OrderEvent): OutgoingRecord {
  const { orderId, customerId, status, amount, eventTime } = event
  const value = `{"order_id":${orderId},"customer_id":"${customerId}","status":"${status}","amount":${amount},"event_time":"${eventTime}"}`
  return { key: Buffer.from(String(orderId)), value: Buffer.from(value) }
}
