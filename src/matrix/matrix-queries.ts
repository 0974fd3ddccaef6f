/**
 * The queries of the matrix that write two tables, as a configuration file of its own (dist/matrix-queries.js), which a query's process
 * loads. With idempotence on each write has the pair.
 */
import { type Batch, foreachBatch, query, table } from '../index.js'

export const twoApart = query(
  'two_apart',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    await batch.append('apart', batch.columns, pairOf(batch))
    await batch.append('apart_audit', batch.columns, pairOf(batch))
  }),
  { table: 'apart', alsoWrites: ['apart_audit'], holds: 'every-row' },
)

export const twoTogether = query(
  'two_together',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    await batch.commitTogether([
      { append: 'together', rows: batch.columns, ...pairOf(batch) },
      { append: 'together_audit', rows: batch.columns, ...pairOf(batch) },
    ])
  }),
  { table: 'together', alsoWrites: ['together_audit'], holds: 'every-row' },
)

export default [twoApart, twoTogether]

function pairOf(batch: Batch) {
  return batch.idempotent ? { txnAppId: batch.appId, txnVersion: batch.id } : {}
}
