/**
 * How many offsets of a topic a batch takes where nobody has said (`maxOffsetsPerTrigger`). Spark takes all there is, for it hands
 * records on one at a time. Here a batch is whole in memory, and one that was logged and does not fit into it could never run again:
 * no start would get past it.
 */
import type { RecordBatch } from '../topic/topic.js'

/** Measured with orders of 200 bytes: a process that takes 20,000 of them at a time stays at 220 MB, one that takes 50,000 needs 260. */
const BATCH_BYTES = 7_500_000
/** What a record costs beside its key and value. */
const RECORD_BYTES = 100
/** Until a batch has told how large its records are. */
const FIRST_OFFSETS = 10_000

export class BatchLimit {
  #offsets = FIRST_OFFSETS

  /** Of the next batch, all partitions together: at least 1. */
  get offsets(): number {
    return this.#offsets
  }

  /** Learns from the records of a batch. */
  saw(batches: readonly RecordBatch[]): void {
    let bytes = 0
    let count = 0
    for (const { rowCount, keys, values } of batches) {
      count += rowCount
      for (const key of keys) bytes += key?.length ?? 0
      for (const value of values) bytes += value?.length ?? 0
    }
    if (count > 0) this.#offsets = Math.max(1, Math.floor(BATCH_BYTES / (bytes / count + RECORD_BYTES)))
  }
}
