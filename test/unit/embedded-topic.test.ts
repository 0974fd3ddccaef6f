import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/database.js'
import { realEffects as fx } from '../../src/effects.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { partitionOfKey } from '../../src/topic/partitioner.js'
import type { OutgoingRecord, RecordBatch, Topic } from '../../src/topic/topic.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let workspace: string
let opened: { close(): Promise<void> }[]

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'streamtop-topic-'))
  opened = []
})

afterEach(async () => {
  for (const handle of opened) await handle.close()
  rmSync(workspace, { recursive: true, force: true })
})

test('what was sent is read back, in order, with offsets and times', async () => {
  const producer = openProducer()
  expect(await producer.send([record('1', 'a'), record('2', 'b')])).toEqual(new Map([[0, 2n]]))
  expect(await producer.send([record('3', 'c')])).toEqual(new Map([[0, 3n]]))
  const topic = openTopic()
  expect(await topic.startOffsets()).toEqual(new Map([[0, 0n]]))
  expect(await topic.endOffsets()).toEqual(new Map([[0, 3n]]))
  const [batch] = await batchesOf(topic, 0, 1n, 3n)
  expect(batch).toMatchObject({
    partition: 0,
    rowCount: 2,
    offsets: new BigInt64Array([1n, 2n]),
    timestampsMs: new Float64Array([1_700_000_000_123, 1_700_000_000_123]),
  })
  expect(texts(batch?.keys)).toEqual(['2', '3'])
  expect(texts(batch?.values)).toEqual(['b', 'c'])
})

test('any bytes come back as they were: empty, null, zeros, not UTF-8', async () => {
  const bytes = fc.oneof(fc.constant(null), fc.uint8Array({ maxLength: 12 }))
  const records = fc.array(fc.record({ key: bytes, value: bytes }), { minLength: 1, maxLength: 30 })
  const producer = openProducer()
  const topic = openTopic()
  await fc.assert(
    fc.asyncProperty(records, async (sent) => {
      const start = (await topic.endOffsets()).get(0) ?? 0n
      const end = (await producer.send(sent)).get(0) as bigint
      const [batch] = await batchesOf(topic, 0, start, end)
      expect(batch?.keys.map(plain)).toEqual(sent.map(({ key }) => plain(key)))
      expect(batch?.values.map(plain)).toEqual(sent.map(({ value }) => plain(value)))
    }),
    { numRuns: 50 },
  )
})

test('a long range comes in pieces without a gap', async () => {
  const producer = openProducer()
  const count = 25_000
  await producer.send(Array.from({ length: count }, (_, i) => record(String(i), `v${i}`)))
  const batches = await batchesOf(openTopic(), 0, 0n, BigInt(count))
  expect(batches.length).toBeGreaterThan(1)
  expect(batches.flatMap((batch) => [...batch.offsets])).toEqual(Array.from({ length: count }, (_, i) => BigInt(i)))
  expect(texts(batches.flatMap((batch) => [...batch.values]))).toEqual(Array.from({ length: count }, (_, i) => `v${i}`))
})

test('a piece is small when records are large', async () => {
  await openProducer().send(Array.from({ length: 6 }, () => ({ key: null, value: new Uint8Array(6_000_000) })))
  const batches = await batchesOf(openTopic(), 0, 0n, 6n)
  expect(batches.map((batch) => batch.rowCount)).toEqual([2, 2, 2])
})

test('a key chooses its partition as in Kafka, records without a key go round, a partition that is named is taken', async () => {
  const producer = openProducer('orders', 3)
  await producer.send(['1001', '1002', '1003'].map((key) => record(key, key)))
  const topic = openTopic()
  for (const key of ['1001', '1002', '1003']) {
    const partition = partitionOfKey(Buffer.from(key), 3)
    const end = (await topic.endOffsets()).get(partition) as bigint
    expect(texts((await batchesOf(topic, partition, 0n, end)).flatMap((batch) => [...batch.values]))).toContain(key)
  }
  const before = await topic.endOffsets()
  await producer.send([0, 1, 2, 3, 4, 5].map(() => ({ key: null, value: null })))
  for (const [partition, end] of await topic.endOffsets()) expect(end).toBe((before.get(partition) as bigint) + 2n)
  expect(await producer.send([{ key: Buffer.from('1001'), value: null, partition: 2 }])).toEqual(new Map([[2, expect.any(BigInt)]]))
  await expect(producer.send([{ key: null, value: null, partition: 3 }])).rejects.toMatchObject({ code: 'usage' })
})

