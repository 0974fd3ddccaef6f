/** Records that are no orders: in the same commit into a table of their own, whatever is killed, and never in the way of good ones. */
import { describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { append, foreachBatch, query, topic } from '../../src/engine/definition.js'
import { STEPS } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { orderParser } from '../../src/queries/order-record.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { checkWorkspace } from '../checker.mjs'
import { BAD_ORDERS, orderText } from '../fixtures/bad-orders.js'
import { BRONZE, SENT_BY_PART } from '../nine-events.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()

const BAD = [
  { key: Buffer.from('k'), value: Buffer.from('no order') },
  { key: null, value: null },
  { key: Buffer.from([0xff, 0x00]), value: Buffer.from('{"order_id":1e99,"event_time":"2026-10-01T09:15:00Z"}') },
]
const REASONS = ['the value is not a JSON object', 'the value is null', 'order_id is out of range']

async function send(story: Story, ...records: Parameters<ReturnType<typeof openEmbeddedProducer>['send']>[0]): Promise<void> {
  const producer = openEmbeddedProducer(story.folder, 'orders', {}, realEffects)
  await producer.send(records)
  await producer.close()
}

async function mixed(): Promise<Story> {
  const story = begin()
  const [first, ...others] = partRecords(1)
  if (first) await send(story, first, ...BAD.slice(0, 2), ...others, ...BAD.slice(2))
  return story
}

const offsets = async (story: Story, table: string) => (await story.rows(table)).map((row) => row['offset'])

test('they are in the table with where they lie, their bytes and the reason, and the run says so', async () => {
  const story = await mixed()

  const { events } = await story.run(bronzeOrders)

  expect(await offsets(story, 'bronze_orders')).toEqual([0n, 3n, 4n])
  const rejected = await story.rows('bronze_orders_rejected')
  expect(rejected.map((row) => [row['topic'], row['partition'], row['offset'], row['key'], row['value'], row['reason']])).toEqual(
    [1n, 2n, 5n].map((offset, at) => ['orders', 0, offset, bytes(BAD[at]?.key), bytes(BAD[at]?.value), REASONS[at]]),
  )
  expect(events.flatMap((event) => (event.kind === 'note' ? [event.text] : []))).toEqual([
    '3 records were rejected: the value is not a JSON object (1); the value is null (1); order_id is out of range (1). They are in bronze_orders_rejected',
  ])
  const ledger = await story.store((store) => store.ledger.rowsOfQuery('bronze_orders'))
  expect(ledger.map(({ tableName, rows, outcome }) => [tableName, rows, outcome])).toEqual([
    ['bronze_orders', 3, 'committed'],
    ['bronze_orders_rejected', 3, 'committed'],
  ])
})

test('without one there is no table of them, and the query names it all the same', async () => {
  const story = begin()
  await story.produce(1)
  await story.run(bronzeOrders)
  expect(story.list('tables').filter((name) => !name.startsWith('_') && !name.startsWith('.'))).toEqual(['bronze_orders'])
  expect(bronzeOrders.writes).toEqual(['bronze_orders', 'bronze_orders_rejected'])
})

test.each([true, false])('a batch of them alone is done with, and the next one goes on (idempotent: %s)', async (idempotent) => {
  const story = begin()
  await send(story, ...BAD)
  const { ending } = await story.run(bronzeOrders, { idempotent, killAt: 'table-committed' })
  expect(ending).toMatchObject({ kind: 'killed' })
  await story.run(bronzeOrders, { idempotent })
  await story.produce(1)
  await story.run(bronzeOrders, { idempotent })

  const told = { topic: 'orders', sent: SENT_BY_PART[0] ?? [], bad: BAD, queries: [{ ...BRONZE, exactlyOnce: idempotent }] }
  expect(await checkWorkspace(story.folder, told)).toEqual([])
  expect(await offsets(story, 'bronze_orders')).toEqual([3n, 4n, 5n])
  expect(await offsets(story, 'bronze_orders_rejected')).toEqual(idempotent ? [0n, 1n, 2n] : [0n, 1n, 2n, 0n, 1n, 2n])
})

describe.each([true, false])('idempotent: %s', (idempotent) => {
  test.each(STEPS)('killed at %s: each record is there as often as its batch was written, good or bad', async (step) => {
    const story = await mixed()
    const { ending } = await story.run(bronzeOrders, { idempotent, killAt: step })
    expect(ending).toMatchObject({ kind: 'killed', at: { step } })
    const { ending: ended } = await story.run(bronzeOrders, { idempotent })
    expect(ended).toEqual({ kind: 'ended' })

    const told = { topic: 'orders', sent: SENT_BY_PART[0] ?? [], bad: BAD, queries: [{ ...BRONZE, exactlyOnce: idempotent }] }
    expect(await checkWorkspace(story.folder, told)).toEqual([])
    const times = !idempotent && (step === 'version-linked' || step === 'table-committed') ? 2 : 1
    expect(await offsets(story, 'bronze_orders')).toEqual(Array(times).fill([0n, 3n, 4n]).flat())
    expect(await offsets(story, 'bronze_orders_rejected')).toEqual(Array(times).fill([1n, 2n, 5n]).flat())
  })
})

test('the whole list of bad orders, between good ones, killed once: every one is kept to the byte, and no good one is lost', async () => {
  const story = begin()
  const records = BAD_ORDERS.flatMap(({ value }, index) => [
    { key: null, value: Buffer.from(orderText({ order_id: String(index) })) },
    { key: null, value },
  ])
  await send(story, ...records)
  await story.run(bronzeOrders, { killAt: 'version-linked' })
  await story.run(bronzeOrders)

  expect((await story.rows('bronze_orders')).map((row) => row['order_id'])).toEqual(BAD_ORDERS.map((_, index) => index))
  const rejected = await story.rows('bronze_orders_rejected')
  expect(rejected.map((row) => row['reason'])).toEqual(BAD_ORDERS.map(({ reason }) => reason))
  const differing = rejected.filter((row, index) => !isSame(row['value'] as Uint8Array | null, BAD_ORDERS[index]?.value ?? null))
  expect(differing.map((row) => row['offset'])).toEqual([])
})

test('the steps of a write come once for both tables', async () => {
  const story = await mixed()
  const { events } = await story.run(bronzeOrders)
  const steps = events.flatMap((event) => (event.kind === 'step' ? [`${event.event.step} ${event.event.occurrence}`] : []))
  expect(steps).toEqual(STEPS.map((step) => `${step} 1`))
})

test('any native sink over a parsed topic has such a table; a foreachBatch has none, and stops before it writes', async () => {
  const story = await mixed()
  await story.run(query('own', topic('orders').parse(orderParser), append('own')))
  expect(await offsets(story, 'own_rejected')).toEqual([1n, 2n, 5n])

  const by = query(
    'by_function',
    topic('orders').parse(orderParser),
    foreachBatch(async (batch) => void (await batch.append('by_function', batch.columns))),
  )
  await expect(story.run(by)).rejects.toMatchObject({ code: 'bad-record', hint: expect.stringContaining('TABLE_rejected') })
  expect(await story.rows('by_function')).toEqual([])
})

test('a record with a time that no column holds is kept without it', async () => {
  const story = begin()
  const parser = {
    ...orderParser,
    parse: (...given: Parameters<typeof orderParser.parse>) => {
      const { columns, rejected } = orderParser.parse(...given)
      return { columns, rejected: rejected.map((record) => ({ ...record, timestampMs: 2 ** 62 })) }
    },
  }
  await send(story, ...BAD)
  await story.run(query('own', topic('orders').parse(parser), append('own')))
  expect((await story.rows('own_rejected')).map((row) => row['timestamp'])).toEqual([null, null, null])
})

function isSame(left: Uint8Array | null, right: Uint8Array | null): boolean {
  return left === null || right === null ? left === right : Buffer.from(left).equals(right)
}

function bytes(value: Uint8Array | null | undefined): Uint8Array | null {
  return value ? new Uint8Array(value) : null
}
