/** `orders`: the newest state of each order, by MERGE, which a batch that runs again does not change; or by a plain insert, which it does. */
import { foreachBatch, query, table } from '../engine/definition.js'
import { projectColumns } from '../store/columns.js'
import { newer } from '../store/merge-spec.js'
import { newestOfEach } from '../store/newest-of-each.js'
import { ordersSchema } from './orders-schema.js'

export const orders = query(
  'orders',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    await batch.createTable('orders', ordersSchema)
    // Of two events at one time the later record wins, so the choice is the same when the batch runs again.
    const newest = projectColumns(newestOfEach(batch.columns, ['order_id'], 'event_time', 'partition', 'offset'), ordersSchema)
    if (!batch.idempotent) {
      await batch.append('orders', newest)
      return
    }
    await batch.merge('orders', newest, {
      on: 'order_id',
      whenMatched: { when: newer('event_time'), act: 'update' },
      whenNotMatched: 'insert',
    })
  }),
  { idempotent: true, report: { sortedBy: 'order_id' }, holds: { newestBy: 'event_time', of: 'order_id' } },
)
