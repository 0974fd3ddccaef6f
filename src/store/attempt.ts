/** An attempt of a batch, as the ledger and each version's commitInfo name it. */

/** An attempt of a batch: who runs which range. Written into `commitInfo` of each version too, as `streamtop`. */
export interface Attempt {
  readonly query: string
  readonly queryId: string
  readonly batchId: number
  /** From 1. */
  readonly attempt: number
  /** The source's offsets as they stand in the checkpoint; the start of batch 0 is null. */
  readonly rangeStart: string | null
  readonly rangeEnd: string
  readonly idempotent: boolean
}

export type WriteOutcome = 'committed' | 'already-committed' | 'unchanged'
