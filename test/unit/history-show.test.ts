import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type HistoryOptions, history } from '../../src/commands/history.js'
import { type ShowOptions, show } from '../../src/commands/show.js'
import type { Context, Verb } from '../../src/commands/verb.js'
import { realEffects as fx } from '../../src/effects.js'
import { jsonRows } from '../../src/observe/json-rows.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { Decimal } from '../../src/store/decimal.js'
import { defineSchema } from '../../src/store/schema.js'
import { KeptOutput } from '../command-here.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()

async function runVerb<Options extends object>(verb: Verb<Options>, story: Story, table: string, options: Options, json = false): Promise<string> {
  const output = new KeptOutput()
  const signal = new AbortController().signal
  const context: Context<Options> = {
    workspace: story.folder,
    isWorkspaceGiven: true,
    adopt: false,
    configFile: null,
    kafka: null,
    json,
    options,
    arguments: [table],
    output,
    signal,
    fx,
  }
  expect(await verb.run(context)).toBe(0)
  return output.said.stdout
}

const historyOf = (story: Story, table: string, options: HistoryOptions = {}, json = false) => runVerb(history, story, table, options, json)
const showOf = (story: Story, table: string, options: ShowOptions = {}, json = false) => runVerb(show, story, table, options, json)

async function copied(): Promise<Story> {
  const story = newStory()
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.run(eventsCopy, { killAt: 'table-committed' })
  await story.run(eventsCopy, { idempotent: true })
  await story.run(orders)
  await story.produce(2)
  await story.run(bronzeOrders)
  await story.run(orders)
  await story.expectSound()
  return story
}

describe('streamtop history', () => {
  it('names what wrote each version, newest first', async () => {
    const story = await copied()
    const withoutTime = (text: string) => text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME               ').replace(/[0-9a-f-]{36}/g, 'ID')
    expect(withoutTime(await historyOf(story, 'events_copy'))).toBe(
      [
        'version  time (UTC)           operation  query        batch  rows  files  txn',
        '      1  TIME                 WRITE      events_copy   0 #2    +3     +1  events_copy 0',
        '      0  TIME                 WRITE      events_copy      0    +3     +1  none',
        '',
      ].join('\n'),
    )
    expect(withoutTime(await historyOf(story, 'orders'))).toBe(
      [
        'version  time (UTC)           operation     query   batch   rows  files  txn',
        '      2  TIME                 MERGE         orders      1  +4 -3  +1 -1  none',
        '      1  TIME                 MERGE         orders      0     +3     +1  none',
        '      0  TIME                 CREATE TABLE  -           -     +0     +0  none',
        '',
      ].join('\n'),
    )
    expect(withoutTime(await historyOf(story, 'bronze_orders', { limit: 1 }))).toContain('STREAMING UPDATE  bronze_orders      1    +2     +1  ID 1')
  })

  it('names the tables that a version was committed together with', async () => {
    const story = newStory()
    const rows = columnsFromRows(defineSchema({ id: 'int' }), [{ id: 1 }])
    const write = (table: string) => ({ kind: 'append', table, columns: rows, operation: { kind: 'write' } }) as const
    await story.store(async (store) => {
      await store.append('left', rows, { kind: 'write' })
      await store.commitTogether(['left', 'right', 'third'].map(write))
    })
    const lines = (await historyOf(story, 'left')).trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ {2,}/).at(-1)?.trim())).toEqual(['together with', 'right, third', '-'])
    const { versions } = JSON.parse(await historyOf(story, 'right', {}, true)) as { readonly versions: readonly { readonly togetherWith: string[] }[] }
    expect(versions.map(({ togetherWith }) => togetherWith)).toEqual([['left', 'third']])
  })

  it('is the same for a program, and for a version that is linked and not in the log', async () => {
    const story = newStory()
    await story.produce(1)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { idempotent: true, killAt: 'version-linked' })
    const { table, versions } = JSON.parse(await historyOf(story, 'events_copy', {}, true)) as { table: string; versions: unknown[] }
    expect(table).toBe('events_copy')
    expect(versions).toMatchObject([
      {
        version: 0,
        operation: 'WRITE',
        query: 'events_copy',
        batchId: 0,
        attempt: 1,
        idempotent: true,
        txns: [{ appId: 'events_copy', version: 0 }],
        rowsAdded: 3,
        rowsRemoved: 0,
        filesAdded: 1,
        filesRemoved: 0,
      },
    ])
    await story.expectSound()
  })

  it('of a table that is not there is an error', async () => {
    await expect(historyOf(newStory(), 'none')).rejects.toMatchObject({ code: 'unknown-table' })
    await expect(historyOf(newStory(), '../other')).rejects.toMatchObject({ code: 'bad-name' })
  })
})

