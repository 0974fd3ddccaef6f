/** The states of the dashboard that pictures and tests are made of: each is the model of `model-builder.ts` with changes. */
import { type Step, STEPS } from '../../src/engine/steps.js'
import type { KafkaStatus, QueryStatus, TableStatus } from '../../src/observe/status.js'
import type { LiveQuery, LogEntry, QueryInfo } from '../../src/session/session-state.js'
import type { Model } from '../../src/tui/model.js'
import { hostile } from './hostile-model.js'
import {
  INFOS,
  NOW_MS,
  attemptUpTo,
  batchLinesDownFrom,
  ending,
  eventAt,
  liveQuery,
  logEntry,
  modelWith,
  queryStatus,
  versionLine,
  versionsDownFrom,
  writeAttempt,
} from './model-builder.js'

export * from './hostile-model.js'
export * from './model-builder.js'
export * from './picture-of.js'

/** `x` has killed `events_copy` in batch 7 at a step, and the disk was looked at after it. */
export function killedAt(step: Step, { idempotent = false } = {}): Model {
  const index = STEPS.indexOf(step)
  const isLogged = index >= 1
  const isWritten = index >= 5
  const isCommitted = index === 7
  const txn = idempotent ? { appId: 'events_copy', version: 7 } : null
  const newest = isLogged ? 7 : 6
  return modelWith({
    live: {
      events_copy: {
        process: 'none',
        pid: null,
        idempotent,
        attempt: attemptUpTo(step, { isDead: true }),
        ending: ending('killed', { at: eventAt(step) }),
      },
    },
    status: {
      events_copy: {
        state: 'killed',
        pid: null,
        idempotent,
        batchId: newest,
        step: !isLogged || isCommitted ? 'batch-committed' : index >= 6 ? 'table-committed' : isWritten ? 'version-linked' : 'offsets-logged',
        offsets: [0, 1, 2, 3, 4].map((back) => newest - back),
        commits: [0, 1, 2, 3, 4].map((back) => (isCommitted ? 7 : 6) - back),
        attempts: newest + 1,
        inFlight: isLogged && !isCommitted,
        batchAttempts: !isLogged
          ? [writeAttempt()]
          : isWritten
            ? [writeAttempt({ idempotent, appId: txn?.appId ?? null, txnVersion: txn?.version ?? null })]
            : [writeAttempt({ idempotent, outcome: 'started', operation: null, rows: null })],
        newestTxn: isWritten ? txn : null,
        rows: isWritten ? 51 : 45,
        distinct: isWritten ? 51 : 45,
      },
    },
    table: {
      events_copy: {
        version: isWritten ? 7 : 6,
        countsVersion: isWritten ? 7 : 6,
        files: isWritten ? 8 : 7,
        orphans: step === 'mid-write' || step === 'files-written' ? 1 : 0,
      },
    },
    batches: isLogged ? batchLinesDownFrom(7, { isCommitted }) : batchLinesDownFrom(6),
    versions: isWritten ? versionsDownFrom(7, { txns: txn === null ? [] : [txn], idempotent }) : versionsDownFrom(6),
    log: [
      logEntry(2, 'you', 'asked', `x: events_copy dies at ${step} of its next batch`),
      logEntry(1, 'events_copy', 'killed', `killed at ${step} of batch 7 (you: x)`),
    ],
  })
}

/** Started again after a death at `table-committed` without idempotence: batch 7 is in the table twice. */
export function duplicated(): Model {
  return modelWith({
    live: { events_copy: { attempt: attemptUpTo('batch-committed', { attempt: 2 }) } },
    status: {
      events_copy: {
        batchId: 7,
        offsets: [7, 6, 5, 4, 3],
        commits: [7, 6, 5, 4, 3],
        attempts: 9,
        replays: 1,
        rows: 57,
        distinct: 51,
        duplicates: 6,
        verdict: 'duplicated',
        writtenTwice: 6,
        lag: 6,
        batchAttempts: [writeAttempt(), writeAttempt({ attempt: 2 })],
        reasons: [
          '6 rows of events_copy are there more often than in the source',
          'batch 7 was written twice, attempt 1 without a txn and attempt 2 without a txn: its 6 rows are there twice',
        ],
      },
    },
    table: { events_copy: { version: 8, countsVersion: 8, files: 9, rows: 57, distinct: 51, duplicates: 6 } },
    batches: batchLinesDownFrom(7, { attempts: 2 }),
    versions: [versionLine(8, { batchId: 7, attempt: 2 }), ...versionsDownFrom(7)],
    log: [
      logEntry(2, 'you', 'asked', 's: events_copy starts again'),
      logEntry(0, 'events_copy', 'committed', 'batch 7 committed in attempt 2: +6 rows, 9.0 ms'),
    ],
    model: { message: { kind: 'done', text: 'events_copy runs again: batch 7 comes first', atMs: NOW_MS - 2_000 } },
  })
}

