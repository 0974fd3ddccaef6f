/**
 * Records of the topic `orders` to rows of `bronze_orders`.
 *
 * A record whose value is an order, strictly, becomes a row; any other is handed back with the reason, so none is lost and none
 * stops anything. Amounts are read digit by digit, so they are exact; a value that the column cannot hold is never rounded.
 */
import type { ParsedRecords, RecordParser, RejectedRecord } from '../engine/definition.js'
import { daysFromCivil, daysInMonth } from '../store/civil-time.js'
import type { Vector } from '../store/columns.js'
import { tryParseDecimal } from '../store/decimal.js'
import type { Column } from '../store/schema.js'
import { tryParseTimestamp } from '../store/timestamp.js'
import type { RecordBatch } from '../topic/topic.js'
import { decodeText, FIELD_KINDS, findFields, MAX_DEPTH } from './json-fields.js'
import { orderEventsSchema } from './orders-schema.js'

/** The parser of a query that reads orders from a topic. */
export const orderParser: RecordParser = { schema: orderEventsSchema, parse: parseOrders }

/**
 * The rows of all records that are orders, in the order of the records, as `orderEventsSchema`; and the records that are not.
 *
 * An order is a JSON object with `order_id` (a whole number of 32 bits), `customer_id` and `status` (texts or null), `amount` (a
 * number that decimal(10,2) holds, or null) and `event_time` (a timestamp as text, without a zone in UTC). A number may be in
 * quotes, unknown members are passed over, and of a member that comes twice the last counts.
 */
export function parseOrders(batches: readonly RecordBatch[], topicName: string): ParsedRecords {
  const rows = new OrderRows(batches.reduce((sum, batch) => sum + batch.rowCount, 0))
  const rejected: RejectedRecord[] = []
  for (const batch of batches) {
    for (let index = 0; index < batch.rowCount; index++) {
      const value = batch.values[index] ?? null
      const timestampMs = batch.timestampsMs[index] as number
      const offset = batch.offsets[index] as bigint
      const reason = rows.add(value, batch.partition, offset, timestampMs)
      if (reason !== null) rejected.push({ partition: batch.partition, offset, timestampMs, key: batch.keys[index] ?? null, value, reason })
    }
  }
  return { columns: { schema: orderEventsSchema, rowCount: rows.rowCount, vectors: rows.vectors(topicName) }, rejected }
}

/** Digits of an amount; a 32-bit number has as many. */
const PRECISION = 10
const LARGEST_VALUE_BYTES = 1024 * 1024
const FIELD_NAMES = ['order_id', 'customer_id', 'status', 'amount', 'event_time'].map((name) => Buffer.from(name))
// Where each field's kind stands in what `findFields` fills in; its start and end follow.
const ORDER_ID = 0
const CUSTOMER_ID = 3
const STATUS = 6
const AMOUNT = 9
const EVENT_TIME = 12

const REASONS = {
  'not-an-object': 'the value is not a JSON object',
  'not-json': 'the value is not well-formed JSON',
  'not-utf8': 'the value is not UTF-8',
  'too-deep': `the value's JSON is deeper than ${MAX_DEPTH}`,
} as const

/** Grows the columns, one row a time. Timestamps and decimals are written as 32-bit words: a bigint a value would cost more than the parsing. */
class OrderRows {
  rowCount = 0
  private readonly orderIds: Int32Array
  private readonly customerIds: TextColumn
  private readonly statuses: TextColumn
  private readonly amounts: BigInt64Array
  private readonly amountWords: Int32Array
  private amountNulls: Uint8Array | null = null
  private readonly eventTimes: BigInt64Array
  private readonly eventTimeWords: Int32Array
  private readonly partitions: Int32Array
  private readonly offsets: BigInt64Array
  private readonly timestamps: BigInt64Array
  private readonly timestampWords: Int32Array
  private readonly found = new Int32Array(FIELD_NAMES.length * 3)

  constructor(private readonly capacity: number) {
    this.orderIds = new Int32Array(capacity)
    this.customerIds = new TextColumn(capacity)
    this.statuses = new TextColumn(capacity)
    this.amounts = new BigInt64Array(2 * capacity)
    this.amountWords = new Int32Array(this.amounts.buffer)
    this.eventTimes = new BigInt64Array(capacity)
    this.eventTimeWords = new Int32Array(this.eventTimes.buffer)
    this.partitions = new Int32Array(capacity)
    this.offsets = new BigInt64Array(capacity)
    this.timestamps = new BigInt64Array(capacity)
    this.timestampWords = new Int32Array(this.timestamps.buffer)
  }

