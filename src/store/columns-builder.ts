/**
 * Builds columns value by value: one appender a column, each with its own growing buffer in the layout of columns.ts, so that
 * a row costs a few stores and no objects. Every appender must have got one value a row when `finish` is called.
 */
import { StreamtopError } from '../errors.js'
import { type Columns, halvesOf, MAX_BYTES, tooLong, type Vector } from './columns.js'
import { type Column, columnIndex, type Schema } from './schema.js'

/** Grows a batch of columns. Not to be used again after `finish`. */
export class ColumnsBuilder {
  readonly appenders: readonly ColumnAppender[]

  /** `capacity`: how many rows fit before a buffer grows. */
  constructor(
    readonly schema: Schema,
    capacity = 1024,
  ) {
    this.appenders = schema.columns.map((column) => new ColumnAppender(column, Math.max(1, capacity)))
  }

  /** The appender of a column, by name in any case or by its place. */
  appender(column: string | number): ColumnAppender {
    const found = this.appenders[typeof column === 'number' ? column : columnIndex(this.schema, column)]
    if (!found) throw new StreamtopError('internal', `there is no column ${column}`)
    return found
  }

  /** The same appends by the column's place, for callers that keep no appenders. */
  appendInteger(column: number, value: number): void {
    this.appender(column).appendInteger(value)
  }
  appendDays(column: number, days: number): void {
    this.appender(column).appendDays(days)
  }
  appendLong(column: number, value: bigint | number): void {
    this.appender(column).appendLong(value)
  }
  appendTimestamp(column: number, micros: bigint | number): void {
    this.appender(column).appendTimestamp(micros)
  }
  appendDecimal(column: number, unscaled: bigint | number): void {
    this.appender(column).appendDecimal(unscaled)
  }
  appendDouble(column: number, value: number): void {
    this.appender(column).appendDouble(value)
  }
  appendBoolean(column: number, value: boolean): void {
    this.appender(column).appendBoolean(value)
  }
  appendString(column: number, text: string): void {
    this.appender(column).appendString(text)
  }
  appendBytes(column: number, value: Uint8Array): void {
    this.appender(column).appendBytes(value)
  }
  appendNull(column: number): void {
    this.appender(column).appendNull()
  }

  /** Rows appended so far, as the first column has it. */
  get rowCount(): number {
    return this.appenders[0]?.rowCount ?? 0
  }

  /** The rows, without copying them. */
  finish(): Columns {
    const { rowCount } = this
    for (const appender of this.appenders) {
      if (appender.rowCount !== rowCount) {
        throw new StreamtopError('internal', `column ${appender.column.name} got ${appender.rowCount} values in ${rowCount} rows`)
      }
    }
    return { schema: this.schema, rowCount, vectors: this.appenders.map((appender) => appender.finish()) }
  }
}

/**
 * Appends to one column. Which method fits which kind is the caller's to know: integers, dates and booleans are not checked
 * here, because the caller has just parsed them.
 */
export class ColumnAppender {
  rowCount = 0
  private capacity: number
  /** One of these is the column's buffer; the others stay empty, so that each method works on one kind of array. */
  private integers = new Int32Array(0)
  private words = new BigInt64Array(0)
  private halves: Int32Array = new Int32Array(0)
  private doubles = new Float64Array(0)
  private bytes = new Uint8Array(0)
  private offsets = new Int32Array(0)
  private nulls: Uint8Array | null = null
  private byteCount = 0

  constructor(
    readonly column: Column,
    capacity: number,
  ) {
    this.capacity = 0
    this.grow(capacity)
  }