test('a send that fails leaves nothing', async () => {
  const producer = openProducer()
  await expect(producer.send([record('1', 'a'), { key: null, value: null, partition: 1 }])).rejects.toMatchObject({ code: 'usage' })
  expect(await openTopic().endOffsets()).toEqual(new Map([[0, 0n]]))
})

test('offsets are 64-bit', async () => {
  const producer = openProducer()
  const database = openDatabase(join(workspace, 'topics.db'))
  const far = 2n ** 60n + 1n
  database.prepare('UPDATE partitions SET first_offset = ?, end_offset = ?').run(far, far)
  database.close()
  expect(await producer.send([record('1', 'a'), record('2', 'b')])).toEqual(new Map([[0, far + 2n]]))
  const [batch] = await batchesOf(openTopic(), 0, far, far + 2n)
  expect(batch?.offsets).toEqual(new BigInt64Array([far, far + 1n]))
})

test('a range that is not there whole is an error that counts what is gone', async () => {
  await openProducer().send(['a', 'b', 'c', 'd'].map((value) => record('1', value)))
  const topic = openTopic()
  await expect(batchesOf(topic, 0, 2n, 6n)).rejects.toMatchObject({
    code: 'data-loss',
    message: expect.stringMatching(/partition 0: 2 records up to offset 6/),
  })
  await expect(batchesOf(topic, 1, 0n, 1n)).rejects.toMatchObject({ code: 'data-loss' })
  const database = openDatabase(join(workspace, 'topics.db'))
  database.exec('UPDATE partitions SET first_offset = 3; DELETE FROM records WHERE "offset" < 3')
  await expect(batchesOf(topic, 0, 0n, 4n)).rejects.toMatchObject({ code: 'data-loss', message: expect.stringMatching(/partition 0: 3 records from offset 0/) })
  expect(texts((await batchesOf(topic, 0, 3n, 4n))[0]?.values)).toEqual(['d'])
  database.exec('DELETE FROM records')
  database.close()
  await expect(batchesOf(topic, 0, 3n, 4n)).rejects.toMatchObject({ code: 'data-loss' })
})

describe('another value in a row of topics.db', () => {
  test.each([
    ['a value', 'UPDATE records SET value = cast(\'c\' AS BLOB) WHERE "offset" = 1', 'bad-record'],
    ['a key', 'UPDATE records SET key = cast(\'2\' AS BLOB) WHERE "offset" = 1', 'bad-record'],
    ['a value that is none', 'UPDATE records SET value = NULL WHERE "offset" = 1', 'bad-record'],
    ['a time', 'UPDATE records SET timestamp_ms = timestamp_ms + 4294967296 WHERE "offset" = 1', 'bad-record'],
    ['a checksum', 'UPDATE records SET crc32 = crc32 + 1 WHERE "offset" = 1', 'bad-record'],
    ['an offset', 'UPDATE records SET "offset" = 5 WHERE "offset" = 1', 'data-loss'],
    ['an end', 'UPDATE partitions SET end_offset = 1', 'data-loss'],
    ['a number of partitions', 'UPDATE topics SET partitions = 3', 'data-loss'],
  ])('%s: is noticed', async (_, damage, code) => {
    await openProducer().send([record('1', 'a'), record('1', 'b')])
    const database = openDatabase(join(workspace, 'topics.db'))
    database.exec(damage)
    database.close()
    const readAll = async () => {
      const topic = openTopic()
      return batchesOf(topic, 0, 0n, (await topic.endOffsets()).get(0) ?? 0n)
    }
    await expect(readAll()).rejects.toMatchObject({ code })
  })
})

