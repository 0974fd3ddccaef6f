/** The queries that are tortured: every way of writing. */
import { foreachBatch, type QueryDefinition, query, table } from '../../src/engine/definition.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { ordersSchema } from '../../src/queries/orders-schema.js'
import { projectColumns } from '../../src/store/columns.js'
import { newer } from '../../src/store/merge-spec.js'
import { newestOfEach } from '../../src/store/newest-of-each.js'
import type { Batch } from '../../src/engine/batch.js'
import type { QueryPromise } from '../checker.mjs'

/** What a batch says of itself to its function. */
export type OnBatch = (query: string, batch: Batch) => void

export interface TorturedQuery {
  readonly definition: QueryDefinition
  /** Whether it may be run with idempotence off too: then what it holds is still known. */
  readonly canToggle: boolean
  readonly promise: Pick<QueryPromise, 'name' | 'source' | 'table' | 'holds' | 'alsoWrites'>
}

/** Two tables one after the other, both with ids where idempotence is on. */
export function apart(onBatch: OnBatch = () => {}): QueryDefinition {
  const run = foreachBatch(async (batch) => {
    onBatch('apart', batch)
    const pair = batch.idempotent ? { txnAppId: batch.appId, txnVersion: batch.id } : {}
    await batch.append('apart', batch.columns, pair)
    await batch.append('apart_too', batch.columns, pair)
  })
  return query('apart', table('bronze_orders'), run, { alsoWrites: ['apart_too'], idempotent: true, holds: 'every-row' })
}

/** A MERGE and an append in one commit, with an id on the append alone. */
export function together(onBatch: OnBatch = () => {}): QueryDefinition {
  const run = foreachBatch(async (batch) => {
    onBatch('together', batch)
    await batch.createTable('newest', ordersSchema)
    const newest = projectColumns(newestOfEach(batch.columns, ['order_id'], 'event_time', 'partition', 'offset'), ordersSchema)
    await batch.commitTogether([
      { append: 'together', rows: batch.columns, txnAppId: batch.appId, txnVersion: batch.id },
      { merge: 'newest', rows: newest, on: 'order_id', whenMatched: { when: newer('event_time'), act: 'update' }, whenNotMatched: 'insert' },
    ])
  })
  return query('together', table('bronze_orders'), run, { alsoWrites: ['newest'], idempotent: true, holds: 'every-row' })
}

/** Bronze is the first; the others read it. */
export function torturedQueries(onBatch: OnBatch): readonly TorturedQuery[] {
  const bronze = { table: 'bronze_orders' }
  return [
    { definition: bronzeOrders, canToggle: true, promise: { name: 'bronze_orders', source: { topic: 'orders' }, table: 'bronze_orders', holds: 'every-row' } },
    { definition: eventsCopy, canToggle: true, promise: { name: 'events_copy', source: bronze, table: 'events_copy', holds: 'every-row' } },
    { definition: orders, canToggle: false, promise: { name: 'orders', source: bronze, table: 'orders', holds: 'newest-of-each-order' } },
    {
      definition: apart(onBatch),
      canToggle: true,
      promise: { name: 'apart', source: bronze, table: 'apart', holds: 'every-row', alsoWrites: [{ table: 'apart_too' }] },
    },
    {
      definition: together(onBatch),
      canToggle: false,
      promise: { name: 'together', source: bronze, table: 'together', holds: 'every-row', alsoWrites: [{ table: 'newest', holds: 'newest-of-each-order' }] },
    },
  ]
}
