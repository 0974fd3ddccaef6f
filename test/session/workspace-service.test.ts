/** The service alone: what is read and changed of a workspace while no query is in the way. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { acquireLock } from '../../src/engine/lock.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { openWorkspaceService } from '../../src/session/open-workspace-service.js'
import type { WorkspaceService } from '../../src/session/workspace-service.js'
import { newStory, type Story } from '../stories/workspace.js'

async function open(): Promise<{ story: Story; service: WorkspaceService }> {
  const story = newStory()
  const service = openWorkspaceService(fx)
  onTestFinished(async () => {
    await service.close()
    story.remove()
  })
  await service.open({ workspace: story.folder, configFile: null, adopt: false, isReadOnly: false })
  return { story, service }
}

test('what is sent next is told from the topic: four parts, then six generated orders', async () => {
  const { story, service } = await open()
  for (const [part, records] of [3, 2, 2, 2].entries()) expect(await service.send(null)).toEqual({ part: part + 1, records })
  expect(await service.send(null)).toEqual({ part: null, records: 6 })
  expect(await service.send(2)).toEqual({ part: 2, records: 2 })
  expect(await service.generate(2_000)).toEqual({ part: null, records: 2_000 })
  await expect(service.send(5)).rejects.toMatchObject({ code: 'usage', message: 'there is no part 5' })
  const { status } = await service.look(null, 0)
  expect(status.topics).toEqual([expect.objectContaining({ name: 'orders', endOffsets: { 0: '2017' } })])
  expect(story.list()).toContain('topics.db')
})

test('what is sent goes to the topic that is there, and nowhere when the workspace was removed', async () => {
  const { story, service } = await open()
  await service.send(1)
  for (const name of ['topics.db', 'topics.db-wal', 'topics.db-shm']) fx.files.remove(join(story.folder, name))
  expect(await service.send(null)).toEqual({ part: 1, records: 3 })
  expect((await service.look(null, 0)).status.topics).toEqual([expect.objectContaining({ endOffsets: { 0: '3' } })])

  fx.files.removeFolder(story.folder)
  for (const time of [1, 2]) await expect(service.send(null), `${time}`).rejects.toThrow(/^the workspace .* was removed while it was open: nothing is sent$/)
  expect(fx.files.exists(story.folder)).toBe(false)
})

test('a workspace that is a file, or below one, is refused in a sentence', async () => {
  const { story } = await open()
  const file = join(story.folder, 'a-file')
  fx.files.create(file, 'text')
  const request = { configFile: null, adopt: false, isReadOnly: false }
  await expect(openWorkspaceService(fx).open({ workspace: file, ...request })).rejects.toMatchObject({
    code: 'usage',
    message: `${file} is a file, and a workspace is a folder`,
  })
  await expect(openWorkspaceService(fx).open({ workspace: join(file, 'below'), ...request })).rejects.toMatchObject({
    code: 'usage',
    message: `${join(file, 'below')} cannot be a folder: ${file} is a file`,
  })
})

test('rows: the newest first, as show prints them, and no more than asked', async () => {
  const { story, service } = await open()
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.produce(2)
  await story.run(bronzeOrders)
  const { columns, rows, rowCount, version } = await service.rows('bronze_orders', 3)
  expect(columns.slice(0, 5)).toEqual(['order_id', 'customer_id', 'status', 'amount', 'event_time'])
  expect(rows.map((row) => row.slice(0, 5).join(' '))).toEqual([
    '1004 C01 placed 40.00 2026-10-01 10:20:00',
    '1001 C01 paid 25.50 2026-10-01 10:05:00',
    '1003 C03 placed 31.00 2026-10-01 09:55:00',
  ])
  expect({ rowCount, version }).toEqual({ rowCount: 5, version: 1 })
  await expect(service.rows('orders', 3)).rejects.toMatchObject({ code: 'unknown-table' })
})

test('a look sees what others did since, also a moment after the one before, and keeps the rest', async () => {
  const { story, service } = await open()
  expect((await service.look('events_copy', 5)).status.tables).toEqual([])
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.run(eventsCopy)
  const seen = await service.look('events_copy', 5)
  expect(seen.status.queries.find(({ name }) => name === 'events_copy')).toMatchObject({ rows: 3, verdict: 'exactly-once', state: 'idle' })
  expect(seen.detail).toMatchObject({ query: 'events_copy', table: 'events_copy', versions: [{ version: 0, operation: 'WRITE', rowsAdded: 3 }] })

  const lock = await acquireLock(story.folder, 'orders', fx)
  expect((await service.look('events_copy', 5)).status.queries.find(({ name }) => name === 'orders')?.pid).toBe(process.pid)
  lock.release()
  const after = await service.look('orders', 5)
  expect(after.status.queries.find(({ name }) => name === 'orders')?.pid).toBeNull()
  expect(after.detail).toMatchObject({ query: 'orders', table: 'orders', versions: [] })
})

test('drop takes tables and checkpoint; while somebody writes the table, neither', async () => {
  const { story, service } = await open()
  await story.produce(1)
  await story.run(bronzeOrders)
  const lock = await acquireLock(story.folder, 'bronze_orders', fx)
  await expect(service.drop('bronze_orders')).rejects.toMatchObject({ code: 'concurrent-query' })
  expect(story.list('checkpoints')).toEqual(['bronze_orders'])
  lock.release()
  expect(await service.drop('bronze_orders')).toEqual(['bronze_orders'])
  expect(story.list('checkpoints')).toEqual([])
  expect(story.list('tables').filter((name) => !/^[._]/.test(name))).toEqual([])
  expect(await service.drop('bronze_orders')).toEqual([])
})

test('requests are answered in their order, also when they are not waited for', async () => {
  const { service } = await open()
  const answered: string[] = []
  const note = (what: string) => () => void answered.push(what)
  await Promise.all([
    service.send(1).then(note('send')),
    service.rows('nothing', 1).catch(note('refused')),
    service.look(null, 0).then(note('look')),
    service.generate(10).then(note('generate')),
    service.close().then(note('close')),
  ])
  expect(answered).toEqual(['send', 'refused', 'look', 'generate', 'close'])
  await expect(service.look(null, 0)).rejects.toThrow('the workspace is not open')
})