/** The same with idempotence: the table has skipped it, so that nothing was written. */
export function skipped(): Model {
  const full = attemptUpTo('batch-committed', { attempt: 2 })
  const attempt = { ...full, steps: full.steps.filter(({ event }) => !['mid-write', 'files-written', 'version-linked'].includes(event.step)) }
  const txn = { appId: 'events_copy', version: 7 }
  return modelWith({
    live: { events_copy: { idempotent: true, attempt } },
    status: {
      events_copy: {
        batchId: 7,
        idempotent: true,
        offsets: [7, 6, 5, 4, 3],
        commits: [7, 6, 5, 4, 3],
        attempts: 9,
        replays: 1,
        skips: 1,
        rows: 51,
        distinct: 51,
        batchAttempts: [
          writeAttempt({ idempotent: true, appId: 'events_copy', txnVersion: 7 }),
          writeAttempt({ attempt: 2, idempotent: true, outcome: 'already-committed', operation: null, appId: 'events_copy', txnVersion: 7 }),
        ],
        newestTxn: txn,
      },
    },
    table: { events_copy: { version: 7, countsVersion: 7, files: 8 } },
    batches: batchLinesDownFrom(7, { attempts: 2 }),
    versions: versionsDownFrom(7, { txns: [txn], idempotent: true }),
    log: [logEntry(0, 'events_copy', 'skipped', 'batch 7 skipped: txn (events_copy, 7) seen, 0 of 6 rows written')],
  })
}

/** The first moments in an empty folder: the processes start, nothing is on disk. */
export function firstStart(): Model {
  const nothing: Partial<LiveQuery> = { process: 'starting', attempt: null, pid: null }
  const model = modelWith({ live: { bronze_orders: nothing, events_copy: nothing, orders: nothing }, topics: [] })
  const status = model.view?.status
  return {
    ...model,
    log: [logEntry(0, 'streamtop', 'note', 'an empty workspace: the three queries are started')],
    arrivals: [],
    view: status ? { takenAtMs: NOW_MS, status: { ...status, topics: [], queries: [], tables: [] }, detail: null } : null,
  }
}

/** `events_copy` waits for a table that nobody has made yet. */
export function waiting(): Model {
  const nothing: Partial<QueryStatus> = {
    id: null,
    state: 'waiting',
    batchId: null,
    step: null,
    offsets: [],
    commits: [],
    lag: null,
    attempts: 0,
    rows: 0,
    distinct: 0,
    missing: 0,
    verdict: 'empty',
    batchAttempts: [],
  }
  return modelWith({
    live: { events_copy: { isWaitingForSource: true, attempt: null }, orders: { isWaitingForSource: true, attempt: null } },
    status: { events_copy: nothing, orders: nothing },
    table: { events_copy: null, orders: null },
    batches: [],
    versions: [],
    log: [logEntry(0, 'events_copy', 'waiting', 'waits for table bronze_orders')],
  })
}

/** `events_copy` has failed: the source lacks what its checkpoint names. */
export function failed(): Model {
  const error = {
    code: 'checkpoint-gap' as const,
    message: 'offsets/5 is not there, and offsets/6 is: a batch between them was removed',
    hint: 'put the file back, or streamtop reset events_copy to begin anew',
    condition: null,
  }
  return modelWith({
    live: { events_copy: { process: 'none', pid: null, ending: ending('failed', { error, by: null }) } },
    status: { events_copy: { state: 'failed', pid: null, lastError: error } },
    log: [logEntry(1, 'events_copy', 'failed', 'offsets/5 is not there, and offsets/6 is')],
  })
}

