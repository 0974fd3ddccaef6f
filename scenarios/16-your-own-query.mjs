/** A query of one's own: orders of 30 and more, in a table of their own. */
import { foreachBatch, query, table } from 'streamtop'

export default [
  query(
    'vip_copy',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      const vip = batch.filter((row) => row.amount >= 30)
      await batch.append('vip', vip, { txnAppId: 'vip_copy', txnVersion: batch.id })
    }),
    { table: 'vip', idempotent: true },
  ),
]