describe('streamtop show', () => {
  it("draws rows in the table's order, at any version", async () => {
    const story = await copied()
    expect(await showOf(story, 'orders', { version: 1 })).toBe(
      [
        '+--------+-----------+------+------+-------------------+',
        '|order_id|customer_id|status|amount|         event_time|',
        '+--------+-----------+------+------+-------------------+',
        '|    1001|        C01|placed| 25.50|2026-10-01 09:15:00|',
        '|    1002|        C02|placed| 12.00|2026-10-01 09:40:00|',
        '|    1003|        C03|placed| 31.00|2026-10-01 09:55:00|',
        '+--------+-----------+------+------+-------------------+',
        '',
        '',
      ].join('\n'),
    )
    expect(await showOf(story, 'orders', { version: 0 })).toContain('|order_id|customer_id|status|amount|event_time|')
    expect(await showOf(story, 'orders', { limit: 2 })).toMatch(/only showing top 2 rows\n\n$/)
    expect(await showOf(story, 'orders', { limit: 4 })).not.toContain('only showing')
  })

  it('gives a program the exact values', async () => {
    const story = await copied()
    const shown = JSON.parse(await showOf(story, 'events_copy', { limit: 1 }, true)) as { rows: Record<string, unknown>[] }
    expect(shown).toMatchObject({ table: 'events_copy', version: 1, more: true })
    expect(shown.rows).toHaveLength(1)
    expect(shown.rows[0]).toMatchObject({ order_id: 1001, amount: '25.50', event_time: '2026-10-01 09:15:00', partition: 0, offset: '0' })
  })

  it('has a text for what a double cannot hold', () => {
    const schema = defineSchema({ l: 'long', d: 'double', m: 'decimal(38,2)', b: 'binary', f: 'boolean', t: 'timestamp', day: 'date', n: 'string' })
    const row = {
      l: 2n ** 63n - 1n,
      d: Number.NaN,
      m: new Decimal(-12345678901234567890n, 2),
      b: new Uint8Array([0, 255]),
      f: false,
      t: '2026-10-01T09:15:00.000001Z',
      day: '1969-12-31',
      n: null,
    }
    expect(jsonRows(columnsFromRows(defineSchema({ z: 'double' }), [{ z: -0 }, { z: 0 }]), 5)).toEqual([{ z: '-0.0' }, { z: 0 }])
    expect(jsonRows(columnsFromRows(schema, [row]), 5)).toEqual([
      { l: '9223372036854775807', d: 'NaN', m: '-123456789012345678.90', b: '00FF', f: false, t: '2026-10-01 09:15:00.000001', day: '1969-12-31', n: null },
    ])
  })

  it('has a float with the digits that Spark gives it, and none that a double would add', () => {
    const texts = ['1.1', '-0.1', '16777216', '3.4028235E38', '1.17549435E-38', '1.0E10', 'NaN', '-Infinity', '-0.0', '0']
    const rows = texts.map((text) => ({ f: Math.fround(Number(text)) }))
    const shown = jsonRows(columnsFromRows(defineSchema({ f: 'float' }), rows), rows.length).map(({ f }) => f)
    expect(shown).toEqual([1.1, -0.1, 16777216, 3.4028235e38, 1.1754944e-38, 1e10, 'NaN', '-Infinity', '-0.0', 0])
  })

  it('has the tables of others too, whatever they are called', async () => {
    const story = newStory()
    for (const name of ['Bestellungen für Mai', 'orders=new', '-x']) {
      cpSync(join(sparkWorkspace('plain-append-crashed'), 'tables', 'bronze_orders'), join(story.folder, 'tables', name), { recursive: true })
      expect(JSON.parse(await showOf(story, name, {}, true))).toMatchObject({ table: name, rows: expect.arrayContaining([expect.anything()]) })
      expect(await historyOf(story, name)).toMatch(/ WRITE +- +- +\+9 /)
    }
    await expect(showOf(story, 'für Mai')).rejects.toMatchObject({ code: 'bad-name' })
  })

  it('of a table or version that is not there is an error that says what is', async () => {
    const story = await copied()
    await expect(showOf(story, 'none')).rejects.toMatchObject({ code: 'unknown-table', message: 'there is no table none in this workspace' })
    await expect(showOf(story, 'orders', { version: 3 })).rejects.toMatchObject({ message: 'table orders has no version 3; it has 0 to 2' })
  })
})