test('topics of format 1, without checksums, are read as they are, and get them from the next send on', async () => {
  await openProducer().send([record('1', 'a')])
  const database = openDatabase(join(workspace, 'topics.db'))
  database.exec('ALTER TABLE records DROP COLUMN crc32; PRAGMA user_version = 1')
  expect(texts((await batchesOf(openTopic(), 0, 0n, 1n))[0]?.values)).toEqual(['a'])
  await openProducer().send([record('1', 'b')])
  expect(texts((await batchesOf(openTopic(), 0, 0n, 2n))[0]?.values)).toEqual(['a', 'b'])
  expect(database.prepare('SELECT crc32 IS NULL FROM records ORDER BY "offset"').pluck().all()).toEqual([1, 0])
  database.close()
})

test('a topic that is not there is empty, and looking makes nothing', async () => {
  const topic = openTopic()
  expect(topic.exists()).toBe(false)
  expect(await topic.endOffsets()).toEqual(new Map())
  await expect(topic.identity()).rejects.toMatchObject({ code: 'source-missing' })
  expect(readdirSync(workspace)).toEqual([])
  openProducer()
  expect(topic.exists()).toBe(true)
  expect(openTopic('another').exists()).toBe(false)
})

test('a topic keeps its id, its own records and its number of partitions', async () => {
  const producer = openProducer('orders', 2)
  await openProducer('payments').send([record('1', 'a')])
  await producer.close()
  const { topicId } = await openTopic().identity()
  expect(openProducer('orders').partitions).toBe(2)
  expect((await openTopic().identity()).topicId).toBe(topicId)
  expect(() => openProducer('orders', 3)).toThrow(expect.objectContaining({ code: 'usage', message: 'topic orders has 2 partitions, not 3' }))
  expect(() => openProducer('others', 0)).toThrow(expect.objectContaining({ code: 'usage' }))
  expect(() => openProducer('../orders')).toThrow(expect.objectContaining({ code: 'bad-name' }))
  expect(await openTopic('orders').endOffsets()).toEqual(
    new Map([
      [0, 0n],
      [1, 0n],
    ]),
  )
  expect(await openTopic('payments').endOffsets()).toEqual(new Map([[0, 1n]]))
  expect((await openTopic('payments').identity()).topicId).not.toBe(topicId)
})

test('waiting ends when there is more, when there was more already, and when it is called off', async () => {
  const producer = openProducer()
  const topic = openTopic()
  const stopped = new AbortController()
  await producer.send([record('1', 'a')])
  await topic.waitForMore(new Map(), stopped.signal)
  await topic.waitForMore(new Map([[0, 0n]]), stopped.signal)

  let over = false
  const waiting = topic.waitForMore(new Map([[0, 1n]]), stopped.signal).then(() => (over = true))
  await polls(5)
  expect(over).toBe(false)
  await producer.send([record('1', 'b')])
  await waiting

  const called = topic.waitForMore(new Map([[0, 2n]]), stopped.signal)
  stopped.abort()
  await called
})

test('waiting for a topic that is not there ends when it has records', async () => {
  const topic = openTopic()
  let over = false
  const waiting = topic.waitForMore(new Map(), new AbortController().signal).then(() => (over = true))
  await polls(3)
  const producer = openProducer()
  await polls(3)
  expect(over).toBe(false)
  await producer.send([record('1', 'a')])
  await waiting
})

test('a generator remembers in the same transaction as its records', async () => {
  const next = (state: string | null) => ({ records: [record('1', `n${Number(state)}`)], state: String(Number(state) + 1) })
  const producer = openProducer()
  await producer.sendGenerated(next)
  const failing = () => ({ records: [{ key: null, value: null, partition: 9 }], state: '99' })
  await expect(producer.sendGenerated(failing)).rejects.toMatchObject({ code: 'usage' })
  await openProducer().sendGenerated(next)
  expect(texts((await batchesOf(openTopic(), 0, 0n, 2n))[0]?.values)).toEqual(['n0', 'n1'])
})

test('a file that is no database, or a newer one, is said to be', async () => {
  writeFileSync(join(workspace, 'topics.db'), 'this is not a database, '.repeat(100))
  expect(() => openTopic().exists()).toThrow(expect.objectContaining({ code: 'data-loss' }))
  expect(() => openProducer()).toThrow(expect.objectContaining({ code: 'data-loss' }))
  rmSync(join(workspace, 'topics.db'))
  const database = openDatabase(join(workspace, 'topics.db'))
  database.pragma('user_version = 99')
  database.close()
  expect(() => openProducer()).toThrow(expect.objectContaining({ code: 'unsupported-feature' }))
})

