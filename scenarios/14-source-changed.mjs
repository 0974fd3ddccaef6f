/** A stream that reads the table orders, which a MERGE changes. */
import { append, query, table } from 'streamtop'

export default [query('order_feed', table('orders'), append('order_feed'))]
