/** Where a scenario is played: a workspace with a session on it, and what is found there. */
import type { HistoryLine } from '../observe/table-history.js'
import type { JsonValue } from '../observe/json-rows.js'
import type { Status } from '../observe/status.js'
import type { RunOnce, Session } from '../session/session.js'
import type { OutgoingRecord } from '../topic/topic.js'

export interface Stage {
  /** Does what keys and commands do. */
  readonly session: Session
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** Fires when the play is to end early. */
  readonly signal: AbortSignal
  send(records: readonly OutgoingRecord[]): Promise<void>
  /** Runs a query in a process beside the one that has it: what a second `streamtop run` would do. @throws what it fails with */
  runBeside(query: string, once: RunOnce): Promise<string>
  status(): Promise<Status>
  /** The versions of a table, newest first; null when there is no such table. */
  history(table: string): readonly HistoryLine[] | null
  /** All rows of a table by column; null when there is no such table. */
  rows(table: string): Promise<readonly Readonly<Record<string, JsonValue>>[] | null>
  checkpoint(query: string): StageCheckpoint
  /** Removes a file of a checkpoint. @throws usage when it is not there */
  lose(query: string, file: string): void
  /** Stops what runs and lets the workspace go. */
  close(): Promise<void>
}

export interface StageCheckpoint {
  /** Numbers of the files, ascending. */
  readonly offsets: readonly number[]
  readonly commits: readonly number[]
  readonly metadata: boolean
}
