/**
 * What each query's newest run says of itself: who runs it and how, its last progress, its last error. Not synced and not needed
 * by anything that must hold; without it a status knows less.
 */
import { type Database, synced } from '../database.js'

export interface Run {
  readonly query: string
  readonly queryId: string | null
  readonly runId: string
  readonly pid: number
  readonly processStart: string | null
  readonly idempotent: boolean
  readonly appId: string
  readonly state: 'running' | 'waiting' | 'paused' | 'stopped' | 'failed'
  /** JSON of the error that ended it. */
  readonly error: string | null
  /** JSON of Spark's StreamingQueryProgress of its newest batch. */
  readonly progress: string | null
  readonly startedMs: number
  readonly updatedMs: number
}

export class Runs {
  readonly #database: Database
  readonly #put
  readonly #all

  constructor(database: Database) {
    this.#database = database
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO runs (query, query_id, run_id, pid, process_start, idempotent, app_id, state, error, progress, started_ms, updated_ms)
       VALUES (@query, @queryId, @runId, @pid, @processStart, @idempotent, @appId, @state, @error, @progress, @startedMs, @updatedMs)`,
    )
    this.#all = database.prepare(
      `SELECT query, query_id AS queryId, run_id AS runId, pid, process_start AS processStart, idempotent, app_id AS appId, state, error, progress,
         started_ms AS startedMs, updated_ms AS updatedMs FROM runs`,
    )
  }

  put(run: Run): void {
    this.#database.pragma('synchronous = NORMAL')
    try {
      synced(this.#database, () => this.#put.run({ ...run, idempotent: run.idempotent ? 1 : 0 }))
    } finally {
      this.#database.pragma('synchronous = FULL')
    }
  }

  all(): Run[] {
    return (this.#all.all() as (Omit<Run, 'idempotent'> & { idempotent: number })[]).map((row) => ({ ...row, idempotent: row.idempotent === 1 }))
  }
}
