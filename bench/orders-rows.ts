/** Rows of the table orders, and the MERGE that its query makes of them. */
import { ordersSchema } from '../src/queries/orders-schema.js'
import type { Columns } from '../src/store/columns.js'
import { columnsFromRows } from '../src/store/columns-from-rows.js'
import { newer } from '../src/store/merge-spec.js'

export const newerFirst = { on: 'order_id', whenMatched: { when: newer('event_time'), act: 'update' }, whenNotMatched: 'insert' } as const

/** Orders with every `stride`th id from the first on. */
export function ordersOf(firstId: number, count: number, stride: number, minute: number): Columns {
  const time = `2026-10-01T${String(10 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00Z`
  return columnsFromRows(
    ordersSchema,
    Array.from({ length: count }, (_, index) => ({
      order_id: firstId + index * stride,
      customer_id: `C${String(index % 40).padStart(2, '0')}`,
      status: minute % 2 === 0 ? 'placed' : 'paid',
      amount: `${5 + (index % 95)}.25`,
      event_time: time,
    })),
  )
}
