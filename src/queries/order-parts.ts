/**
 * The nine events that every walk-through begins with, in four parts. Part 2 changes an order, part 3 has one that comes late
 * (1006), part 4 another (1007), so that nine events become eight orders.
 */
import type { OutgoingRecord } from '../topic/topic.js'
import { type OrderEvent, orderRecord } from './order-event.js'

/** The events of part N are `ORDER_PARTS[N - 1]`. */
export const ORDER_PARTS: readonly (readonly OrderEvent[])[] = [
  [
    { orderId: 1001, customerId: 'C01', status: 'placed', amount: '25.50', eventTime: '2026-10-01T09:15:00Z' },
    { orderId: 1002, customerId: 'C02', status: 'placed', amount: '12.00', eventTime: '2026-10-01T09:40:00Z' },
    { orderId: 1003, customerId: 'C03', status: 'placed', amount: '31.00', eventTime: '2026-10-01T09:55:00Z' },
  ],
  [
    { orderId: 1001, customerId: 'C01', status: 'paid', amount: '25.50', eventTime: '2026-10-01T10:05:00Z' },
    { orderId: 1004, customerId: 'C01', status: 'placed', amount: '40.00', eventTime: '2026-10-01T10:20:00Z' },
  ],
  [
    { orderId: 1005, customerId: 'C02', status: 'placed', amount: '18.25', eventTime: '2026-10-01T11:30:00Z' },
    { orderId: 1006, customerId: 'C03', status: 'placed', amount: '22.00', eventTime: '2026-10-01T09:50:00Z' },
  ],
  [
    { orderId: 1007, customerId: 'C02', status: 'placed', amount: '15.00', eventTime: '2026-10-01T10:45:00Z' },
    { orderId: 1008, customerId: 'C01', status: 'placed', amount: '12.00', eventTime: '2026-10-01T12:40:00Z' },
  ],
]

/** The records of a part, 1 to 4, in order. */
export function partRecords(part: number): OutgoingRecord[] {
  return (ORDER_PARTS[part - 1] ?? []).map(orderRecord)
}
