/** Four ways to write one batch to two tables. */
import { foreachBatch, query, table } from 'streamtop'

const bronze = table('bronze_orders')

export default [
  query(
    'plain',
    bronze,
    foreachBatch(async (batch) => {
      await batch.append('plain', batch.columns)
      await batch.append('plain_audit', batch.columns)
    }),
    { alsoWrites: ['plain_audit'] },
  ),
  query(
    'one_tagged',
    bronze,
    foreachBatch(async (batch) => {
      await batch.append('one_tagged', batch.columns, { txnAppId: 'one_tagged', txnVersion: batch.id })
      await batch.append('one_tagged_audit', batch.columns)
    }),
    { alsoWrites: ['one_tagged_audit'], idempotent: true },
  ),
  query(
    'both_tagged',
    bronze,
    foreachBatch(async (batch) => {
      const pair = { txnAppId: 'both_tagged', txnVersion: batch.id }
      await batch.append('both_tagged', batch.columns, pair)
      await batch.append('both_tagged_audit', batch.columns, pair)
    }),
    { alsoWrites: ['both_tagged_audit'], idempotent: true },
  ),
  query(
    'together',
    bronze,
    foreachBatch(async (batch) => {
      const pair = { txnAppId: 'together', txnVersion: batch.id }
      await batch.commitTogether([
        { append: 'together', rows: batch.columns, ...pair },
        { append: 'together_audit', rows: batch.columns, ...pair },
      ])
    }),
    { alsoWrites: ['together_audit'], idempotent: true },
  ),
]
