/** A table read as a stream, from the first snapshot to the day it is changed, dropped or lied about. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { append, query, table } from '../../src/engine/definition.js'
import { resetQuery } from '../../src/engine/reset.js'
import { tableSourceOptions } from '../../src/engine/source-options.js'
import { tableSource } from '../../src/engine/table-source.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { ordersSchema } from '../../src/queries/orders-schema.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { temporaryStories, type RunChoices, type Story } from './workspace.js'

const begin = temporaryStories()
let story: Story
beforeEach(() => {
  story = begin()
})

/** Sends a part and takes it into bronze: one version. */
async function addPart(part: number): Promise<void> {
  await story.produce(part)
  await story.run(bronzeOrders)
}

async function reset(name: string): Promise<void> {
  expect(await resetQuery(story.folder, name, realEffects)).toBe(true)
}

/** The table offset that a batch ended at. */
function offset(name: string, batchId: number): Record<string, unknown> {
  const text = readFileSync(story.path('checkpoints', name, 'offsets', String(batchId)), 'utf8')
  return JSON.parse(text.split('\n')[2] ?? '') as Record<string, unknown>
}

/** How many rows each batch of a run read. */
async function batchRows(definition: Parameters<Story['run']>[0], choices: RunChoices = {}): Promise<number[]> {
  const { events } = await story.run(definition, choices)
  return events.flatMap((event) => (event.kind === 'batch' ? [event.progress.numInputRows] : []))
}

describe('batches', () => {
  test('what is there is one batch, and so are the versions that came since', async () => {
    for (const part of [1, 2]) await addPart(part)
    expect(await batchRows(eventsCopy)).toEqual([5])
    expect(offset('events_copy', 0)).toMatchObject({ sourceVersion: 1, reservoirVersion: 2, index: -1, isStartingVersion: false })

    for (const part of [3, 4]) await addPart(part)
    expect(await batchRows(eventsCopy)).toEqual([4])
    expect(offset('events_copy', 1)).toMatchObject({ reservoirVersion: 4, index: -1, isStartingVersion: false })
    expect(await batchRows(eventsCopy)).toEqual([])
  })

  test('maxFilesPerTrigger=1 takes the first snapshot file by file, then version by version, also after a kill', async () => {
    for (const part of [1, 2]) await addPart(part)
    const slowly = { sourceOptions: ['maxFilesPerTrigger=1'] }
    const { ending } = await story.run(eventsCopy, { ...slowly, killAt: 'rows-read' })
    expect(ending.kind).toBe('killed')
    expect(offset('events_copy', 0)).toMatchObject({ reservoirVersion: 1, index: 0, isStartingVersion: true })

    for (const part of [3, 4]) await addPart(part)
    expect(await batchRows(eventsCopy, slowly)).toEqual([3, 2, 2, 2])
    expect(await story.rows('events_copy')).toHaveLength(9)
    await story.expectSound()
  })
})

describe('a source that does not only grow', () => {
  const ordersCopy = query('orders_copy', table('orders'), append('orders_copy'))

  beforeEach(async () => {
    await addPart(1)
    await story.run(orders)
    await story.run(ordersCopy)
    await addPart(2)
    await story.run(orders)
  })

  test('a MERGE that changed rows stops the query before anything is logged', async () => {
    await expect(story.run(ordersCopy)).rejects.toMatchObject({ code: 'source-changed', message: expect.stringContaining('version 2 of table orders') })
    expect(story.list('checkpoints', 'orders_copy', 'offsets')).toEqual(['0'])
    expect(await story.rows('orders_copy')).toHaveLength(3)
  })

  test('skipChangeCommits leaves that version out, says so, and goes on', async () => {
    const { events } = await story.run(ordersCopy, { sourceOptions: ['skipChangeCommits=true'] })
    expect(events).toContainEqual(expect.objectContaining({ kind: 'note', text: expect.stringContaining('version 2 of orders') }))
    expect(await story.rows('orders_copy')).toHaveLength(3)

    // A plain insert only adds.
    await addPart(3)
    await story.run(orders, { idempotent: false })
    expect(await batchRows(ordersCopy)).toEqual([2])
  })

  test('dropped and made again is another table', async () => {
    await story.run(eventsCopy)
    await story.store((store) => store.drop('bronze_orders'))
    await reset('bronze_orders')
    await story.run(bronzeOrders)

    await expect(story.run(eventsCopy)).rejects.toMatchObject({ code: 'table-recreated' })
    expect(await story.rows('events_copy')).toHaveLength(5)
  })

  test('dropped and made again with fewer versions is not waited for: the next plan says what it is', async () => {
    await story.store(async (store) => {
      const source = tableSource(story.folder, 'events_copy', table('bronze_orders'), tableSourceOptions([]), store, realEffects)
      const end = await source.plan(null)
      expect(end).toContain('"reservoirVersion":2')
      const waiting = source.waitForMore(end, new AbortController().signal)
      store.drop('bronze_orders')
      await store.createTable('bronze_orders', ordersSchema)
      await waiting
      await expect(source.plan(end)).rejects.toMatchObject({ code: 'table-recreated' })
    })
  })

  test('dropped and not made again is missing', async () => {
    await story.store((store) => store.drop('bronze_orders'))
    await expect(story.run(eventsCopy)).rejects.toMatchObject({ code: 'source-missing' })
    expect(story.list('checkpoints', 'events_copy')).toEqual([])
  })
})