  /** Adds the row of a record, or gives the reason why there is none. */
  add(value: Uint8Array | null, partition: number, offset: bigint, timestampMs: number): string | null {
    if (value === null) return 'the value is null'
    if (value.length > LARGEST_VALUE_BYTES) return 'the value is over 1 MiB'
    const outcome = findFields(value, FIELD_NAMES, this.found)
    if (outcome !== 'found') return REASONS[outcome]

    const orderId = this.number(value, ORDER_ID, 0)
    if (typeof orderId === 'string') return `order_id ${orderId}`
    if (orderId === null) return 'order_id is missing or null'
    if (orderId !== (orderId | 0)) return 'order_id is out of range'
    const amount = this.number(value, AMOUNT, 2)
    if (typeof amount === 'string') return `amount ${amount}`
    if (!this.isText(CUSTOMER_ID)) return 'customer_id is not a text'
    if (!this.isText(STATUS)) return 'status is not a text'
    const timestampMicros = timestampMs * 1_000
    if (!Number.isSafeInteger(timestampMicros)) return "the record's timestamp is out of range"

    // From here on columns are written; a row that is not finished is overwritten by the next one.
    const row = this.rowCount
    const reason =
      this.writeEventTime(value, row) ?? this.writeText(this.customerIds, value, CUSTOMER_ID, row) ?? this.writeText(this.statuses, value, STATUS, row)
    if (reason !== null) return reason
    this.orderIds[row] = orderId
    this.writeAmount(amount, row)
    this.partitions[row] = partition
    this.offsets[row] = offset
    writeLong(this.timestampWords, 2 * row, timestampMicros)
    this.rowCount = row + 1
    return null
  }

  vectors(topicName: string): Vector[] {
    const topicNames = new TextColumn(this.rowCount)
    const name = Buffer.from(topicName)
    for (let row = 0; row < this.rowCount; row++) topicNames.write(row, name, 0, name.length)
    const parts: readonly Omit<Vector, 'column'>[] = [
      { values: this.orderIds.subarray(0, this.rowCount) },
      this.customerIds.vector(this.rowCount),
      this.statuses.vector(this.rowCount),
      { values: this.amounts.subarray(0, 2 * this.rowCount), ...(this.amountNulls && { nulls: this.amountNulls.subarray(0, this.rowCount) }) },
      { values: this.eventTimes.subarray(0, this.rowCount) },
      topicNames.vector(this.rowCount),
      { values: this.partitions.subarray(0, this.rowCount) },
      { values: this.offsets.subarray(0, this.rowCount) },
      { values: this.timestamps.subarray(0, this.rowCount) },
    ]
    return parts.map((part, position) => ({ column: orderEventsSchema.columns[position] as Column, ...part }))
  }

  private start(field: number): number {
    return this.found[field + 1] as number
  }

  private end(field: number): number {
    return this.found[field + 2] as number
  }

  private isNull(field: number): boolean {
    const kind = this.found[field]
    return kind === FIELD_KINDS.absent || kind === FIELD_KINDS.null
  }

  private isText(field: number): boolean {
    const kind = this.found[field]
    return kind === FIELD_KINDS.string || kind === FIELD_KINDS.escaped || this.isNull(field)
  }

  /** A number, in quotes or not, times 10^scale; null; or what is wrong with it, as the end of a sentence. */
  private number(value: Uint8Array, field: number, scale: number): number | string | null {
    if (this.isNull(field)) return null
    if (this.found[field] === FIELD_KINDS.other) return 'is not a number'
    const plain = plainNumber(value, this.start(field), this.end(field), scale)
    if (plain !== null) return plain
    const unscaled = tryParseDecimal(decodeText(value, this.start(field), this.end(field)), PRECISION, scale)
    if (typeof unscaled === 'bigint') return Number(unscaled)
    // A number that JSON knows and the decimals do not has a thousand digits.
    if (unscaled === 'out-of-range' || (unscaled === 'not-a-number' && this.found[field] === FIELD_KINDS.number)) return 'is out of range'
    if (unscaled === 'not-a-number') return 'is not a number'
    return scale === 0 ? 'is not a whole number' : `has more than ${scale} decimals`
  }

  private writeEventTime(value: Uint8Array, row: number): string | null {
    if (this.isNull(EVENT_TIME)) return 'event_time is missing or null'
    if (!this.isText(EVENT_TIME)) return 'event_time is not a text'
    const seconds = plainTimeSeconds(value, this.start(EVENT_TIME), this.end(EVENT_TIME))
    if (seconds !== null) {
      writeLong(this.eventTimeWords, 2 * row, seconds * 1_000_000)
      return null
    }
    const micros = tryParseTimestamp(decodeText(value, this.start(EVENT_TIME), this.end(EVENT_TIME)))
    if (micros === null) return 'event_time is not a timestamp'
    this.eventTimes[row] = micros
    return null
  }

