/**
 * The status object: what disk and ledger say of a workspace, as `status --json` prints it. Other tools read it, so the names are
 * stable. 64-bit offsets are texts, what is not known is null.
 */
import type { ErrorCode } from '../errors.js'

export interface Status {
  readonly format: 1
  readonly workspace: string
  readonly topics: readonly TopicStatus[]
  readonly queries: readonly QueryStatus[]
  readonly tables: readonly TableStatus[]
  /** What could not be read of the workspace itself: its log, its topics. */
  readonly errors: readonly StatusError[]
  /** How the brokers are, where somebody follows them (a dashboard with `--kafka`). */
  readonly kafka?: KafkaStatus
}

/** Brokers as they were asked last. Nobody waits for their answer: when they are down, what is told of their topics is of before. */
export interface KafkaStatus {
  /** HOST:PORT, several with commas. */
  readonly brokers: string
  readonly state: 'connecting' | 'connected' | 'down'
  /** When that began, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** While they are down: of when the topics are as they are told, in milliseconds since the epoch; null when they never answered. */
  readonly topicsOfMs: number | null
  /** Why they are down. */
  readonly lastError: StatusError | null
}

export interface TopicStatus {
  readonly name: string
  readonly kind: 'embedded' | 'kafka'
  readonly partitions: number
  /** By partition, the next offset that it will give out. */
  readonly endOffsets: Readonly<Record<string, string>>
}

/**
 * `idle`: nobody runs it and it has nothing to do; `stopped`: it ended as asked and has something to do; `killed`: it died, or left a
 * batch without a commit, and nobody runs it.
 */
export type QueryState = 'running' | 'idle' | 'waiting' | 'paused' | 'killed' | 'failed' | 'stopped'

/** Where a batch is, as far as it can be told from disk and ledger. */
export type KnownStep = 'offsets-logged' | 'version-linked' | 'table-committed' | 'batch-committed'

export type VerdictName = 'exactly-once' | 'duplicated' | 'missing' | 'empty'

export interface QueryStatus {
  readonly name: string
  readonly id: string | null
  readonly runId: string | null
  readonly state: QueryState
  /** Of the process that holds the query. */
  readonly pid: number | null
  readonly source: { readonly kind: 'topic' | 'table'; readonly name: string } | null
  readonly sink: { readonly kind: 'table'; readonly name: string } | null
  /** How it writes; null for a checkpoint whose query is not known. */
  readonly mode: 'append' | 'foreachBatch' | 'MERGE' | null
  readonly idempotent: boolean | null
  readonly appId: string | null
  /** The newest batch, null when there is none. */
  readonly batchId: number | null
  readonly step: KnownStep | null
  /** The newest ids in the offsets and the commits log, newest first, at most five. */
  readonly offsets: readonly number[]
  readonly commits: readonly number[]
  /** Of the newest batch: the source's offset as the checkpoint has it, with a topic's offsets as texts. */
  readonly startOffset: unknown
  readonly endOffset: unknown
  /** The lines of the sources in the newest offsets file that has any, as they stand there, whether a start would take them or not. */
  readonly sourceLines: readonly string[]
  /** Records or rows of the source behind the newest commit. */
  readonly lag: number | null
  /**
   * Offsets of its topic that were gone before its batches could read them (`failOnDataLoss=false`), as its runs counted them: of a batch
   * after whose commit the process died, nothing was counted. Null when it is not known, and for a query of a table.
   */
  readonly lostOffsets?: number | null
  /** Attempts of all batches of this query id, how many of them ran a batch again, and of how many a table skipped a write. */
  readonly attempts: number | null
  readonly replays: number | null
  readonly skips: number | null
  /** Of the sink's table. */
  readonly rows: number | null
  readonly distinct: number | null
  readonly duplicates: number | null
  /** Records of its topic that are no rows, as its table of them has them: 0 for none, null when that is not known. */
  readonly rejected?: number | null
  /** That table, made with the first one; null for a query that rejects none. */
  readonly rejectedTable?: string | null
  /** Rows of the source up to the newest commit that the sink's table does not hold, and its table of rejected records neither. */
  readonly missing: number | null
  readonly verdict: VerdictName | null
  /** With the verdict `missing`: whether a range was also written more often than once. */
  readonly alsoDuplicated: boolean
  /** Rows that were written more often than the source has them; null when that is not known. */
  readonly writtenTwice: number | null
  /** Why the verdict is what it is, in sentences. */
  readonly reasons: readonly string[]
  readonly inFlight: boolean
  /** The newest batch's attempts, oldest first; none when the ledger does not know them. */
  readonly batchAttempts: readonly BatchAttempt[]
  /** The newest txn that the sink's table has of this query's app id, with the query id that wrote it where a version says so. */
  readonly newestTxn: { readonly appId: string; readonly version: number; readonly queryId?: string | null } | null
  /** What the table's newest version calls itself. */
  readonly newestOperation: string | null
  /** Whether it writes by MERGE when idempotence is on. */
  readonly mergesWhenIdempotent?: boolean
  /** Whether it is known to write with a txn exactly when idempotence is on: a user's function may do what it likes. */
  readonly honoursIdempotence?: boolean
  /** Lives of this query before the checkpoint that is there now, as far as they wrote to the table. */
  readonly earlierLives?: number
  /** Writes that the table skipped although it does not have their rows from this query id: batches and rows in all; null for none. */
  readonly leftOut?: { readonly firstBatchId: number; readonly lastBatchId: number; readonly rows: number } | null
  /** The newest batch before the newest one that ran more than once or was skipped; null when there was none lately. */
  readonly lastStumble?: Stumble | null
  /** Data files in the folder of the sink's table that no version names. */
  readonly orphans?: number | null
  /** What ended the newest run; else why the next start would be refused, or why the table cannot be read. */
  readonly lastError: StatusError | null
  /** Spark's StreamingQueryProgress of the newest batch of the newest run. */
  readonly lastProgress: unknown
}

/** A batch that did not go straight through. */
export interface Stumble {
  readonly batchId: number
  readonly attempts: readonly BatchAttempt[]
}

/** One attempt of a batch, with what its write to the query's own table came to; `started` when nothing is known to be written there. */
export interface BatchAttempt {
  readonly attempt: number
  readonly idempotent: boolean
  readonly outcome: 'started' | 'committed' | 'already-committed' | 'unchanged'
  readonly operation: string | null
  readonly rows: number | null
  readonly leftOutRows: number | null
  readonly appId: string | null
  readonly txnVersion: number | null
  /** Other tables that it committed rows to. */
  readonly alsoWrote?: readonly string[]
}

export interface TableStatus {
  readonly name: string
  readonly id: string | null
  readonly version: number | null
  readonly rows: number | null
  readonly distinct: number | null
  readonly duplicates: number | null
  /** Live files. */
  readonly files: number | null
  /** Data files in the folder that no version names. */
  readonly orphans: number | null
  /** The version for which rows and distinct are true. */
  readonly countsVersion: number | null
  /** Why it cannot be read. */
  readonly error: StatusError | null
}

export interface StatusError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | null
  readonly condition: string | null
}
