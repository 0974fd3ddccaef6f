/**
 * Kafka's record batches, format version 2, from the bytes of a Fetch answer to columns (Kafka documentation, "Record Batch").
 * Pure: codecs are handed in.
 *
 * What is done right here: each batch is checked by its CRC-32C before anything in it is believed; records of aborted transactions
 * and control records are left out; a batch in which compaction left holes, or nothing at all, still moves the position to behind
 * its last offset; a batch that is cut at the end of the answer is another answer's.
 */
import { ByteReader } from './kafka-bytes.js'
import { crc32c } from './crc-32c.js'
import type { RecordBatch } from './topic.js'

/** A transaction of which no record is to be delivered. */
export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: bigint
}

export interface DecodeRequest {
  readonly partition: number
  /** Records below `start` or from `end` on are left out: an answer begins with the whole batch that holds the offset asked for. */
  readonly start: bigint
  readonly end: bigint
  /** As the broker lists them; none when uncommitted records are wanted. */
  readonly aborted: readonly AbortedTransaction[]
  /** The codec of a number from 1 to 7, as it stands in a batch's attributes; may throw of the batch with that first offset. */
  readonly codec: (number: number, offset: bigint) => Decompress
}

/** Undoes a compression; throws what it likes when the bytes are not its own. */
export type Decompress = (bytes: Uint8Array) => Uint8Array

export interface DecodedRecords extends RecordBatch {
  /** The next offset to ask for: behind the last whole batch, or `start` when there is none. */
  readonly position: bigint
}

/** Bytes that are not what Kafka writes: damaged on the way or on the broker's disk, or of a format that is not read. */
export class RecordBatchError extends Error {
  override readonly name = 'RecordBatchError'

  constructor(
    /** The first offset of the batch. */
    readonly offset: bigint,
    readonly what: string,
  ) {
    super(`the record batch at offset ${offset} ${what}`)
  }
}

/**
 * Decodes every whole batch up to the end of the bytes or of the range. Keys and values are parts of the same memory where a batch
 * is not compressed.
 * @throws RecordBatchError
 */
export function decodeRecordBatches(bytes: Uint8Array, request: DecodeRequest): DecodedRecords {
  const rows = new Rows(request.start, request.end)
  const isAborted = abortedProducers(request.aborted)
  let position = request.start
  for (const header of headersOf(bytes)) {
    if (header.baseOffset >= request.end) {
      // Everything between is a hole: nothing that is asked for comes after it.
      position = request.end
      break
    }
    checkSum(bytes, header)
    if (isAborted(header, bytes) || header.isControl || header.lastOffset < request.start) {
      position = later(position, header.lastOffset + 1n)
      continue
    }
    readBatch(bytes, header, request.codec, rows)
    position = later(position, header.lastOffset + 1n)
  }
  return { ...rows.finish(request.partition), position }
}

/** The numbers of the codecs in the whole batches of an answer, so that they can be loaded before it is decoded. */
export function codecsOf(bytes: Uint8Array): Set<number> {
  const codecs = new Set<number>()
  for (const header of headersOf(bytes)) if (header.codec !== 0) codecs.add(header.codec)
  return codecs
}

interface BatchHeader {
  /** Where the batch begins and ends in the bytes. */
  readonly from: number
  readonly to: number
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  readonly crc: number
  readonly codec: number
  /** The time of all its records, when the broker stamped them; else null. */
  readonly appendTimeMs: number | null
  readonly baseTimeMs: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly producerId: bigint
  readonly recordCount: number
}

/** `baseOffset` and `batchLength`, which counts what follows it. */
const LENGTH_END = 12
const MAGIC_AT = 16
const CRC_AT = 17
const ATTRIBUTES_AT = 21
const HEADER_BYTES = 61

function* headersOf(bytes: Uint8Array): Generator<BatchHeader> {
  for (let from = 0; bytes.length - from >= LENGTH_END; ) {
    const reader = new ByteReader(bytes, from)
    const baseOffset = reader.int64()
    const batchBytes = reader.int32()
    const to = from + LENGTH_END + batchBytes
    // The broker cuts an answer at the size that was asked for, anywhere.
    if (batchBytes > bytes.length - from - LENGTH_END || bytes.length - from <= MAGIC_AT) return
    const magic = bytes[from + MAGIC_AT] as number
    if (magic < 2) throw new RecordBatchError(baseOffset, `is of message format ${magic}, which Kafka wrote before 0.11 and streamtop does not read`)
    if (magic > 2) throw new RecordBatchError(baseOffset, `is of message format ${magic}, which streamtop does not know`)
    if (to - from < HEADER_BYTES) throw new RecordBatchError(baseOffset, `has ${batchBytes} bytes, too few for its header`)
    yield readHeader(bytes, from, to, baseOffset)
    from = to
  }
}

function readHeader(bytes: Uint8Array, from: number, to: number, baseOffset: bigint): BatchHeader {
  const reader = new ByteReader(bytes, from + CRC_AT, to)
  const crc = reader.uint32()
  const attributes = reader.int16()
  const lastOffsetDelta = reader.int32()
  const baseTimeMs = Number(reader.int64())
  const greatestTimeMs = Number(reader.int64())
  const producerId = reader.int64()
  reader.skip(2 + 4)
  const recordCount = reader.int32()
  return {
    from,
    to,
    baseOffset,
    lastOffset: baseOffset + BigInt(lastOffsetDelta),
    crc,
    codec: attributes & 0b111,
    appendTimeMs: attributes & 0b1000 ? greatestTimeMs : null,
    baseTimeMs,
    isTransactional: (attributes & 0b1_0000) !== 0,
    isControl: (attributes & 0b10_0000) !== 0,
    producerId,
    recordCount,
  }
}

