import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { status as statusVerb } from '../../src/commands/status.js'
import { statusText } from '../../src/commands/status-text.js'
import { wrapped } from '../../src/commands/text-table.js'
import type { Context } from '../../src/commands/verb.js'
import { type Effects, realEffects } from '../../src/effects.js'
import { acquireLock } from '../../src/engine/lock.js'
import { replayNewestBatch } from '../../src/engine/reset.js'
import { observe } from '../../src/observe/observe.js'
import { sentenceOf } from '../../src/observe/sentence.js'
import type { BatchAttempt, QueryStatus, Status } from '../../src/observe/status.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const fx = realEffects
const newStory = temporaryStories()

async function look(story: Story, name = 'events_copy'): Promise<QueryStatus> {
  const found = (await observe(story.folder, BUILT_IN_QUERIES, fx)).queries.find((query) => query.name === name)
  if (!found) throw new Error(`no query ${name}`)
  return found
}

async function threeOrders(): Promise<Story> {
  const story = newStory()
  await story.produce(1)
  await story.run(bronzeOrders)
  return story
}

describe('the status object', () => {
  it('has the names that other tools read', async () => {
    const story = await threeOrders()
    await story.run(eventsCopy)
    const status = await observe(story.folder, BUILT_IN_QUERIES, fx)
    expect(Object.keys(status)).toEqual(expect.arrayContaining(['format', 'workspace', 'topics', 'queries', 'tables']))
    expect(status.topics).toEqual([{ name: 'orders', kind: 'embedded', partitions: 1, endOffsets: { 0: '3' } }])
    const names =
      'name id runId state pid source sink mode idempotent appId batchId step offsets commits startOffset endOffset sourceLines lag attempts replays skips rows distinct duplicates rejected missing verdict inFlight lastError lastProgress'
    for (const query of status.queries) expect(Object.keys(query)).toEqual(expect.arrayContaining(names.split(' ')))
    for (const table of status.tables) {
      expect(Object.keys(table)).toEqual(expect.arrayContaining('name id version rows distinct duplicates files orphans countsVersion'.split(' ')))
    }
    expect(status.queries[0]).toMatchObject({
      source: { kind: 'topic', name: 'orders' },
      sink: { kind: 'table', name: 'bronze_orders' },
      mode: 'append',
      idempotent: true,
      appId: status.queries[0]?.id,
      startOffset: { orders: { 0: '0' } },
      endOffset: { orders: { 0: '3' } },
      lag: 0,
      lastProgress: { batchId: 0, numInputRows: 3 },
    })
    expect(status.queries[1]).toMatchObject({ mode: 'foreachBatch', idempotent: false, startOffset: null, endOffset: { reservoirVersion: 1, index: -1 } })
  })

  it('counts what lies behind the newest commit, in records and in rows', async () => {
    const story = await threeOrders()
    await story.run(eventsCopy)
    await story.produce(2)
    expect(await look(story, 'bronze_orders')).toMatchObject({ lag: 2, state: 'stopped' })
    await story.run(bronzeOrders)
    expect(await look(story)).toMatchObject({ lag: 2, state: 'stopped' })
    await story.run(eventsCopy, { killAt: 'offsets-logged' })
    expect(await look(story)).toMatchObject({ lag: 2, state: 'killed', batchId: 1, step: 'offsets-logged', offsets: [1, 0], commits: [0] })
    await story.expectSound()
  })

  it('says who holds a query, whatever it is doing', async () => {
    const story = await threeOrders()
    const lock = await acquireLock(story.folder, 'events_copy', fx)
    expect(await look(story)).toMatchObject({ state: 'running', pid: process.pid })
    lock.release()
    expect(await look(story)).toMatchObject({ state: 'idle', pid: null })
  })

  it('tells a query that failed from one that was killed', async () => {
    const story = await threeOrders()
    await story.run(eventsCopy)
    await story.store((store) => store.drop('bronze_orders'))
    await story.store(async (store) => {
      const snapshot = store.snapshot('events_copy')
      if (snapshot) await store.append('bronze_orders', await store.read('events_copy', snapshot.schema, snapshot.files), { kind: 'write' })
    })
    await expect(story.run(eventsCopy)).rejects.toMatchObject({ code: 'table-recreated' })
    expect(await look(story)).toMatchObject({ state: 'failed', lastError: { code: 'table-recreated' }, missing: null })
  })

  it('shows a batch whose commit was taken away as stopped and pending', async () => {
    const story = await threeOrders()
    await story.run(eventsCopy)
    await replayNewestBatch(story.folder, 'events_copy', fx)
    const query = await look(story)
    expect(query).toMatchObject({ state: 'stopped', step: 'table-committed', inFlight: true, verdict: 'exactly-once' })
    expect(sentenceOf(query)).toContain('expect 3 duplicates')
  })

  it('shows checkpoints of queries that it was not told of', async () => {
    const story = await threeOrders()
    await story.run(eventsCopy)
    const status = await observe(story.folder, [bronzeOrders], fx)
    expect(status.queries.map(({ name }) => name)).toEqual(['bronze_orders', 'events_copy'])
    expect(status.queries[1]).toMatchObject({
      source: { kind: 'table', name: 'bronze_orders' },
      sink: null,
      offsets: [0],
      commits: [0],
      rows: null,
      missing: null,
      verdict: null,
      step: 'batch-committed',
    })
  })
})

