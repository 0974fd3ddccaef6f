/** What a workspace of the nine events promises to the checker: the nine events that `produce` sends, and what each query makes of them. */
import { expect } from 'vitest'
import { ORDER_PARTS } from '../src/queries/order-parts.js'
import { checkWorkspace, type Promised, type QueryPromise } from './checker.mjs'

/** The records of the four parts, as the checker wants them told. */
export const SENT: Promised['sent'] = ORDER_PARTS.flat().map(({ orderId, customerId, status, amount, eventTime }) => ({
  order_id: orderId,
  customer_id: customerId,
  status,
  amount,
  event_time_us: Date.parse(eventTime) * 1000,
  value: `{"order_id":${orderId},"customer_id":"${customerId}","status":"${status}","amount":${amount},"event_time":"${eventTime}"}`,
}))

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

/**
 * Runs the checker on a workspace in which all nine events were sent and every query has ended by itself.
 * @param name the query that was killed; with idempotence off only whole replayed ranges may be there twice
 */
export async function expectSound(story: { readonly folder: string }, name: string, isIdempotent: boolean): Promise<void> {
  const bronze = { ...BRONZE, exactlyOnce: name !== 'bronze_orders' || isIdempotent }
  const queries = [bronze]
  if (name === 'events_copy') queries.push({ ...COPY, exactlyOnce: isIdempotent })
  // A plain insert of the newest rows is no fold of the input, and nothing is promised of it.
  if (name === 'orders' && isIdempotent) queries.push(ORDERS)
  expect(await checkWorkspace(story.folder, { topic: 'orders', sent: SENT, queries })).toEqual([])
}
