/** The checker must be able to fail: it is shown sound workspaces, and then ones in which one thing each is wrong. */
import Database from 'better-sqlite3'
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { checkWorkspace, type Look, openChecker, type Promised, type QueryPromise } from '../checker.mjs'
import { replayTable } from '../delta-replay.mjs'
import { BRONZE, COPY, ORDERS, SENT, SENT_BY_PART } from '../nine-events.js'
import { newStory, temporaryStories, type Story } from './workspace.js'

const ALL: Promised = { topic: 'orders', sent: SENT, queries: [BRONZE, COPY, ORDERS], said: [{ table: 'events_copy', rows: 9, distinct: 9 }] }

const begin = temporaryStories()
let sound: Story
beforeAll(async () => {
  sound = newStory()
  for (const parts of [
    [1, 2],
    [3, 4],
  ]) {
    await sound.produce(...parts)
    await sound.run(bronzeOrders)
    await sound.run(eventsCopy, { idempotent: true, killAt: 'table-committed' })
    for (const query of [eventsCopy, orders]) await sound.run(query, { idempotent: true })
  }
})
afterAll(() => sound.remove())

function sql(story: Story, file: string, text: string): void {
  const database = new Database(story.path(file))
  database.exec(text)
  database.close()
}

/** The promises of a workspace in which one of `events_copy` is another. */
function withCopy(change: Partial<QueryPromise>): Partial<Promised> {
  return { queries: [BRONZE, { ...COPY, ...change }, ORDERS] }
}

test('finds nothing in a workspace that was killed and recovered', async () => {
  expect(await checkWorkspace(sound.folder, ALL)).toEqual([])
})

test('allows exactly the duplicates of replayed batches where idempotence was off', async () => {
  const story = begin()
  await story.produce(1, 2, 3, 4)
  await story.run(bronzeOrders)
  await story.run(eventsCopy, { killAt: 'table-committed' })
  await story.run(eventsCopy)
  expect(await checkWorkspace(story.folder, { ...ALL, queries: [BRONZE, { ...COPY, exactlyOnce: false }], said: [] })).toEqual([])
  const violations = await checkWorkspace(story.folder, { ...ALL, queries: [COPY], said: [] })
  expect(violations).toEqual([expect.stringMatching(/rows of events_copy: 9 are too many, for example .* \(2 times, not 1\)/)])
})

test('notices a file that changes once written', async () => {
  const story = begin(sound)
  const checker = await openChecker(story.folder)
  expect(await checker.check(ALL)).toEqual([])
  const path = story.path('checkpoints', 'events_copy', 'offsets', '1')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"200"', '"201"'))
  expect(await checker.check(ALL)).toEqual([`${path} changed after it was written`])
  checker.close()
})

test('lets the log of a table that awaits its healing lack the newest version, and no other', async () => {
  const story = begin(sound)
  await story.produce(1)
  await story.run(bronzeOrders)
  await story.run(eventsCopy, { idempotent: true, killAt: 'version-linked' })
  const killed = { ...COPY, caughtUp: false, isUnhealed: true }
  const check = (copy: QueryPromise) => checkWorkspace(story.folder, { queries: [copy] })
  expect(await check(killed)).toEqual([])
  expect(await check({ ...killed, isUnhealed: false })).toContain('table events_copy has 3 versions in _delta_log and 2 in _log.db')

  sql(story, 'tables/_log.db', "DELETE FROM versions WHERE table_key = (SELECT table_key FROM tables WHERE name = 'events_copy') AND version = 0")
  expect((await check(killed)).join('\n')).toMatch(/version 0 of events_copy is another text/)
})

test('allows a file of the checkpoint to be gone only when the test took it away', async () => {
  const story = begin(sound)
  rmSync(story.path('checkpoints', 'events_copy', 'offsets', '0'))
  const withDamage = (...damaged: string[]): Promised => ({ ...ALL, queries: [BRONZE, { ...COPY, damaged }] })
  expect(await checkWorkspace(story.folder, withDamage('offsets/0'))).toEqual([])
  expect(await checkWorkspace(story.folder, withDamage('commits/0'))).not.toEqual([])
})

