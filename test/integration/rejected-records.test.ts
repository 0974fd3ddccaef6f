/** Bad records among good ones, sent from a file and read by a real process that is killed. */
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { orderText } from '../fixtures/bad-orders.js'
import { commandFolder } from './command.js'

/** Eleven ways to be no order, each as the line number of a file makes it. */
const WAYS: readonly ((line: number) => string | Buffer)[] = [
  (line) => `no order ${line}`,
  (line) => orderText({ order_id: String(line) }).slice(0, -1),
  (line) => Buffer.from(orderText({ order_id: String(line), status: '"\xe9"' }), 'latin1'),
  (line) => orderText({ order_id: 'null', amount: `${line}` }),
  (line) => orderText({ order_id: `"number ${line}"` }),
  (line) => orderText({ order_id: `${line}000000000` }),
  (line) => orderText({ order_id: String(line), amount: '1.001' }),
  (line) => orderText({ order_id: String(line), amount: '1e9' }),
  (line) => orderText({ order_id: String(line), customer_id: '7' }),
  (line) => orderText({ order_id: String(line), event_time: 'null' }),
  (line) => orderText({ order_id: String(line), event_time: '"soon"' }),
]

/** 1,010 lines: 110 of them bad, ten in each way, spread over the file. */
function lines(): Buffer {
  const all = Array.from({ length: 1_010 }, (_, line) => {
    const bad = line % 9 === 4 && (line - 4) / 9 < 110 ? WAYS[((line - 4) / 9) % WAYS.length] : undefined
    return Buffer.concat([Buffer.from(`k${line}\t`), Buffer.from(bad ? bad(line + 10) : orderText({ order_id: String(line) })), Buffer.from('\n')])
  })
  return Buffer.concat(all)
}

test('1,010 records of which 110 are bad in eleven ways: 900 are in bronze once, 110 among the rejected once, and run says so', { timeout: 60_000 }, () => {
  const at = commandFolder()
  writeFileSync(at.path('lines.tsv'), lines())
  expect(at.streamtop('produce --from lines.tsv').exitCode).toBe(0)
  expect(at.streamtop('run bronze_orders --crash-at version-linked')).toMatchObject({ exitCode: 0, stderr: '' })

  const { exitCode, stdout, stderr } = at.streamtop('run bronze_orders')

  expect([exitCode, stdout]).toEqual([0, 'bronze_orders has 900 rows, 900 different\n'])
  // Three reasons and eight more are the eleven ways.
  expect(stderr).toMatch(/^bronze_orders: 110 records were rejected: .*; and 8 more reasons\. They are in bronze_orders_rejected\n$/)
  const { tables } = JSON.parse(at.streamtop('status --json').stdout) as {
    readonly tables: readonly { readonly name: string; readonly rows: number; readonly distinct: number }[]
  }
  expect(tables.map(({ name, rows, distinct }) => [name, rows, distinct])).toEqual([
    ['bronze_orders', 900, 900],
    ['bronze_orders_rejected', 110, 110],
  ])
})
