/** A topic's records as rows, with the columns that Spark's Kafka source gives but headers (formats page §3.4). */
import { type ColumnAppender, ColumnsBuilder } from '../store/columns-builder.js'
import type { Columns } from '../store/columns.js'
import { defineSchema } from '../store/schema.js'
import type { RecordBatch } from '../topic/topic.js'

export const recordSchema = defineSchema({
  key: 'binary',
  value: 'binary',
  topic: 'string',
  partition: 'integer',
  offset: 'long',
  timestamp: 'timestamp',
})

/** One row a record, in the order of the batches. */
export function recordsAsRows(batches: readonly RecordBatch[], topic: string): Columns {
  const builder = new ColumnsBuilder(recordSchema)
  const [key, value, name, partition, offset, timestamp] = recordSchema.columns.map((column) => builder.appender(column.name)) as [
    ColumnAppender,
    ColumnAppender,
    ColumnAppender,
    ColumnAppender,
    ColumnAppender,
    ColumnAppender,
  ]
  for (const batch of batches) {
    for (let row = 0; row < batch.rowCount; row++) {
      appendBytesOrNull(key, batch.keys[row] ?? null)
      appendBytesOrNull(value, batch.values[row] ?? null)
      name.appendString(topic)
      partition.appendInteger(batch.partition)
      offset.appendLong(batch.offsets[row] ?? 0n)
      timestamp.appendTimestamp(BigInt(batch.timestampsMs[row] ?? 0) * 1_000n)
    }
  }
  return builder.finish()
}

function appendBytesOrNull(appender: ColumnAppender, bytes: Uint8Array | null): void {
  if (bytes === null) appender.appendNull()
  else appender.appendBytes(bytes)
}