describe('finds', () => {
  const version = (table: string, number: number) => ['tables', table, '_delta_log', `${String(number).padStart(20, '0')}.json`]
  const dataFile = (story: Story, table: string) => story.path('tables', table, story.list('tables', table).find((name) => name.endsWith('.parquet')) ?? '')
  const rewrite = (story: Story, parts: readonly string[], from: string | RegExp, to: string) => {
    const before = readFileSync(story.path(...parts), 'utf8')
    const after = before.replace(from, to)
    expect(after).not.toBe(before)
    writeFileSync(story.path(...parts), after)
  }
  test.each<[what: string, damage: (story: Story) => void, violation: RegExp, promised?: Partial<Promised>]>([
    ['a record that never arrived', () => {}, /10 records were sent .* holds 9/, { sent: [...SENT, { ...SENT[0], value: '{}' } as (typeof SENT)[0]] }],
    [
      'a record that came out as another',
      () => {},
      /bronze_orders: 1 are missing/,
      { sent: SENT.map((record, index) => (index === 4 ? { ...record, amount: '40.01' } : record)) },
    ],
    ['a hole in the topic', (story) => sql(story, 'topics.db', 'DELETE FROM records WHERE "offset" = 3'), /has a hole before offset 4/],
    ['a data file that is gone', (story) => rmSync(dataFile(story, 'events_copy')), /is live and is not there/],
    ['a data file of another size', (story) => truncateSync(dataFile(story, 'orders'), 100), /has 100 bytes/],
    [
      'a row count that is not true',
      (story) => rewrite(story, version('events_copy', 0), /numRecords\\":5/, 'numRecords\\":6'),
      /numRecords of its statistics/,
    ],
    [
      'a bound that is too narrow',
      (story) => rewrite(story, version('bronze_orders', 0), /(maxValues\\":\{\\"order_id\\":)1004/, '$11003'),
      /maxValues.order_id of its statistics/,
    ],
    [
      'a lower bound of a time that is too narrow',
      (story) => rewrite(story, version('bronze_orders', 0), /(minValues.*?event_time\\":\\"20)\d\d/, '$199'),
      /minValues.event_time of its statistics/,
    ],
    [
      'a count of nulls that is not true',
      (story) => rewrite(story, version('bronze_orders', 0), /(nullCount.*?status\\":)0/, '$11'),
      /nullCount.status of its statistics/,
    ],
    ['a version that differs from the log', (story) => appendFileSync(story.path(...version('orders', 1)), '\n'), /version 1 of orders is another text/],
    ['a version that is gone', (story) => rmSync(story.path(...version('orders', 1))), /orders has version 2 after 0/],
    [
      'a commit without offsets',
      (story) => writeFileSync(story.path('checkpoints', 'orders', 'commits', '2'), 'v1\n{}'),
      /batch 2 of orders is committed and has no offsets/,
    ],
    ['a hole in the offsets', (story) => rmSync(story.path('checkpoints', 'events_copy', 'offsets', '0')), /is committed and has no offsets/],
    ['a batch that is not committed', (story) => rmSync(story.path('checkpoints', 'events_copy', 'commits', '1')), /batch 1 is not committed/],
    [
      'a range that differs',
      (story) => sql(story, 'tables/_log.db', `UPDATE ledger SET range_start = '{}' WHERE query = 'orders' AND batch_id = 1`),
      /the ledger says that batch 1 of orders starts at/,
    ],
    [
      'a committed batch that the ledger does not know',
      (story) => sql(story, 'tables/_log.db', `DELETE FROM ledger WHERE query = 'orders'`),
      /the ledger knows no write of it/,
    ],
    [
      'a write that the ledger does not know',
      (story) => sql(story, 'tables/_log.db', `UPDATE ledger SET outcome = 'already-committed' WHERE query = 'events_copy' AND batch_id = 1`),
      /the ledger says that batch 1 of events_copy was written 0 times, and events_copy has 1 versions of it/,
    ],
    [
      'a version of another engine that nobody spoke of',
      (story) => rewrite(story, version('events_copy', 1), 'streamtop/', 'Apache-Spark/'),
      /version 1 of events_copy was written by Apache-Spark\/.*, and the test says streamtop/,
    ],
    [
      'a version that is not of the engine that is said to have written it',
      () => {},
      /version 1 of events_copy was written by streamtop\/.*, and the test says another engine/,
      withCopy({ other: { versions: new Map([[1, 1]]), commits: [1] } }),
    ],
    [
      'a version of another engine with the txn of another batch',
      (story) => rewrite(story, version('events_copy', 1), 'streamtop/', 'Apache-Spark/'),
      /version 1 of events_copy has txn 1, not 0/,
      withCopy({ other: { versions: new Map([[1, 0]]), commits: [] } }),
    ],
    [
      'a version that another engine has not written',
      () => {},
      /events_copy has no version 2, which another engine is said to have written/,
      withCopy({ other: { versions: new Map([[2, 2]]), commits: [] } }),
    ],
    ['rows that a condition leaves out', () => {}, /rows of events_copy: 1 are too many, for example .*paid/, withCopy({ where: "status = 'placed'" })],
    ['rows from before the first version of a stream', () => {}, /rows of events_copy: 5 are too many/, withCopy({ startingVersion: 1 })],
    [
      'wrong counts',
      () => {},
      /said that events_copy has 9 rows, 8 different; a recount says 9 and 9/,
      { said: [{ table: 'events_copy', rows: 9, distinct: 8 }] },
    ],
    ['a query that ended without a checkpoint', () => {}, /copy ended, and has no checkpoint/, { queries: [BRONZE, { ...COPY, name: 'copy' }] }],
    [
      'a fold that is not that of the input',
      () => {},
      /rows of orders: 1 are too many, for example 1001 C01 paid/,
      { queries: [BRONZE, COPY, { ...ORDERS, where: "status <> 'paid'" }] },
    ],
    [
      'a batch that was written twice with idempotence on',
      (story) => {
        rmSync(story.path('checkpoints', 'events_copy', 'commits', '1'))
        rewrite(story, version('events_copy', 1), '"batch":1', '"batch":0')
        rewrite(story, version('events_copy', 1), '"attempt":1', '"attempt":7')
      },
      /batch 0 of events_copy was written to events_copy twice with idempotence on/,
      withCopy({ exactlyOnce: false, skipsWhatItHas: true, caughtUp: false }),
    ],
    [
      'an attempt that has written twice',
      (story) => rewrite(story, version('events_copy', 1), '"batch":1', '"batch":0'),
      /attempt 1 of batch 0 of events_copy has written events_copy twice/,
      withCopy({ exactlyOnce: false }),
    ],
    [
      'a batch that is committed and is in no version',
      (story) => rewrite(story, version('events_copy', 1), '"batch":1', '"batch":7'),
      /batch 1 of events_copy is committed and was never written/,
    ],
    [
      'a txn of the native sink that is of another query',
      (story) => rewrite(story, version('bronze_orders', 1), /("txn":\{"appId":")[^"]+/, '$1bronze_orders'),
      /version 1 of bronze_orders has txn \(bronze_orders, 1\), and was written by query/,
    ],
    [
      'an orphan that was not seen',
      (story) => writeFileSync(story.path('tables', 'orders', 'part-00000-half.parquet'), 'half'),
      /said that orders has 0 orphans, and 1 lie there/,
      { said: [{ table: 'orders', rows: 8, distinct: 8, orphans: 0 }] },
    ],
    ['a database that is damaged', (story) => writeFileSync(story.path('.locks', 'orders.db'), 'SQLite format 3\0 and nothing else'), /orders\.db/],
    [
      'a lock whose holder has ended',
      (story) => sql(story, '.locks/orders.db', "INSERT INTO holder VALUES (1, 'token', 1, '1', 1, '1', 1)"),
      /orders\.db names a holder after its query has ended/,
    ],
    ['a process that is left', () => {}, new RegExp(`process ${process.ppid} was left behind`), { pids: [process.ppid] }],
    [
      'a checksum of another file',
      (story) => writeFileSync(story.path('checkpoints', 'orders', 'commits', '.1.crc'), 'crc\0\0\0\x02\0abcd'),
      /\.1\.crc is the checksum of another file/,
    ],
    ['a drop that was not ended', (story) => mkdirSync(story.path('tables', '.dropped-vip-1')), /\.dropped-vip-1 was left behind/],
    ['a reset that was not ended', (story) => mkdirSync(story.path('checkpoints', '.reset-vip-1')), /\.reset-vip-1 was left behind/],
    ['a temp file', (story) => writeFileSync(story.path('tables', 'orders', '_delta_log', '.3.json.x.tmp'), ''), /3\.json\.x\.tmp was left behind/],
  ])('%s', async (_, damage, violation, promised = {}) => {
    const story = begin(sound)
    damage(story)
    const found = await checkWorkspace(story.folder, { ...ALL, ...promised })
    expect(found.join('\n')).toMatch(violation)
  })
})

test('finds a lock that is held after its query has ended', async () => {
  const story = begin(sound)
  const holder = new Database(story.path('.locks', 'orders.db'))
  holder.exec('BEGIN IMMEDIATE')
  expect(await checkWorkspace(story.folder, ALL)).toEqual([expect.stringMatching(/orders\.db is locked after its query has ended/)])
  holder.close()
})

describe('of what comes after', () => {
  test.each<[what: string, act: (story: Story) => Promise<unknown> | unknown, told: Partial<Promised>, violation: RegExp | null]>([
    ['a start that has nothing to do may do nothing', (story) => story.run(orders), { isQuiet: true }, null],
    ['a file more is not nothing', (story) => writeFileSync(story.path('tables', 'orders', 'more.parquet'), ''), { isQuiet: true }, /nothing to do changed 1/],
    ['nor is a row of the ledger', (story) => sql(story, 'tables/_log.db', "UPDATE ledger SET reason = 'again'"), { isQuiet: true }, /changed 1 .* the ledger/],
    ['who has not gone on is found', () => {}, withCopy({ hasGoneOn: true }), /events_copy ended with more to do, and has committed no batch after 1/],
  ])('%s', async (_, act, told, violation) => {
    const story = begin(sound)
    const checker = await openChecker(story.folder)
    expect(await checker.check(ALL)).toEqual([])
    await act(story)
    expect((await checker.check({ ...ALL, ...told })).join('\n')).toMatch(violation ?? /^$/)
    checker.close()
  })
})

/** What a reader sees who sees these versions. */
function lookAt(story: Story, versions: Readonly<Record<string, number>>): Look {
  const seen = Object.entries(versions).map(([name, version]) => {
    const actions = replayTable(story.path('tables', name)).versions.flatMap((one) => (one.version <= version ? one.actions : []))
    const removed = actions.map(({ remove }) => remove?.path)
    const files = actions.flatMap(({ add }) => (add && !removed.includes(add.path) ? [add.path] : []))
    return [name, { id: actions.find(({ metaData }) => metaData)?.metaData?.id ?? '', version, files }]
  })
  return Object.fromEntries(seen)
}

describe('of readers it finds', () => {
  const file = 'part-00000-of-nobody.parquet'
  test.each<[what: string, looks: (story: Story) => Look[], violation: RegExp | null]>([
    ['nothing when each sees what was committed', (story) => [lookAt(story, { orders: 1 }), lookAt(story, { orders: 2, events_copy: 1 })], null],
    ['an older version after a newer', (story) => [lookAt(story, { orders: 2 }), lookAt(story, { orders: 1 })], /saw version 1 of orders after version 2/],
    ['a version that was never committed', (story) => [lookAt(story, { orders: 3 })], /saw version 3 of orders, which was never committed/],
    [
      'files that are not those of the version',
      (story) => [Object.fromEntries(Object.entries(lookAt(story, { orders: 1 })).map(([name, seen]) => [name, { ...seen, files: [...seen.files, file] }]))],
      /saw files in version 1 of orders/,
    ],
  ])('%s', async (_, looks, violation) => {
    expect((await checkWorkspace(sound.folder, { ...ALL, looks: looks(sound) })).join('\n')).toMatch(violation ?? /^$/)
  })
})

describe('of commits over two tables it finds', () => {
  const BAD = [{ value: Buffer.from('no order') }, { value: null }, { value: null }]
  const TOLD: Promised = { topic: 'orders', sent: SENT_BY_PART[0] ?? [], bad: BAD, queries: [BRONZE] }
  let mixed: Story
  beforeAll(async () => {
    mixed = newStory()
    await mixed.produce(1)
    const producer = openEmbeddedProducer(mixed.folder, 'orders', {}, realEffects)
    await producer.send(BAD.map(({ value }) => ({ key: Buffer.from('k'), value })))
    await producer.close()
    await mixed.run(bronzeOrders, { killAt: 'version-linked' })
    await mixed.run(bronzeOrders)
  })
  afterAll(() => mixed.remove())
  const ofRejected = "table_key = (SELECT table_key FROM tables WHERE name = 'bronze_orders_rejected')"

  test('a reader who saw half of one', async () => {
    const half = [lookAt(mixed, { bronze_orders: 0 })]
    const found = await checkWorkspace(mixed.folder, { ...TOLD, looks: half })
    expect(found).toEqual(['a reader saw version 0 of bronze_orders without version 0 of bronze_orders_rejected, its other part'])
    expect(await checkWorkspace(mixed.folder, { ...TOLD, looks: [lookAt(mixed, { bronze_orders: 0, bronze_orders_rejected: 0 })] })).toEqual([])
  })

  test('nothing when all is well', async () => expect(await checkWorkspace(mixed.folder, TOLD)).toEqual([]))

  test.each<[what: string, damage: (story: Story) => void, violation: RegExp, promised?: Partial<Promised>]>([
    ['a bad record that never arrived', () => {}, /7 records were sent .* holds 6/, { bad: [...BAD, { value: Buffer.from('more') }] }],
    ['bad records of which nobody spoke', () => {}, /rejected records in bronze_orders_rejected: 3 are too many/, { bad: [] }],
    ['rejected records that are gone', (story) => rmSync(story.path('tables', 'bronze_orders_rejected'), { recursive: true }), /rejected: 3 are missing/],
    [
      'a part that only the log lacks',
      (story) => sql(story, 'tables/_log.db', `DELETE FROM versions WHERE ${ofRejected}`),
      /version 0 of bronze_orders was committed together with bronze_orders_rejected, which has no part of it in _log.db/,
    ],
    [
      'a part that is not on disk',
      (story) => rmSync(story.path('tables', 'bronze_orders_rejected', '_delta_log', '00000000000000000000.json')),
      /bronze_orders_rejected, which has no part of it in _delta_log/,
    ],
    [
      'what is still prepared',
      (story) => sql(story, 'tables/_log.db', "INSERT INTO prepared VALUES ('id', 0, 'bronze_orders', NULL, 7, '{}', 'nobody')"),
      /version 7 of bronze_orders is still prepared/,
    ],
  ])('%s', async (_, damage, violation, promised = {}) => {
    const story = begin(mixed)
    damage(story)
    expect((await checkWorkspace(story.folder, { ...TOLD, ...promised })).join('\n')).toMatch(violation)
  })
})