/** `space` was pressed while batch 7 of `events_copy` was in the middle of a write. */
export function paused(): Model {
  return modelWith({
    state: { isPaused: true },
    live: {
      bronze_orders: { isHeld: true },
      events_copy: { isHeld: true, heldAt: eventAt('mid-write'), attempt: attemptUpTo('mid-write') },
      orders: { isHeld: true },
    },
    status: { events_copy: { batchId: 7, step: 'offsets-logged', offsets: [7, 6, 5, 4, 3], inFlight: true, rows: 45, distinct: 45 } },
    batches: batchLinesDownFrom(7, { isCommitted: false }),
    log: [logEntry(0, 'you', 'asked', 'space: everything is held at its next step')],
  })
}

/** Another dashboard runs the queries. */
export function viewer(): Model {
  const elsewhere: Partial<LiveQuery> = { process: 'none', pid: null, heldByPid: 4711, attempt: null }
  return modelWith({
    state: { access: 'viewer', holderPid: 4711, isFirstStart: false },
    live: { bronze_orders: elsewhere, events_copy: elsewhere, orders: elsewhere },
    status: { events_copy: { batchId: 7, step: 'table-committed', offsets: [7, 6, 5, 4, 3], inFlight: true, pid: 4711 } },
    batches: batchLinesDownFrom(7, { isCommitted: false }),
  })
}

/** A folder that Spark wrote, with a query whose code is not known here. */
export function foreign(): Model {
  const info: QueryInfo = { name: 'clicks_stream', source: null, table: 'clicks', writes: ['clicks'], mode: null, idempotentByDefault: false }
  const model = modelWith({ model: { selected: 'events_copy' }, batches: [], versions: [] })
  const status: QueryStatus = {
    ...queryStatus('events_copy'),
    name: 'clicks_stream',
    state: 'killed',
    pid: null,
    source: { kind: 'topic', name: 'clicks' },
    sink: { kind: 'table', name: 'clicks' },
    mode: 'append',
    idempotent: null,
    batchId: 3,
    step: 'table-committed',
    offsets: [3, 2, 1, 0],
    commits: [2, 1, 0],
    lag: null,
    attempts: null,
    replays: null,
    skips: null,
    missing: null,
    verdict: null,
    writtenTwice: null,
    inFlight: true,
    batchAttempts: [],
    newestTxn: { appId: '9b2d5c30-1111-4222-8333-444455556666', version: 3 },
  }
  const table: TableStatus = {
    name: 'clicks',
    id: 'c',
    version: 3,
    rows: 51,
    distinct: 51,
    duplicates: 0,
    files: 4,
    orphans: null,
    countsVersion: 3,
    error: null,
  }
  const live: LiveQuery = { ...liveQuery('events_copy', 0), info, process: 'none', pid: null, attempt: null }
  const versions = [3, 2, 1, 0].map((version) =>
    versionLine(version, {
      operation: 'STREAMING UPDATE',
      query: null,
      queryId: null,
      batchId: null,
      attempt: null,
      idempotent: null,
      txns: [{ appId: '9b2d5c30-1111-4222-8333-444455556666', version }],
    }),
  )
  return {
    ...model,
    selected: 'clicks_stream',
    log: [],
    arrivals: [],
    state: model.state && { ...model.state, access: 'foreign', isFirstStart: false, queries: [live] },
    view: model.view && {
      ...model.view,
      status: { ...model.view.status, topics: [], queries: [status], tables: [table] },
      detail: {
        query: 'clicks_stream',
        table: 'clicks',
        versions,
        batches: batchLinesDownFrom(3, { isCommitted: false }).map((line) => ({ ...line, attempts: null })),
      },
    },
  }
}

