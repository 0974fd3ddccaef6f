/** A MERGE of a batch as it comes, with every event in it. */
import { foreachBatch, newer, ordersSchema, query, table } from 'streamtop'

export default [
  query(
    'hasty_orders',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      await batch.createTable('hasty_orders', ordersSchema)
      const rows = batch.rows.map(({ order_id, customer_id, status, amount, event_time }) => ({ order_id, customer_id, status, amount, event_time }))
      await batch.merge('hasty_orders', rows, {
        schema: ordersSchema,
        on: 'order_id',
        whenMatched: { when: newer('event_time'), act: 'update' },
        whenNotMatched: 'insert',
      })
    }),
    { idempotent: true },
  ),
]
