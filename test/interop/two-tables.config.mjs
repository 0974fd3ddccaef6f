/** An `events_copy` that writes each batch to two tables, one after the other, both plainly. */
import { foreachBatch, query, table } from 'streamtop'

export default [
  query(
    'events_copy',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      await batch.append('events_copy', batch.columns)
      await batch.append('events_audit', batch.columns)
    }),
    { alsoWrites: ['events_audit'] },
  ),
]
