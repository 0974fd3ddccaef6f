/** `events_copy`: each batch of bronze appended by foreachBatch; without the pair of txn options, a batch that runs again is there twice. */
import { foreachBatch, query, table } from '../engine/definition.js'

export const eventsCopy = query(
  'events_copy',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    await batch.append('events_copy', batch.columns, batch.idempotent ? { txnAppId: batch.appId, txnVersion: batch.id } : {})
  }),
  { idempotent: false, holds: 'every-row' },
)
