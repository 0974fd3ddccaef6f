/** A query that writes two tables in one commit: every row of bronze, and the newest of each order by MERGE, with an id on the append alone. */
import { foreachBatch, query, table } from '../../src/engine/definition.js'
import { ordersSchema } from '../../src/queries/orders-schema.js'
import { projectColumns } from '../../src/store/columns.js'
import { newer } from '../../src/store/merge-spec.js'
import { newestOfEach } from '../../src/store/newest-of-each.js'

export const everyAndNewest = query(
  'both',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    await batch.createTable('newest', ordersSchema)
    const newest = projectColumns(newestOfEach(batch.columns, ['order_id'], 'event_time', 'partition', 'offset'), ordersSchema)
    await batch.commitTogether([
      { append: 'every', rows: batch.columns, txnAppId: 'both', txnVersion: batch.id },
      { merge: 'newest', rows: newest, on: 'order_id', whenMatched: { when: newer('event_time'), act: 'update' }, whenNotMatched: 'insert' },
    ])
  }),
  { table: 'every', alsoWrites: ['newest'] },
)