/** Two partitions, and a query that waits at the second of the two tables that it writes. */
export function twoPartitions(): Model {
  const first = attemptUpTo('table-committed', { table: 'events_copy' })
  const second = ['mid-write', 'files-written'].map((step) => ({
    event: eventAt(step as Step, { table: 'events_large', occurrence: 2 }),
    tookMs: 2.5,
    atMs: NOW_MS,
  }))
  return modelWith({
    live: {
      events_copy: {
        info: { ...INFOS.events_copy, writes: ['events_copy', 'events_large'] },
        attempt: { ...first, steps: [...first.steps, ...second] },
        isHeld: true,
        heldAt: eventAt('files-written', { table: 'events_large', occurrence: 2 }),
      },
    },
    status: { events_copy: { batchId: 7, step: 'table-committed', offsets: [7, 6, 5, 4, 3], inFlight: true } },
    topics: [{ name: 'orders', kind: 'embedded', partitions: 2, endOffsets: { '0': '30', '1': '27' } }],
    batches: batchLinesDownFrom(7, { isCommitted: false, range: '2 partitions, 6 records' }),
  })
}

/** The topic is on Kafka, in three partitions; `bronze_orders` is selected, has read two of them, and has lost records. */
export function kafkaUp(): Model {
  return kafkaModel(
    { brokers: 'localhost:9092', state: 'connected', sinceMs: NOW_MS - 60_000, topicsOfMs: null, lastError: null },
    { status: { lag: 5, lostOffsets: 12 } },
  )
}

/** Its broker was killed two seconds ago: the query waits, and what is told of the topic is of before. */
export function kafkaDown(): Model {
  const unreachable = 'Kafka at localhost:9092 does not answer (connect ECONNREFUSED 127.0.0.1:9092); it is tried again'
  const message = 'Kafka at localhost:9092 does not answer: connect ECONNREFUSED 127.0.0.1:9092'
  const lastError = { code: 'source-missing' as const, message, hint: 'is the broker running?', condition: null }
  return kafkaModel(
    { brokers: 'localhost:9092', state: 'down', sinceMs: NOW_MS - 2_000, topicsOfMs: NOW_MS - 3_000, lastError },
    {
      live: { isWaitingForSource: true, unreachable },
      status: {
        state: 'waiting',
        lag: 5,
        lastError: { ...lastError, message: unreachable, hint: 'start the broker, and the query goes on by itself' },
      },
      log: [logEntry(2, 'topic', 'waiting', message), logEntry(1, 'bronze_orders', 'waiting', `waits: ${unreachable}`)],
    },
  )
}

function kafkaModel(
  kafka: KafkaStatus,
  { live = {}, status = {}, log = [] }: { live?: Partial<LiveQuery>; status?: Partial<QueryStatus>; log?: readonly LogEntry[] },
): Model {
  const model = modelWith({
    model: { selected: 'bronze_orders' },
    live: { bronze_orders: live },
    status: { bronze_orders: { endOffset: { orders: { 0: '20', 1: '19', 2: '18' } }, ...status } },
    topics: [{ name: 'orders', kind: 'kafka', partitions: 3, endOffsets: { 0: '20', 1: '24', 2: '18' } }],
    batches: batchLinesDownFrom(8).map((line) => ({ ...line, range: '3 partitions, 6 records' })),
    versions: versionsDownFrom(8).map((line) => ({ ...line, query: 'bronze_orders', operation: 'STREAMING UPDATE' })),
    log,
    state: { isFirstStart: false },
  })
  return { ...model, view: model.view && { ...model.view, status: { ...model.view.status, kafka } } }
}

/** Every one by its name. */
export const MODELS: Readonly<Record<string, Model>> = {
  'first-start': firstStart(),
  running: modelWith(),
  armed: modelWith({ live: { events_copy: { armed: { step: 'table-committed', occurrence: 1 }, attempt: attemptUpTo('offsets-logged') } } }),
  killed: killedAt('table-committed'),
  'killed-idempotent': killedAt('table-committed', { idempotent: true }),
  duplicated: duplicated(),
  skipped: skipped(),
  waiting: waiting(),
  failed: failed(),
  paused: paused(),
  viewer: viewer(),
  foreign: foreign(),
  'two-partitions': twoPartitions(),
  'kafka-up': kafkaUp(),
  'kafka-down': kafkaDown(),
  hostile: hostile(),
}