describe('the sentence', () => {
  const attempt = (more: Partial<BatchAttempt> = {}): BatchAttempt => ({
    attempt: 1,
    idempotent: false,
    outcome: 'committed',
    operation: 'WRITE',
    rows: 6,
    leftOutRows: null,
    appId: null,
    txnVersion: null,
    ...more,
  })
  const tagged = { idempotent: true, appId: 'events_copy', txnVersion: 7 }
  const merged = { idempotent: true, operation: 'MERGE' }
  const killed =
    'events_copy was killed after it wrote batch 7 and before it committed it: events_copy has the 6 rows, the checkpoint does not know. It will run batch 7 again with the same rows.'

  const cases: [string, Partial<QueryStatus>, string | null][] = [
    ['nothing ran', { state: 'idle', batchId: null, step: null }, null],
    ['all is well', { state: 'idle', step: 'batch-committed', batchAttempts: [attempt()] }, null],
    ['all is well while it runs', { state: 'running', step: 'offsets-logged', batchAttempts: [attempt({ outcome: 'started' })] }, null],
    [
      'killed before anything',
      { state: 'killed', batchId: null, step: null },
      'events_copy was killed before it logged its first batch: nothing of it is on disk, and it begins anew.',
    ],
    [
      'killed before the write',
      { step: 'offsets-logged', batchAttempts: [attempt({ outcome: 'started' })] },
      'events_copy was killed after it logged batch 7 and before events_copy had its rows. It will run batch 7 again with the same rows. Nothing is lost, and nothing is there twice.',
    ],
    [
      'killed between link and log',
      { step: 'version-linked', batchAttempts: [attempt(tagged)] },
      'events_copy was killed after it linked the version with batch 7 and before the log had it: events_copy has the 6 rows, and the next start finds them. It will run batch 7 again with the same rows. The table remembers txn (events_copy, 7): a write with that pair is skipped.',
    ],
    [
      'killed after a plain append',
      { batchAttempts: [attempt()] },
      `${killed} Idempotence was off, so nothing in events_copy says that batch 7 is there: expect 6 duplicates.`,
    ],
    [
      'killed after an append with a txn',
      { batchAttempts: [attempt(tagged)] },
      `${killed} The table remembers txn (events_copy, 7): a write with that pair is skipped.`,
    ],
    ['killed after a MERGE', { batchAttempts: [attempt(merged)] }, `${killed} It was a MERGE: the same rows again change nothing.`],
    [
      'killed after the second plain append',
      { batchAttempts: [attempt(), attempt({ attempt: 2 })] },
      `${killed.replace('the 6 rows', 'the 6 rows twice')} Idempotence was off, so nothing in events_copy says that batch 7 is there: expect 6 more duplicates.`,
    ],
    [
      'killed again before the second write',
      { step: 'offsets-logged', batchAttempts: [attempt(), attempt({ attempt: 2, outcome: 'started' })] },
      'events_copy was killed in attempt 2 of batch 7, before it wrote it again: events_copy has the 6 rows from attempt 1. It will run batch 7 again with the same rows. Idempotence was off, so nothing in events_copy says that batch 7 is there: expect 6 duplicates.',
    ],
    [
      'killed after the commit',
      { step: 'batch-committed', batchAttempts: [attempt()] },
      'events_copy was killed after it committed batch 7: nothing is half done, and it goes on with batch 8.',
    ],
    [
      'written twice',
      { state: 'running', step: 'batch-committed', batchAttempts: [attempt(), attempt({ attempt: 2 })] },
      'batch 7 ran again and its 6 rows are in the table twice; nothing failed and nothing warned.',
    ],
    [
      'written three times',
      { state: 'idle', step: 'batch-committed', batchAttempts: [attempt(), attempt({ attempt: 2 }), attempt({ attempt: 3 })] },
      'batch 7 ran again and its 6 rows are in the table 3 times; nothing failed and nothing warned.',
    ],
    [
      'skipped',
      {
        state: 'running',
        step: 'batch-committed',
        batchAttempts: [attempt(tagged), attempt({ ...tagged, attempt: 2, outcome: 'already-committed', leftOutRows: 0 })],
      },
      'batch 7 ran again, and was skipped: the table remembers txn (events_copy, 7). 0 of 6 rows were written.',
    ],
    [
      'skipped with its one row',
      {
        state: 'running',
        step: 'batch-committed',
        batchAttempts: [attempt({ ...tagged, rows: 1 }), attempt({ ...tagged, rows: 1, attempt: 2, outcome: 'already-committed', leftOutRows: 0 })],
      },
      'batch 7 ran again, and was skipped: the table remembers txn (events_copy, 7). 0 of 1 row was written.',
    ],
    [
      'skipped although it was never written',
      { state: 'idle', step: 'batch-committed', batchAttempts: [attempt({ ...tagged, outcome: 'already-committed', leftOutRows: 6 })] },
      'batch 7 was skipped although this checkpoint never wrote it: the table remembers txn (events_copy, 7) of an earlier one. 0 of 6 rows were written; events_copy has them from before. Another app id lets them in.',
    ],
    [
      'merged twice',
      { state: 'idle', step: 'batch-committed', batchAttempts: [attempt(merged), attempt({ ...merged, attempt: 2, outcome: 'unchanged' })] },
      'batch 7 ran again, and the MERGE changed nothing: events_copy had the newest row of each key already.',
    ],
    [
      'died before the write and ran again',
      { state: 'idle', step: 'batch-committed', batchAttempts: [attempt({ outcome: 'started' }), attempt({ attempt: 2, rows: 1 })] },
      'batch 7 ran again, and its 1 row is in the table once: the attempt before died before it wrote.',
    ],
    [
      'Spark wrote it with a txn',
      { newestTxn: { appId: 'events_copy', version: 7 } },
      'events_copy died after it wrote batch 7 and before it committed it: events_copy has its rows, the checkpoint does not know. It will run batch 7 again with the same rows. The table remembers txn (events_copy, 7): a write with that pair is skipped.',
    ],
    [
      'Spark wrote it plainly',
      {},
      'events_copy died after it wrote batch 7 and before it committed it: events_copy has its rows, the checkpoint does not know. It will run batch 7 again with the same rows. Nothing in events_copy says that batch 7 is there: a plain append writes its rows twice.',
    ],
    [
      'failed',
      { state: 'failed', lastError: { code: 'bad-record', message: 'record 3 is no order', hint: null, condition: null } },
      'events_copy failed: record 3 is no order. Batch 7 runs again at the next start, with the same rows.',
    ],
    [
      'a start would be refused',
      { lastError: { code: 'metadata-missing', message: 'metadata is missing', hint: null, condition: null } },
      'events_copy will not start: metadata is missing.',
    ],
  ]

  const pending: QueryStatus = {
    name: 'events_copy',
    id: 'a',
    runId: null,
    state: 'killed',
    pid: null,
    source: { kind: 'table', name: 'bronze_orders' },
    sink: { kind: 'table', name: 'events_copy' },
    mode: 'foreachBatch',
    idempotent: false,
    appId: 'events_copy',
    batchId: 7,
    step: 'table-committed',
    offsets: [7],
    commits: [6],
    startOffset: null,
    endOffset: null,
    sourceLines: [],
    lag: 0,
    attempts: 8,
    replays: 0,
    skips: 0,
    rows: 48,
    distinct: 48,
    duplicates: 0,
    missing: 0,
    verdict: 'exactly-once',
    alsoDuplicated: false,
    writtenTwice: 0,
    reasons: [],
    inFlight: true,
    batchAttempts: [],
    newestTxn: null,
    newestOperation: 'WRITE',
    lastError: null,
    lastProgress: null,
  }

  it.each(cases)('%s', (_, more, sentence) => {
    expect(sentenceOf({ ...pending, ...more })).toBe(sentence)
  })

  it('stands below the tables, with the reasons, in lines that fit', () => {
    const status: Status = {
      format: 1,
      workspace: '/w',
      topics: [{ name: 'orders', kind: 'embedded', partitions: 2, endOffsets: { 0: '9007199254740993', 1: '7' } }],
      queries: [
        { ...pending, batchAttempts: [attempt()] },
        {
          ...pending,
          name: 'trap',
          verdict: 'missing',
          alsoDuplicated: true,
          missing: 2,
          state: 'idle',
          step: 'batch-committed',
          inFlight: false,
          reasons: ['batch 0 was skipped \u001b[31m'],
        },
      ],
      tables: [{ name: 'events_copy', id: 'b', version: 7, rows: 48, distinct: 48, duplicates: 0, files: 8, orphans: null, countsVersion: 7, error: null }],
      errors: [],
    }
    const text = statusText(status, sentenceOf)
    expect(text).toBe(
      [
        'query        state   batch  rows  distinct  dup  missing  verdict',
        'events_copy  killed      7    48        48    0        0  exactly-once ~',
        'trap         idle        7    48        48    0        2  missing, duplicated',
        '',
        'topic   partitions           records',
        'orders           2  9007199254741000',
        '',
        'table        version  rows  distinct  dup  files  orphans',
        'events_copy        7    48        48    0      8        ?',
        '',
        'events_copy was killed after it wrote batch 7 and before it committed it:',
        '  events_copy has the 6 rows, the checkpoint does not know. It will run batch 7',
        '  again with the same rows. Idempotence was off, so nothing in events_copy says',
        '  that batch 7 is there: expect 6 duplicates.',
        'trap: batch 0 was skipped \u241b[31m',
        '',
      ].join('\n'),
    )
  })

  it('is broken between words only', () => {
    expect(wrapped('one two three', 7, '  ')).toBe('one two\n  three\n')
    expect(wrapped('longer-than-the-line x', 5, ' ')).toBe('longer-than-the-line\n x\n')
  })
})

