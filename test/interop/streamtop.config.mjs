/** The queries of the fixtures that do not come with streamtop, as far as a query of streamtop can be one of them. */
import { append, query, table } from 'streamtop'

export default [
  query(
    'silver',
    table('bronze_orders').where((row) => row.status === 'placed'),
    append('silver'),
  ),
  query('replaced_copy', table('replaced'), append('replaced_copy')),
  // Of a windowed count and of a union of two tables only the name: their checkpoints are what is refused.
  query('by_hour', table('bronze_orders'), append('by_hour')),
  query('union', table('bronze_orders'), append('all_orders')),
]
