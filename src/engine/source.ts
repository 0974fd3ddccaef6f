/**
 * A source as the loop sees it. Offsets are the texts that stand in the checkpoint; only the source reads anything into them.
 */
import type { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { RejectedRecord } from './definition.js'

export interface Source {
  /** As Spark's progress describes it. */
  readonly description: string
  /** Whether the topic or table is there at all. */
  isThere(): boolean | Promise<boolean>
  /**
   * Called once a life, before anything is planned: checks that the checkpoint's offsets belong to this source.
   * @param isNew whether the checkpoint has no batch yet
   */
  begin(isNew: boolean): Promise<void>
  /** Where batch 0 starts, as text, or null when a source has no offset for it. */
  initialOffset(): Promise<string | null>
  /** Fixes how far this run goes: what arrives later is another run's (Spark's availableNow). */
  fixEnd(): Promise<void>
  /**
   * Where the next batch would end.
   * @param start the end of the last batch, null before batch 0
   * @returns null when nothing is new
   */
  plan(start: string | null): Promise<string | null>
  /** The rows after start, up to and including end; the same at every call. */
  read(start: string | null, end: string): Promise<SourceRows>
  /** How far it could go now, as text; null when unknown. For progress. */
  latestOffset(): string | null
  /** The error for a source that is not there. */
  missing(): StreamtopError
  /** Resolves when there may be something new past an offset, or when the signal fires. */
  waitForMore(start: string | null, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface SourceRows {
  readonly columns: Columns
  /** Records that are no rows, in their order. */
  readonly rejected?: readonly RejectedRecord[]
  /** Rows before the filters; rejected records are counted too. */
  readonly inputRowCount: number
  /** What was passed over on purpose, as sentences to be said. */
  readonly notes: readonly string[]
  /** Offsets of the range that were gone; none unless given. */
  readonly lostOffsets?: number
}