function checkSum(bytes: Uint8Array, header: BatchHeader): void {
  const sum = crc32c(bytes, header.from + ATTRIBUTES_AT, header.to)
  if (sum !== header.crc) throw new RecordBatchError(header.baseOffset, 'is damaged: its checksum does not fit')
  if (header.lastOffset < header.baseOffset || header.recordCount < 0) throw new RecordBatchError(header.baseOffset, 'contradicts itself')
}

/**
 * Whether a batch belongs to a transaction that was aborted; to be asked of each batch in order. A producer is among the aborted
 * from the first offset of its transaction to its abort marker, and may be again later.
 */
function abortedProducers(transactions: readonly AbortedTransaction[]): (header: BatchHeader, bytes: Uint8Array) => boolean {
  const waiting = [...transactions].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  const producers = new Set<bigint>()
  return (header, bytes) => {
    while (waiting[0] && waiting[0].firstOffset <= header.lastOffset) producers.add((waiting.shift() as AbortedTransaction).producerId)
    if (!header.isTransactional || !producers.has(header.producerId)) return false
    if (!header.isControl) return true
    if (isAbortMarker(bytes, header)) producers.delete(header.producerId)
    return false
  }
}

const ABORT = 0

/** A control batch has one record, whose key is a version and a type, 16 bits each; it is never compressed. */
function isAbortMarker(bytes: Uint8Array, header: BatchHeader): boolean {
  if (header.recordCount === 0) return false
  return guarded(header, () => {
    const reader = new ByteReader(bytes, header.from + HEADER_BYTES, header.to)
    reader.varint()
    reader.int8()
    reader.varlong()
    reader.varint()
    const key = new ByteReader(reader.take(reader.varint()))
    key.int16()
    return key.int16() === ABORT
  })
}

function readBatch(bytes: Uint8Array, header: BatchHeader, codec: DecodeRequest['codec'], rows: Rows): void {
  const body = bytes.subarray(header.from + HEADER_BYTES, header.to)
  let records = body
  if (header.codec !== 0) {
    const decompress = codec(header.codec, header.baseOffset)
    try {
      records = decompress(body)
    } catch (error) {
      throw new RecordBatchError(header.baseOffset, `cannot be decompressed (${error instanceof Error ? error.message : String(error)})`)
    }
  }
  guarded(header, () => {
    // A record has seven bytes at least: a count that cannot be is not worth the memory.
    if (header.recordCount * 7 > records.length) throw new RangeError('fewer records than it says')
    rows.makeRoom(header.recordCount)
    const reader = new ByteReader(records)
    for (let left = header.recordCount; left > 0; left--) readRecord(reader, header, rows)
    if (reader.remaining > 0) throw new RangeError('more bytes than records')
  })
}

function readRecord(reader: ByteReader, header: BatchHeader, rows: Rows): void {
  const size = reader.varint()
  const end = reader.position + size
  if (size < 0 || end > reader.end) throw new RangeError('a record is cut short')
  reader.int8()
  const timeDelta = reader.varlong()
  const offsetDelta = reader.varint()
  const key = readBytes(reader)
  const value = readBytes(reader)
  // Headers are not delivered.
  if (reader.position > end) throw new RangeError('a record is longer than it says')
  reader.skip(end - reader.position)
  rows.add(header.baseOffset + BigInt(offsetDelta), header.appendTimeMs ?? header.baseTimeMs + timeDelta, key, value)
}

function readBytes(reader: ByteReader): Uint8Array | null {
  const length = reader.varint()
  return length < 0 ? null : reader.take(length)
}

/** What a batch with the right checksum cannot be is said of the batch. */
function guarded<T>(header: BatchHeader, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw new RecordBatchError(header.baseOffset, `is not a record batch (${error.message})`)
    throw error
  }
}

/** Grows as batches come. */
class Rows {
  #offsets = new BigInt64Array(0)
  #timestampsMs = new Float64Array(0)
  readonly #keys: (Uint8Array | null)[] = []
  readonly #values: (Uint8Array | null)[] = []

  constructor(
    private readonly start: bigint,
    private readonly end: bigint,
  ) {}

  makeRoom(count: number): void {
    const wanted = this.#keys.length + count
    if (wanted <= this.#offsets.length) return
    const size = Math.max(wanted, this.#offsets.length * 2)
    const [offsets, timestampsMs] = [new BigInt64Array(size), new Float64Array(size)]
    offsets.set(this.#offsets)
    timestampsMs.set(this.#timestampsMs)
    this.#offsets = offsets
    this.#timestampsMs = timestampsMs
  }

  add(offset: bigint, timestampMs: number, key: Uint8Array | null, value: Uint8Array | null): void {
    if (offset < this.start || offset >= this.end) return
    const row = this.#keys.length
    this.#offsets[row] = offset
    this.#timestampsMs[row] = timestampMs
    this.#keys.push(key)
    this.#values.push(value)
  }

  finish(partition: number): RecordBatch {
    const rowCount = this.#keys.length
    return {
      partition,
      rowCount,
      offsets: this.#offsets.subarray(0, rowCount),
      timestampsMs: this.#timestampsMs.subarray(0, rowCount),
      keys: this.#keys,
      values: this.#values,
    }
  }
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
