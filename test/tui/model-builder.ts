/** A model to draw: the three queries at 12:04:28, as the pictures of the dashboard show them, and what is made of it by changes. */
import { type Step, STEPS, type StepEvent } from '../../src/engine/steps.js'
import type { BatchLine } from '../../src/observe/batch-lines.js'
import type { BatchAttempt, QueryStatus, Status, TableStatus } from '../../src/observe/status.js'
import type { HistoryLine } from '../../src/observe/table-history.js'
import type { LiveAttempt, LiveEnding, LiveQuery, LogEntry, QueryInfo, SessionState } from '../../src/session/session-state.js'
import type { Model } from '../../src/tui/model.js'
import { loadWidths } from '../../src/tui/width.js'

await loadWidths()

/** 2026-10-01 12:04:28 in UTC. */
export const NOW_MS = 1_790_856_268_000

type Name = 'bronze_orders' | 'events_copy' | 'orders'

export const INFOS: Readonly<Record<Name, QueryInfo>> = {
  bronze_orders: {
    name: 'bronze_orders',
    source: { kind: 'topic', name: 'orders' },
    table: 'bronze_orders',
    writes: ['bronze_orders'],
    mode: 'append',
    idempotentByDefault: true,
  },
  events_copy: {
    name: 'events_copy',
    source: { kind: 'table', name: 'bronze_orders' },
    table: 'events_copy',
    writes: ['events_copy'],
    mode: 'foreachBatch',
    idempotentByDefault: false,
  },
  orders: {
    name: 'orders',
    source: { kind: 'table', name: 'bronze_orders' },
    table: 'orders',
    writes: ['orders'],
    mode: 'foreachBatch',
    idempotentByDefault: true,
  },
}

const TOOK_MS: Readonly<Record<Step, number>> = {
  planned: 0.4,
  'offsets-logged': 1.6,
  'rows-read': 0.9,
  'mid-write': 1.2,
  'files-written': 1.9,
  'version-linked': 0.8,
  'table-committed': 1.1,
  'batch-committed': 1.2,
}

/** An attempt that has reached every step up to `last`. */
export function attemptUpTo(last: Step, { batchId = 7, attempt = 1, isDead = false, table = 'events_copy' } = {}): LiveAttempt {
  const steps = STEPS.slice(0, STEPS.indexOf(last) + 1).map((step, index) => ({
    event: eventAt(step, { batchId, attempt, table }),
    tookMs: TOOK_MS[step],
    atMs: NOW_MS - 2_000 + index * 150,
  }))
  return { batchId, attempt, steps, isDead, beganAtMs: NOW_MS - 2_000 }
}

export function eventAt(step: Step, { batchId = 7, attempt = 1, table = 'events_copy', occurrence = 1 } = {}): StepEvent {
  const isWrite = STEPS.indexOf(step) >= 3 && STEPS.indexOf(step) <= 6
  return { step, batchId, attempt, occurrence, ...(isWrite ? { table, kind: 'append' as const } : {}) }
}

export function ending(kind: LiveEnding['kind'], change: Partial<LiveEnding> = {}): LiveEnding {
  return { kind, atMs: NOW_MS - 1_000, pid: 48212, at: null, by: 'x', error: null, ...change }
}

export function liveQuery(name: Name, pid: number): LiveQuery {
  const info = INFOS[name]
  return {
    info,
    process: 'running',
    pid,
    heldByPid: null,
    isWaitingForSource: false,
    unreachable: null,
    isHeld: false,
    heldAt: null,
    killStep: 'table-committed',
    armed: null,
    idempotent: info.idempotentByDefault,
    attempt: attemptUpTo('batch-committed', { batchId: name === 'events_copy' ? 6 : 8, table: name }),
    ending: null,
  }
}

export function writeAttempt(change: Partial<BatchAttempt> = {}): BatchAttempt {
  return { attempt: 1, idempotent: false, outcome: 'committed', operation: 'WRITE', rows: 6, leftOutRows: null, appId: null, txnVersion: null, ...change }
}

export function queryStatus(name: Name): QueryStatus {
  const info = INFOS[name]
  const rows = { bronze_orders: 57, events_copy: 51, orders: 31 }[name]
  const batchId = name === 'events_copy' ? 6 : 8
  const ids = [0, 1, 2, 3, 4].map((back) => batchId - back)
  return {
    name,
    id: '1f3a77c2-5d0e-4b8e-9a51-000000000001',
    runId: '1f3a77c2-5d0e-4b8e-9a51-000000000002',
    state: 'running',
    pid: 48212,
    source: info.source,
    sink: { kind: 'table', name: info.table ?? name },
    mode: name === 'orders' ? 'MERGE' : info.mode,
    idempotent: info.idempotentByDefault,
    appId: name,
    batchId,
    step: 'batch-committed',
    offsets: ids,
    commits: ids,
    startOffset: null,
    endOffset: null,
    sourceLines: [],
    lag: name === 'events_copy' ? 12 : 0,
    attempts: batchId + 1,
    replays: 0,
    skips: 0,
    rows,
    distinct: rows,
    duplicates: 0,
    missing: 0,
    verdict: 'exactly-once',
    alsoDuplicated: false,
    writtenTwice: 0,
    reasons: [],
    inFlight: false,
    batchAttempts: [writeAttempt({ operation: name === 'orders' ? 'MERGE' : name === 'bronze_orders' ? 'STREAMING UPDATE' : 'WRITE' })],
    newestTxn: name === 'bronze_orders' ? { appId: '1f3a77c2-5d0e-4b8e-9a51-000000000001', version: 8 } : null,
    newestOperation: name === 'orders' ? 'MERGE' : 'WRITE',
    lastError: null,
    lastProgress: null,
  }
}