test('the WAL is moved into the file while a producer lives', async () => {
  const producer = openProducer()
  // Its reader keeps the last producer from tidying up at the end, as a dashboard would.
  await openTopic().endOffsets()
  for (let i = 0; i < 40; i++) await producer.send([{ key: null, value: new Uint8Array(500_000) }])
  expect(fx.files.status(join(workspace, 'topics.db'))?.size).toBeGreaterThan(10_000_000)
  expect(fx.files.status(join(workspace, 'topics.db-wal'))?.size).toBeLessThan(10_000_000)
})

test('four processes send at once: nothing is lost and no offset is given twice', async () => {
  const program = join(workspace, 'send.mjs')
  const source = `
    import { realEffects as fx } from './src/effects.js'
    import { openEmbeddedProducer } from './src/topic/embedded-producer.js'
    const [, , workspace, name] = process.argv
    const producer = openEmbeddedProducer(workspace, 'orders', {}, fx)
    const record = (text) => ({ key: null, value: Buffer.from(text) })
    for (let send = 0; send < 25; send++) {
      await producer.send([0, 1, 2].map((n) => record(name + (send * 3 + n))))
      await producer.sendGenerated((state) => {
        // As slow as a generator may be: another process would get in between if it could.
        for (const end = performance.now() + 1; performance.now() < end; );
        return { records: [record('generated ' + Number(state))], state: String(Number(state) + 1) }
      })
    }
    await producer.close()`
  // The bundle takes better-sqlite3 from node_modules, so it must find its way there.
  const banner = { js: `import { createRequire as r } from 'node:module'; const require = r(${JSON.stringify(join(ROOT, 'package.json'))});` }
  await build({
    stdin: { contents: source, resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
    banner,
    define: { 'import.meta.url': JSON.stringify(`file://${ROOT}/package.json`) },
    logLevel: 'error',
  })
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map((name) => promisify(execFile)(process.execPath, [program, workspace, name])))
  const sent = texts((await batchesOf(openTopic(), 0, 0n, 400n)).flatMap((batch) => [...batch.values]))
  for (const name of names) {
    // Each one's records are there, in its order, three by three.
    expect(sent.filter((text) => text?.startsWith(name))).toEqual(Array.from({ length: 75 }, (_, n) => `${name}${n}`))
    for (let n = 0; n < 75; n += 3) expect(sent.slice(sent.indexOf(`${name}${n}`)).slice(0, 3)).toEqual([n, n + 1, n + 2].map((m) => `${name}${m}`))
  }
  expect(sent.filter((text) => text?.startsWith('generated'))).toEqual(Array.from({ length: 100 }, (_, n) => `generated ${n}`))
})

const fixedTime = { ...fx, nowMs: () => 1_700_000_000_123 }

function openProducer(name = 'orders', partitions?: number) {
  const producer = openEmbeddedProducer(workspace, name, partitions === undefined ? {} : { partitions }, fixedTime)
  opened.push(producer)
  return producer
}

function openTopic(name = 'orders') {
  const topic = openEmbeddedTopic(workspace, name, briefSleep)
  opened.push(topic)
  return topic
}

function record(key: string, value: string): OutgoingRecord {
  return { key: Buffer.from(key), value: Buffer.from(value) }
}

async function batchesOf(topic: Topic, partition: number, start: bigint, end: bigint): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = []
  for await (const batch of topic.read(partition, start, end)) batches.push(batch)
  return batches
}

function texts(values: readonly (Uint8Array | null)[] | undefined): (string | null)[] {
  return (values ?? []).map((value) => (value === null ? null : Buffer.from(value).toString()))
}

function plain(bytes: Uint8Array | null): number[] | null {
  return bytes === null ? null : [...bytes]
}

/** A sleep that takes a turn of the event loop, and how many there were. */
let sleeps = 0
const briefSleep = {
  ...fx,
  sleep: () => {
    sleeps += 1
    return new Promise<void>((resolve) => setImmediate(resolve))
  },
}

/** Resolves when a waiting reader has looked that often. */
async function polls(count: number): Promise<void> {
  for (const end = sleeps + count; sleeps < end; ) await new Promise((resolve) => setImmediate(resolve))
}