/** The checker does not judge tables of other columns. */
describe('columns that another writer changes behind what is still to be read', () => {
  const copy = query('copy', table('t'), append('t_copy'))
  const schema = defineSchema({ a: 'int', b: 'string' })
  const field = (name: string, type: string, physicalName?: string) => ({
    ...{ name, type, nullable: true },
    metadata: physicalName === undefined ? {} : { 'delta.columnMapping.id': 1, 'delta.columnMapping.physicalName': physicalName },
  })
  const mapped = { configuration: { 'delta.columnMapping.mode': 'name' } }
  const a = field('a', 'integer')

  test.each([
    { what: 'dropped', changes: [{ fields: [a] }], version: 3, words: 'b is gone' },
    { what: 'of another type', changes: [{ fields: [field('a', 'string'), field('b', 'string')] }], version: 3, words: 'a has another type' },
    { what: 'a partition column', changes: [{ fields: [a, field('b', 'string')], partitionColumns: ['b'] }], version: 3, words: 'b is a partition column' },
    {
      what: 'dropped and another of that name made',
      changes: ['b', null, 'col-1'].map((b) => ({ fields: [field('a', 'integer', 'a'), ...(b === null ? [] : [field('b', 'string', b)])], ...mapped })),
      version: 4,
      words: 'b is gone',
    },
  ])('$what: the rows of before come with their values, and the change stops the query', async ({ changes, version, words }) => {
    const add = (n: number) => story.store((store) => store.append('t', columnsFromRows(schema, [{ a: n, b: `b${n}` }]), { kind: 'write' }))
    await add(0)
    await story.run(copy)
    await add(1)
    await add(2)
    const slowly = { sourceOptions: ['maxFilesPerTrigger=1'] }
    await story.run(copy, { ...slowly, killAt: 'offsets-logged' })
    const { metadata } = (await story.store((store) => store.snapshot('t'))) ?? expect.fail('no table')
    for (const [index, { fields, ...changed }] of changes.entries()) {
      const metaData = { id: metadata.id, format: { provider: 'parquet' }, schemaString: JSON.stringify({ type: 'struct', fields }), partitionColumns: [] }
      const lines = [{ metaData: { ...metaData, configuration: {}, ...changed } }, { protocol: { minReaderVersion: 2, minWriterVersion: 5 } }]
      const name = `${String(3 + index).padStart(20, '0')}.json`
      writeFileSync(story.path('tables', 't', '_delta_log', name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    }

    const message = expect.stringMatching(new RegExp(`version ${version} of table t changed its columns: ${words}`))
    await expect(story.run(copy, slowly)).rejects.toMatchObject({ code: 'source-changed', message })
    expect(await story.rows('t_copy')).toEqual([0, 1, 2].map((n) => ({ a: n, b: `b${n}` })))
  })
})

describe('idempotence, toggled between attempts', () => {
  test.each([
    [false, false, 18],
    [false, true, 18],
    [true, false, 18],
    [true, true, 9],
  ])('first attempt %s, second %s: %i rows', async (first, second, rows) => {
    for (const part of [1, 2, 3, 4]) await addPart(part)
    await story.run(eventsCopy, { idempotent: first, killAt: 'table-committed' })
    await story.run(eventsCopy, { idempotent: second })

    expect(await story.rows('events_copy')).toHaveLength(rows)
    const ledger = await story.store((store) => store.ledger.rowsOfQuery('events_copy'))
    expect(ledger.map((row) => row.idempotent === 1)).toEqual([first, second])
    await story.expectSound()
  })
})

test('the trap: a new checkpoint with the old app id skips what the table never had; a new app id writes it', async () => {
  await addPart(1)
  await story.run(eventsCopy, { idempotent: true })
  await addPart(2)
  await reset('events_copy')

  const skipped = await story.run(eventsCopy, { idempotent: true })
  expect(await story.rows('events_copy')).toHaveLength(3)
  const write = { outcome: 'already-committed', leftOutRows: 5, reason: expect.stringContaining('with another checkpoint') }
  expect(skipped.events).toContainEqual(expect.objectContaining({ kind: 'batch', writes: [expect.objectContaining(write)] }))

  await reset('events_copy')
  await story.run(eventsCopy, { idempotent: true, appId: 'copy2' })
  expect(await story.rows('events_copy')).toHaveLength(8)
})

describe('the range fence', () => {
  test.each([false, true])('a batch that was written and now has another range is refused (idempotent %s)', async (idempotent) => {
    await addPart(1)
    await story.run(eventsCopy, { idempotent })
    await addPart(2)
    await story.run(eventsCopy, { idempotent })
    await addPart(3)
    const path = story.path('checkpoints', 'events_copy', 'offsets', '1')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"reservoirVersion":2', '"reservoirVersion":3'))
    rmSync(story.path('checkpoints', 'events_copy', 'commits', '1'))
    const before = story.files('tables', 'events_copy')

    await expect(story.run(eventsCopy, { idempotent })).rejects.toMatchObject({
      code: 'range-changed',
      message: expect.stringContaining('batch 1 of events_copy'),
    })
    expect(story.files('tables', 'events_copy')).toEqual(before)
    expect(story.list('checkpoints', 'events_copy', 'commits')).toEqual(['0'])
  })

  test('without the ledger the versions themselves say what was written', async () => {
    await addPart(1)
    await story.run(eventsCopy, { idempotent: true })
    await addPart(2)
    for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
    const path = story.path('checkpoints', 'events_copy', 'offsets', '0')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"reservoirVersion":1', '"reservoirVersion":2'))
    rmSync(story.path('checkpoints', 'events_copy', 'commits', '0'))

    await expect(story.run(eventsCopy, { idempotent: true })).rejects.toMatchObject({ code: 'range-changed' })
    expect(await story.rows('events_copy')).toHaveLength(3)
  })
})

describe('where a stream begins is settled with its first batch', () => {
  const FIRST = { killAt: 'offsets-logged' } as const

  test.each([
    { begun: [], again: ['startingVersion=latest'], rows: 5 },
    { begun: [], again: ['startingVersion=1'], rows: 5 },
    { begun: ['startingVersion=1'], again: [], rows: 2 },
    { begun: ['startingVersion=1'], again: ['startingVersion=0'], rows: 2 },
  ])('begun with "$begun", run again with "$again": $rows rows', async ({ begun, again, rows }) => {
    for (const part of [1, 2]) await addPart(part)
    await story.run(eventsCopy, { ...FIRST, sourceOptions: begun })

    await story.run(eventsCopy, { sourceOptions: again })

    expect(await story.rows('events_copy')).toHaveLength(rows)
    await story.expectSound({ events_copy: begun.length > 0 ? { startingVersion: 1 } : {} })
  })

  test('a start that died before a batch was logged has settled nothing', async () => {
    for (const part of [1, 2]) await addPart(part)
    await story.run(eventsCopy, { killAt: 'planned', sourceOptions: ['startingVersion=1'] })

    await story.run(eventsCopy)

    expect(await story.rows('events_copy')).toHaveLength(5)
    await story.expectSound()
  })
})