function tableStatus(name: Name): TableStatus {
  const { rows, distinct, duplicates, batchId } = queryStatus(name)
  const version = batchId ?? 0
  return { name, id: `table-of-${name}`, version, rows, distinct, duplicates, files: version + 1, orphans: 0, countsVersion: version, error: null }
}

/** Batches from the newest down to 0, all committed. */
export function batchLinesDownFrom(newest: number, change: Partial<BatchLine> = {}): BatchLine[] {
  return Array.from({ length: newest + 1 }, (_, back) => ({
    batchId: newest - back,
    isLogged: true,
    isCommitted: true,
    range: `version ${newest - back}`,
    rows: 6,
    attempts: 1,
    ...(back === 0 ? change : {}),
  }))
}

export function versionLine(version: number, change: Partial<HistoryLine> = {}): HistoryLine {
  return {
    version,
    timestampMs: NOW_MS - 1_000,
    operation: 'WRITE',
    query: 'events_copy',
    queryId: '1f3a77c2-5d0e-4b8e-9a51-000000000001',
    batchId: version,
    attempt: 1,
    idempotent: false,
    txns: [],
    rowsAdded: 6,
    rowsRemoved: 0,
    filesAdded: 1,
    filesRemoved: 0,
    engine: 'streamtop/0.1.0',
    ...change,
  }
}

export function versionsDownFrom(newest: number, change: Partial<HistoryLine> = {}): HistoryLine[] {
  return Array.from({ length: newest + 1 }, (_, back) => versionLine(newest - back, back === 0 ? change : {}))
}

export function logEntry(secondsAgo: number, who: string, kind: LogEntry['kind'], text: string): LogEntry {
  return { atMs: NOW_MS - secondsAgo * 1_000, who, kind, text }
}

const LOG: readonly LogEntry[] = [
  logEntry(7, 'you', 'asked', '+: generator 2.0 orders/s'),
  logEntry(4, 'orders', 'committed', 'batch 7 committed: 6 events, 2 inserted, 4 updated, 10.9 ms'),
  logEntry(4, 'bronze_orders', 'committed', 'batch 7 committed: +6 rows, offsets 45 to 51, 8.7 ms'),
  logEntry(4, 'events_copy', 'committed', 'batch 6 committed: +6 rows, 8.8 ms'),
  logEntry(2, 'orders', 'committed', 'batch 8 committed: 6 events, 3 inserted, 2 updated, 1 late and ignored, 11.4 ms'),
  logEntry(2, 'bronze_orders', 'committed', 'batch 8 committed: +6 rows, offsets 51 to 57, 9.1 ms'),
]

export interface ModelChange {
  readonly model?: Partial<Model>
  readonly state?: Partial<SessionState>
  readonly live?: Partial<Readonly<Record<Name, Partial<LiveQuery>>>>
  readonly status?: Partial<Readonly<Record<Name, Partial<QueryStatus>>>>
  /** Null for a table that is not there. */
  readonly table?: Partial<Readonly<Record<Name, Partial<TableStatus> | null>>>
  readonly topics?: Status['topics']
  readonly batches?: readonly BatchLine[]
  readonly versions?: readonly HistoryLine[]
  /** Entries after those that are always there. */
  readonly log?: readonly LogEntry[]
}

const NAMES: readonly Name[] = ['bronze_orders', 'events_copy', 'orders']

/** All three run, `events_copy` is selected and has committed batch 6; then the changes. */
export function modelWith(change: ModelChange = {}): Model {
  const state: SessionState = {
    workspace: '/srv/talks/demo',
    access: 'owner',
    holderPid: null,
    queries: NAMES.map((name, index) => ({ ...liveQuery(name, 48211 + index), ...change.live?.[name] })),
    pace: { name: 'slow', dwellMs: 150, intervalMs: 3_000 },
    isPaused: false,
    generator: { isOn: true, ratePerSecond: 2 },
    isFirstStart: true,
    ...change.state,
  }
  const selected = change.model?.selected ?? 'events_copy'
  return {
    state,
    view: {
      takenAtMs: NOW_MS - 200,
      status: {
        format: 1,
        workspace: state.workspace,
        topics: change.topics ?? [{ name: 'orders', kind: 'embedded', partitions: 1, endOffsets: { '0': '57' } }],
        queries: NAMES.map((name) => ({ ...queryStatus(name), ...change.status?.[name] })),
        tables: NAMES.filter((name) => change.table?.[name] !== null).map((name) => ({ ...tableStatus(name), ...change.table?.[name] })),
        errors: [],
      },
      detail: { query: selected, table: selected, batches: change.batches ?? batchLinesDownFrom(6), versions: change.versions ?? versionsDownFrom(6) },
    },
    log: [...LOG, ...(change.log ?? [])],
    nowMs: NOW_MS,
    selected,
    screen: { kind: 'main' },
    prompt: null,
    chooser: null,
    confirm: null,
    filter: '',
    message: null,
    arrivals: [2, 3, 2, 4, 2, 1, 2, 2, 3, 2, 1, 2],
    commandHistory: [],
    isQuitting: false,
    play: null,
    ...change.model,
  }
}
