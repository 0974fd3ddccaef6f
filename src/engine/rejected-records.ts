/** Records that a parser rejects: as rows of the table that keeps them, in a sentence, and as the error of a query that has no such table. */
import { StreamtopError } from '../errors.js'
import { ColumnsBuilder } from '../store/columns-builder.js'
import type { Columns } from '../store/columns.js'
import { defineSchema } from '../store/schema.js'
import type { RejectedRecord } from './definition.js'

/** The columns of a table of rejected records: where the record lies, its bytes, and why it is no row. */
export const rejectedSchema = defineSchema({
  topic: 'string',
  partition: 'int',
  offset: 'bigint',
  timestamp: 'timestamp',
  key: 'binary',
  value: 'binary',
  reason: 'string',
})

/** One row a record, in their order. A time that no TIMESTAMP holds is null. */
export function rejectedAsRows(records: readonly RejectedRecord[], topic: string): Columns {
  const builder = new ColumnsBuilder(rejectedSchema, records.length)
  for (const { partition, offset, timestampMs, key, value, reason } of records) {
    builder.appendString(0, topic)
    builder.appendInteger(1, partition)
    builder.appendLong(2, offset)
    if (Number.isSafeInteger(timestampMs * 1_000)) builder.appendTimestamp(3, timestampMs * 1_000)
    else builder.appendNull(3)
    if (key === null) builder.appendNull(4)
    else builder.appendBytes(4, key)
    if (value === null) builder.appendNull(5)
    else builder.appendBytes(5, value)
    builder.appendString(6, reason)
  }
  return builder.finish()
}

const REASONS_TOLD = 3

/** What to tell of a batch's rejected records: how many, for which reasons most, and where they are. */
export function rejectedNote(records: readonly RejectedRecord[], table: string): string {
  const counts = new Map<string, number>()
  for (const { reason } of records) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const most = [...counts].sort((left, right) => right[1] - left[1]).slice(0, REASONS_TOLD)
  const others = counts.size - most.length
  const told = most.map(([reason, count]) => (counts.size > 1 ? `${reason} (${count})` : reason)).join('; ')
  const more = others === 0 ? '' : `; and ${others} more ${others === 1 ? 'reason' : 'reasons'}`
  return `${records.length === 1 ? '1 record was' : `${records.length} records were`} rejected: ${told}${more}. ${records.length === 1 ? 'It is' : 'They are'} in ${table}`
}

/** The error of a query that has nowhere to put records that are no rows. */
export function badRecord(query: string, topic: string, record: RejectedRecord, count: number): StreamtopError {
  const more = count > 1 ? ` (and ${count - 1} more in this batch)` : ''
  return new StreamtopError(
    'bad-record',
    `topic ${topic}, partition ${record.partition}, offset ${record.offset} is not a record that ${query} can read: ${record.reason}${more}`,
    {
      hint: `nothing of this batch was written. A query with the sink append(TABLE) puts such records into TABLE_rejected; or start after it with a new checkpoint: "streamtop reset ${query}", then "run ${query} --option startingOffsets={\\"${topic}\\":{\\"${record.partition}\\":${record.offset + 1n}}}"`,
      condition: 'MALFORMED_RECORD_IN_PARSING',
    },
  )
}
