/** A function that tries a write again when it fails; and it seems to fail although the rows are there, as after a timeout. */
import { foreachBatch, query, table } from 'streamtop'

function retrying(name, optionsOf) {
  return query(
    name,
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      for (let attempt = 1; attempt <= 2; attempt++) {
        try {
          await batch.append(name, batch.columns, optionsOf(batch))
          if (attempt === 1) throw new Error('the answer did not arrive in time')
        } catch (error) {
          if (attempt === 2) throw error
        }
      }
    }),
  )
}

export default [retrying('retried', () => ({})), retrying('retried_tagged', (batch) => ({ txnAppId: 'retried_tagged', txnVersion: batch.id }))]
