/**
 * Everything of a session that opens the workspace: looking at it, and changing it while no query is in the way. It runs in a thread
 * of its own (`workspace-thread.ts`), so that neither a key nor a frame waits for SQLite, and so that the first frame is drawn
 * before SQLite and Parquet are loaded. All arguments and results are plain data.
 */
import type { HistoryLine } from '../observe/table-history.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { Access, QueryInfo, WorkspaceView } from './session-state.js'

export interface OpenRequest {
  /** Absolute path; it need not exist. */
  readonly workspace: string
  /** Absolute path, or null for `streamtop.config.{mjs,js}` in the workspace, if there is one. */
  readonly configFile: string | null
  readonly isReadOnly: boolean
  /** Take over a workspace that another tool made. */
  readonly adopt: boolean
  /** Where topics are; in the workspace unless given. */
  readonly kafka?: KafkaChoice | null
  /** What queries of topic orders read instead, and what is sent to. */
  readonly topic?: string | null
}

/** The topic that is sent to. */
export function topicOf({ topic }: Pick<OpenRequest, 'topic'>): string {
  return topic ?? 'orders'
}

export interface OpenedWorkspace {
  readonly access: Access
  readonly holderPid: number | null
  readonly isFirstStart: boolean
  /** What was found: null for none. */
  readonly configFile: string | null
  readonly queries: readonly QueryInfo[]
}

/** What was sent to the topic. */
export interface Sent {
  readonly records: number
  /** Which of the four parts; null for generated orders. */
  readonly part: number | null
}

export interface TableRows {
  readonly table: string
  readonly version: number
  readonly columns: readonly string[]
  /** Each cell as `show` prints it, not yet safe to print. The newest rows of at most `limit`. */
  readonly rows: ReadonlyArray<readonly string[]>
  readonly rowCount: number
}

export interface WorkspaceService {
  /** First of all, once. Takes the dashboard's lock unless the workspace is only read. @throws bad-config, and what makes it unreadable */
  open(request: OpenRequest): Promise<OpenedWorkspace>
  /** Looks at everything, and closer at one query. */
  look(query: string | null, batchLimit: number): Promise<WorkspaceView>
  rows(table: string, limit: number): Promise<TableRows>
  history(table: string, limit: number): Promise<readonly HistoryLine[]>
  /** Sends one of the four parts; without a number the next one, and after the fourth six generated orders. */
  send(part: number | null): Promise<Sent>
  /** Sends this many generated orders. */
  generate(records: number): Promise<Sent>
  /** Takes the newest commit away and gives the number of its batch. @throws concurrent-query, usage, … */
  replay(query: string): Promise<number>
  /** Removes the checkpoint; false when there is none. */
  reset(query: string): Promise<boolean>
  /** Drops the tables that a query writes, and its checkpoint. */
  drop(query: string): Promise<readonly string[]>
  close(): Promise<void>
}