  /** Of byte, short, integer. */
  appendInteger(value: number): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    this.integers[this.rowCount++] = value
  }

  /** Of date: days since 1970-01-01. */
  appendDays(days: number): void {
    this.appendInteger(days)
  }

  /** Of long. A number must be a safe integer. */
  appendLong(value: bigint | number): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    const row = this.rowCount++
    if (typeof value === 'bigint') this.words[row] = value
    else setHalves(this.halves, row * 2, value)
  }

  /** Of timestamp: microseconds since 1970 UTC. A number must be a safe integer. */
  appendTimestamp(micros: bigint | number): void {
    this.appendLong(micros)
  }

  /** Of decimal: the whole number at the column's scale. A number must be a safe integer. */
  appendDecimal(unscaled: bigint | number): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    const row = this.rowCount++
    if (typeof unscaled === 'number') {
      const sign = unscaled < 0 ? -1 : 0
      setHalves(this.halves, row * 4, unscaled)
      this.halves[row * 4 + 2] = sign
      this.halves[row * 4 + 3] = sign
    } else {
      this.words[row * 2] = BigInt.asIntN(64, unscaled)
      this.words[row * 2 + 1] = unscaled >> 64n
    }
  }

  /** Of float and double. */
  appendDouble(value: number): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    this.doubles[this.rowCount++] = value
  }

  appendBoolean(value: boolean): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    this.bytes[this.rowCount++] = value ? 1 : 0
  }

  /** Of string. A half of a surrogate pair alone becomes the replacement character. */
  appendString(text: string): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.reserveBytes(text.length * 3)
    const { bytes } = this
    const start = this.byteCount
    let at = start
    if (text.length <= 48) {
      let i = 0
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code > 127) break
        bytes[at++] = code
      }
      if (i < text.length) at = start + (encoder.encodeInto(text, bytes.subarray(start)).written ?? 0)
    } else {
      at = start + (encoder.encodeInto(text, bytes.subarray(start)).written ?? 0)
    }
    this.byteCount = at
    this.offsets[++this.rowCount] = at
  }

  /** Of binary, or of string when the bytes are known to be UTF-8. */
  appendBytes(value: Uint8Array): void {
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    this.reserveBytes(value.length)
    this.bytes.set(value, this.byteCount)
    this.byteCount += value.length
    this.offsets[++this.rowCount] = this.byteCount
  }

  /** Of every kind. */
  appendNull(): void {
    if (!this.column.nullable) throw new StreamtopError('bad-value', `column ${this.column.name} is null in row ${this.rowCount} and may not be`)
    if (this.rowCount === this.capacity) this.grow(this.capacity * 2)
    this.nulls ??= new Uint8Array(this.capacity)
    this.nulls[this.rowCount++] = 1
    if (this.offsets.length > 0) this.offsets[this.rowCount] = this.byteCount
  }

  /** The column's rows as a vector, without copying. */
  finish(): Vector {
    const { column, rowCount } = this
    const nulls = this.nulls ? { nulls: this.nulls.subarray(0, rowCount) } : {}
    switch (column.type.kind) {
      case 'byte':
      case 'short':
      case 'integer':
      case 'date':
        return { column, values: this.integers.subarray(0, rowCount), ...nulls }
      case 'long':
      case 'timestamp':
        return { column, values: this.words.subarray(0, rowCount), ...nulls }
      case 'decimal':
        return { column, values: this.words.subarray(0, rowCount * 2), ...nulls }
      case 'float':
      case 'double':
        return { column, values: this.doubles.subarray(0, rowCount), ...nulls }
      case 'boolean':
        return { column, values: this.bytes.subarray(0, rowCount), ...nulls }
      case 'string':
      case 'binary':
        return { column, values: this.bytes.subarray(0, this.byteCount), offsets: this.offsets.subarray(0, rowCount + 1), ...nulls }
    }
  }

  private grow(capacity: number): void {
    this.capacity = capacity
    if (this.nulls) this.nulls = grown(this.nulls, new Uint8Array(capacity))
    switch (this.column.type.kind) {
      case 'byte':
      case 'short':
      case 'integer':
      case 'date':
        this.integers = grown(this.integers, new Int32Array(capacity))
        break
      case 'long':
      case 'timestamp':
      case 'decimal': {
        const words = new BigInt64Array(capacity * (this.column.type.kind === 'decimal' ? 2 : 1))
        words.set(this.words)
        this.words = words
        this.halves = halvesOf(words)
        break
      }
      case 'float':
      case 'double':
        this.doubles = grown(this.doubles, new Float64Array(capacity))
        break
      case 'boolean':
        this.bytes = grown(this.bytes, new Uint8Array(capacity))
        break
      case 'string':
      case 'binary':
        this.offsets = grown(this.offsets, new Int32Array(capacity + 1))
        break
    }
  }

  private reserveBytes(count: number): void {
    const wanted = this.byteCount + count
    if (wanted <= this.bytes.length) return
    if (wanted > MAX_BYTES) throw tooLong(this.column)
    this.bytes = grown(this.bytes, new Uint8Array(Math.min(MAX_BYTES, Math.max(wanted, this.bytes.length * 2, 4096))))
  }
}

const encoder = new TextEncoder()

/** A safe integer as two 32-bit halves of a 64-bit word: a bigint for it would be the dearest part of a row. */
function setHalves(halves: Int32Array, at: number, value: number): void {
  const high = Math.floor(value / 4294967296)
  halves[at] = value - high * 4294967296
  halves[at + 1] = high
}

function grown<T extends Int32Array | Float64Array | Uint8Array>(from: T, into: T): T {
  into.set(from)
  return into
}
