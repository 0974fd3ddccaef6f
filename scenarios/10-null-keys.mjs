/** The newest order of each customer, twice: with the key as it comes, and with a word in place of null. */
import { defineSchema, foreachBatch, query, table } from 'streamtop'

const schema = defineSchema({ customer_id: 'string', order_id: 'int', status: 'string' })

function newestOrders(name, keyOf) {
  return query(
    name,
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      await batch.createTable(name, schema)
      // A batch has its rows in the order of its files, so the offset says which order of a customer is the last.
      const rows = batch.rows.sort((left, right) => (left.offset < right.offset ? -1 : 1))
      const newest = new Map(rows.map((row) => [row.customer_id, { customer_id: keyOf(row), order_id: row.order_id, status: row.status }]))
      await batch.merge(name, [...newest.values()], { schema, on: 'customer_id', whenMatched: 'update', whenNotMatched: 'insert' })
    }),
    { idempotent: true },
  )
}

export default [newestOrders('by_customer', (row) => row.customer_id), newestOrders('by_customer_named', (row) => row.customer_id ?? 'nobody')]
