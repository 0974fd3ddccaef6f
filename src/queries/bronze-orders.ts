/** `bronze_orders`: every record of topic orders as a row, from the earliest offset, through the native sink. */
import { append, query, topic } from '../engine/definition.js'
import { orderParser } from './order-record.js'

export const bronzeOrders = query('bronze_orders', topic('orders').parse(orderParser), append('bronze_orders'), { holds: 'every-row' })
