/** A session that does nothing but what a test tells it, and remembers what it was asked. */
import type { QueryStatus, Status } from '../../src/observe/status.js'
import { newLiveQuery } from '../../src/session/live-query.js'
import type { Session, SessionAction } from '../../src/session/session.js'
import { PACES, type Pace, type SessionMessage, type SessionState, type WorkspaceView } from '../../src/session/session-state.js'
import type { TableRows } from '../../src/session/workspace-service.js'
import type { ProgramSession } from '../../src/tui/program.js'

export class FakeSession implements Session {
  state: SessionState
  readonly asked: string[] = []
  isClosed = false
  isHurried = false
  /** What becomes of what is asked. */
  answer: (action: SessionAction) => Promise<string> = async (action) => `${action.name} is done`
  /** Resolves when it may close. */
  mayClose: Promise<void> = Promise.resolve()
  #listeners = new Set<(message: SessionMessage) => void>()

  constructor(change: Partial<SessionState> = {}) {
    this.state = { ...OWNER, ...change }
  }

  get opened(): ProgramSession {
    return { session: this, reader: { rows: async (table) => ({ ...ROWS, table }), history: async () => [] } }
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  subscribe(listener: (message: SessionMessage) => void): () => void {
    this.#listeners.add(listener)
    listener({ kind: 'state', state: this.state })
    return () => void this.#listeners.delete(listener)
  }

  tell(message: SessionMessage): void {
    if (message.kind === 'state') this.state = message.state
    for (const listener of this.#listeners) listener(message)
  }

  log(text: string, atMs = 0): void {
    this.tell({ kind: 'log', entry: { atMs, who: 'events_copy', kind: 'note', text } })
  }

  watch(query: string | null, batchLimit: number): void {
    this.asked.push(`watch ${query} ${batchLimit}`)
  }

  perform(action: SessionAction, by: string): Promise<string> {
    this.asked.push(`${by}: ${action.name}${'query' in action ? ` ${action.query}` : ''}`)
    return this.answer(action)
  }

  async close(): Promise<void> {
    this.asked.push('close')
    await this.mayClose
    this.isClosed = true
  }

  hurry(): void {
    this.isHurried = true
  }
}

const QUERIES = ['bronze_orders', 'events_copy', 'orders']

export const OWNER: SessionState = {
  workspace: '/w',
  access: 'owner',
  holderPid: null,
  queries: QUERIES.map((name, index) => ({
    ...newLiveQuery({ name, source: { kind: 'topic', name: 'orders' }, table: name, writes: [name], mode: 'append', idempotentByDefault: true }),
    process: 'running' as const,
    pid: 1_000 + index,
  })),
  pace: PACES.find(({ name }) => name === 'slow') as Pace,
  isPaused: false,
  generator: { isOn: false, ratePerSecond: 1 },
  isFirstStart: false,
}

/** A query's status with what a test is about; everything else is not known. */
export function statusOf(name: string, change: Partial<QueryStatus> = {}): QueryStatus {
  const unknown = { id: null, runId: null, pid: null, source: null, sink: null, mode: null, idempotent: null, appId: null, batchId: null, step: null }
  const uncounted = { lag: null, attempts: null, replays: null, skips: null, rows: null, distinct: null, duplicates: null, missing: null, writtenTwice: null }
  return {
    ...unknown,
    ...uncounted,
    ...{ name, state: 'running', offsets: [], commits: [], startOffset: null, endOffset: null, sourceLines: [], verdict: null, alsoDuplicated: false },
    ...{ reasons: [], inFlight: false, batchAttempts: [], newestTxn: null, newestOperation: null, lastError: null, lastProgress: null },
    ...change,
  } as QueryStatus
}

export function viewOf(queries: readonly QueryStatus[], takenAtMs = 0): WorkspaceView {
  const status: Status = { format: 1, workspace: '/w', topics: [], queries, tables: [], errors: [] }
  return { takenAtMs, status, detail: null }
}

const ROWS: TableRows = { table: '', version: 3, columns: ['order_id'], rows: [['1001']], rowCount: 1 }
