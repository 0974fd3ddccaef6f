/** What a workspace of the nine events promises to the checker: the nine events that `produce` sends, and what each query makes of them. */
import { expect } from 'vitest'
import { ORDER_PARTS } from '../src/queries/order-parts.js'
import { checkWorkspace, type Promised, type QueryPromise, type Sent } from './checker.mjs'

/** The records of the four parts, as the checker wants them told. */
export const SENT_BY_PART: readonly (readonly Sent[])[] = ORDER_PARTS.map((part) =>
  part.map(({ orderId, customerId, status, amount, eventTime }) => ({
    order_id: orderId,
    customer_id: customerId,
    status,
    amount,
    event_time_us: Date.parse(eventTime) * 1000,
    value: `{"order_id":${orderId},"customer_id":"${customerId}","status":"${status}","amount":${amount},"event_time":"${eventTime}"}`,
  })),
)
export const SENT: readonly Sent[] = SENT_BY_PART.flat()

export const BRONZE: QueryPromise = {
  name: 'bronze_orders',
  source: { topic: 'orders' },
  table: 'bronze_orders',
  holds: 'every-row',
  exactlyOnce: true,
  caughtUp: true,
}
export const COPY: QueryPromise = { ...BRONZE, name: 'events_copy', source: { table: 'bronze_orders' }, table: 'events_copy' }
export const ORDERS: QueryPromise = { ...COPY, name: 'orders', table: 'orders', holds: 'newest-of-each-order' }

/** A workspace in which all nine events were sent, and bronze and these queries have ended by themselves. */
export function nineEvents(...queries: readonly QueryPromise[]): Promised {
  return { topic: 'orders', sent: SENT, queries: [BRONZE, ...queries] }
}

/** Runs the checker, which must find nothing. */
export async function expectSound({ folder }: { readonly folder: string }, promised: Promised): Promise<void> {
  expect(await checkWorkspace(folder, promised)).toEqual([])
}
