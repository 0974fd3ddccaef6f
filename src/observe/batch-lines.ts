/** The newest batches of a query's two logs, side by side, so that an offset without its commit stands out. */
import type { QueryDefinition } from '../engine/definition.js'
import type { Effects } from '../effects.js'

export interface BatchLine {
  readonly batchId: number
  /** Whether `offsets/N` and `commits/N` are there. */
  readonly isLogged: boolean
  readonly isCommitted: boolean
  /** What the batch reads, for people: `version 7`, `versions 3 to 7`, `offsets 45 to 51`, `2 partitions, 12 records`; null when it cannot be told. */
  readonly range: string | null
  /** Rows that it read, as the ledger or the range says; null when neither knows. */
  readonly rows: number | null
  /** Null when the ledger does not know it. */
  readonly attempts: number | null
}

/** Newest first. Never throws: what cannot be read is null. */
export declare function batchLines(workspace: string, query: string, definition: QueryDefinition | null, limit: number, fx: Effects): BatchLine[]
