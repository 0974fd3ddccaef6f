/** Rows drawn as Spark draws them, against the exact text. */
import { expect, test } from 'vitest'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { showRows } from '../../src/store/show.js'
import { ORDERS_SHOWN } from '../orders-shown.js'

const ordersSchema = defineSchema({ order_id: 'int', customer_id: 'string', status: 'string', amount: 'decimal(10,2)', event_time: 'timestamp' })
const ordersRows = [
  [1001, 'C01', 'paid', '25.50', '2026-10-01T10:05:00Z'],
  [1002, 'C02', 'placed', '12.00', '2026-10-01T09:40:00Z'],
  [1003, 'C03', 'placed', '31.00', '2026-10-01T09:55:00Z'],
  [1004, 'C01', 'placed', '40.00', '2026-10-01T10:20:00Z'],
  [1005, 'C02', 'placed', '18.25', '2026-10-01T11:30:00Z'],
  [1006, 'C03', 'placed', '22.00', '2026-10-01T09:50:00Z'],
  [1007, 'C02', 'placed', '15.00', '2026-10-01T10:45:00Z'],
  [1008, 'C01', 'placed', '12.00', '2026-10-01T12:40:00Z'],
].map(([order_id, customer_id, status, amount, event_time]) => ({ order_id, customer_id, status, amount, event_time }))

test('the orders table', () => {
  expect(showRows(columnsFromRows(ordersSchema, ordersRows))).toBe(ORDERS_SHOWN)
})

test('more rows than are shown', () => {
  const columns = columnsFromRows(
    defineSchema({ n: 'int' }),
    Array.from({ length: 21 }, (_, n) => ({ n })),
  )
  expect(showRows(columns).split('\n').slice(-4)).toEqual(['+---+', 'only showing top 20 rows', '', ''])
  expect(showRows(columns, { limit: 21 }).split('\n').slice(-3)).toEqual(['+---+', '', ''])
  expect(showRows(columns, { limit: 1 })).toBe('+---+\n|  n|\n+---+\n|  0|\n+---+\nonly showing top 1 row\n\n')
})

test('no rows', () => {
  expect(showRows(columnsFromRows(defineSchema({ n: 'int' }), []))).toBe('+---+\n|  n|\n+---+\n+---+\n\n')
})

test('nulls, bytes, doubles, wide characters and long texts', () => {
  const schema = defineSchema({ n: 'double', raw: 'binary', text: 'string' })
  const rows = [
    { n: 1e10, raw: Uint8Array.of(1, 2, 255), text: '你好' },
    { raw: Uint8Array.of(), text: 'exactly twenty chars' },
    { n: -0, text: 'one more than twenty!' },
    { text: `${'a'.repeat(16)}😀bcde` },
  ]
  expect(showRows(columnsFromRows(schema, rows))).toBe(`\
+------+----------+--------------------+
|     n|       raw|                text|
+------+----------+--------------------+
|1.0E10|[01 02 FF]|                你好|
|  NULL|        []|exactly twenty chars|
|  -0.0|      NULL|one more than twe...|
|  NULL|      NULL| aaaaaaaaaaaaaaaa...|
+------+----------+--------------------+

`)
})

test('nothing in a cell or a name reaches the terminal as a command', () => {
  const schema = defineSchema({ 'a\nb': 'string' })
  const rows = ['1\n2\t3', '\u001b[2J', '\u202Eabc', '\u0007\b\f\v\r', '\u009b\u007f'].map((text) => ({ 'a\nb': text }))
  expect(showRows(columnsFromRows(schema, rows))).toBe(
    `\
+------------+
|        a\\nb|
+------------+
|     1\\n2\\t3|
|   \\u{1b}[2J|
| \\u{202e}abc|
|\\a\\b\\f\\v\\r|
|\\u{9b}\\u{7f}|
+------------+

`.replace('|\\a\\b\\f\\v\\r|', '|  \\a\\b\\f\\v\\r|'),
  )
})
