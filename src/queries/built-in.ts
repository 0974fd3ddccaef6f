/** The three queries that come with streamtop, in the order in which data flows. */
import type { QueryDefinition } from '../engine/definition.js'
import { bronzeOrders } from './bronze-orders.js'
import { eventsCopy } from './events-copy.js'
import { orders } from './orders.js'

export const BUILT_IN_QUERIES: readonly QueryDefinition[] = [bronzeOrders, eventsCopy, orders]
