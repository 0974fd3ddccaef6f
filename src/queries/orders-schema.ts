/** The columns of the order tables. All of them may be null, as Spark has it for a table made from a stream. */
import type { Column, ColumnType, Schema } from '../store/schema.js'

/** An order as the table `orders` has it. */
export const ordersSchema: Schema = {
  columns: [
    column('order_id', { kind: 'integer' }),
    column('customer_id', { kind: 'string' }),
    column('status', { kind: 'string' }),
    column('amount', { kind: 'decimal', precision: 10, scale: 2 }),
    column('event_time', { kind: 'timestamp' }),
  ],
}

/** An event of an order as `bronze_orders` and `events_copy` have it: the order, and where in which topic it came from. */
export const orderEventsSchema: Schema = {
  columns: [
    ...ordersSchema.columns,
    column('topic', { kind: 'string' }),
    column('partition', { kind: 'integer' }),
    column('offset', { kind: 'long' }),
    column('timestamp', { kind: 'timestamp' }),
  ],
}

function column(name: string, type: ColumnType): Column {
  return { name, type, nullable: true }
}