  private writeText(column: TextColumn, value: Uint8Array, field: number, row: number): string | null {
    if (this.isNull(field)) column.writeNull(row)
    else if (this.found[field] === FIELD_KINDS.string) column.write(row, value, this.start(field), this.end(field))
    else {
      const text = decodeText(value, this.start(field), this.end(field))
      if (LONE_SURROGATE.test(text)) return `${field === STATUS ? 'status' : 'customer_id'} has half of a surrogate pair`
      const bytes = Buffer.from(text)
      column.write(row, bytes, 0, bytes.length)
    }
    return null
  }

  private writeAmount(amount: number | null, row: number): void {
    if (amount === null) {
      this.amountNulls ??= new Uint8Array(this.capacity)
      this.amountNulls[row] = 1
      return
    }
    writeLong(this.amountWords, 4 * row, amount)
    const sign = amount < 0 ? -1 : 0
    this.amountWords[4 * row + 2] = sign
    this.amountWords[4 * row + 3] = sign
  }
}

/** A UTF-8 column that grows. Rows are written in order; the newest may be written again. */
class TextColumn {
  private bytes: Uint8Array
  private readonly ends: Int32Array
  private nulls: Uint8Array | null = null

  constructor(private readonly capacity: number) {
    this.bytes = new Uint8Array(16 * capacity)
    this.ends = new Int32Array(capacity + 1)
  }

  write(row: number, source: Uint8Array, start: number, end: number): void {
    const before = this.ends[row] as number
    const after = before + end - start
    if (after > this.bytes.length) this.grow(after)
    if (end - start > 64) this.bytes.set(source.subarray(start, end), before)
    else for (let at = start, to = before; at < end; at++, to++) this.bytes[to] = source[at] as number
    this.ends[row + 1] = after
    if (this.nulls) this.nulls[row] = 0
  }

  writeNull(row: number): void {
    this.nulls ??= new Uint8Array(this.capacity)
    this.nulls[row] = 1
    this.ends[row + 1] = this.ends[row] as number
  }

  vector(rowCount: number): Omit<Vector, 'column'> {
    const nulls = this.nulls?.subarray(0, rowCount)
    return {
      values: this.bytes.subarray(0, this.ends[rowCount]),
      offsets: this.ends.subarray(0, rowCount + 1),
      ...(nulls?.includes(1) && { nulls }),
    }
  }

  private grow(needed: number): void {
    const bytes = new Uint8Array(Math.max(2 * this.bytes.length, needed))
    bytes.set(this.bytes)
    this.bytes = bytes
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e

/** A number such as `25.50` times 10^scale; null for one that needs a closer look: more than ten digits, more decimals, an exponent. */
function plainNumber(bytes: Uint8Array, start: number, end: number, scale: number): number | null {
  const negative = bytes[start] === MINUS
  const first = negative ? start + 1 : start
  if (end === first || end - first > EXACT_DIGITS) return null
  let decimals = -1
  let unscaled = 0
  for (let at = first; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === POINT && decimals < 0 && at > first && at + 1 < end) decimals = 0
    else if (byte < ZERO || byte > ZERO + 9) return null
    else {
      unscaled = unscaled * 10 + (byte - ZERO)
      if (decimals >= 0) decimals += 1
    }
  }
  if (decimals > scale) return null
  for (let missing = Math.max(0, decimals); missing < scale; missing++) unscaled *= 10
  if (unscaled >= 10 ** PRECISION) return null
  return negative && unscaled !== 0 ? -unscaled : unscaled
}

/** Whole numbers of this many digits are exact as doubles, and so are they times 100 for as long as they are below 10^10. */
const EXACT_DIGITS = 15

/** The seconds since 1970 of a time written exactly as `2026-10-01T09:15:00Z`, in a year from 1900 to 2199; null for any other text. */
function plainTimeSeconds(bytes: Uint8Array, start: number, end: number): number | null {
  if (end - start !== 20 || bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS || bytes[start + 10] !== 0x54) return null
  if (bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a || bytes[start + 19] !== 0x5a) return null
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)
  const month = twoDigits(bytes, start + 5)
  const day = twoDigits(bytes, start + 8)
  const hour = twoDigits(bytes, start + 11)
  const minute = twoDigits(bytes, start + 14)
  const second = twoDigits(bytes, start + 17)
  if (year < 1900 || year >= 2200 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return null
  return daysFromCivil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
}

/** 0 to 99, or -10,000 or less when one of the two is no digit. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - ZERO
  const ones = (bytes[at + 1] as number) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -10_000
}

/** Writes a whole number of up to 53 bits as 64 bits, low word first, as every machine that Node.js is built for here has it. */
function writeLong(words: Int32Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  words[at] = value - high * 2 ** 32
  words[at + 1] = high
}