describe('streamtop status', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  function contextOf(workspace: string, more: Partial<Context<{ watch?: boolean }>> = {}) {
    const lines: string[] = []
    const context: Context<{ watch?: boolean }> = {
      workspace,
      isWorkspaceGiven: true,
      adopt: false,
      configFile: null,
      kafka: null,
      json: false,
      options: {},
      arguments: [],
      output: { stdout: (text) => void lines.push(text), stderr: () => undefined, stdoutIsTerminal: false, stderrIsTerminal: false },
      signal: new AbortController().signal,
      fx,
      ...more,
    }
    return { context, lines }
  }

  it('shows queries of the configuration file too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'streamtop-status-'))
    folders.push(folder)
    const definition = join(import.meta.dirname, '..', '..', 'src', 'engine', 'definition.ts')
    writeFileSync(
      join(folder, 'streamtop.config.mjs'),
      `import { append, query, table } from ${JSON.stringify(definition)}\nexport default [query('mine', table('bronze_orders'), append('mine'))]\n`,
    )
    const { context, lines } = contextOf(folder, { json: true })
    expect(await statusVerb.run(context)).toBe(0)
    expect((JSON.parse(lines.join('')) as Status).queries.map(({ name }) => name)).toEqual(['bronze_orders', 'events_copy', 'orders', 'mine'])
  })

  it('watched without a terminal prints a text or a line of JSON for each change, until it is asked to end', async () => {
    for (const json of [false, true]) {
      const story = await threeOrders()
      const end = new AbortController()
      let sleeps = 0
      const slow: Effects = {
        ...fx,
        sleep: async () => {
          sleeps++
          if (sleeps === 2) await story.produce(2)
          if (sleeps === 4) end.abort()
        },
      }
      const { context, lines } = contextOf(story.folder, { json, options: { watch: true }, signal: end.signal, fx: slow })
      await statusVerb.run(context)
      expect(lines).toHaveLength(2)
      expect(lines[1]).toContain(json ? '"endOffsets":{"0":"5"}' : 'orders           1        5')
      if (json) for (const line of lines) expect(line.trimEnd()).not.toContain('\n')
    }
  })
})
