/**
 * The primitive types of Kafka's protocol, to read and to write (Kafka protocol guide, "Protocol Primitive Types"). A reader never
 * goes past its bytes: what is cut short is a RangeError, never a wrong value.
 */

export class ByteReader {
  #at: number
  readonly #view: DataView

  constructor(
    readonly bytes: Uint8Array,
    start = 0,
    readonly end = bytes.length,
  ) {
    this.#at = start
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get position(): number {
    return this.#at
  }

  get remaining(): number {
    return this.end - this.#at
  }

  /** Moves on by so many bytes and gives where they begin. */
  skip(count: number): number {
    const start = this.#at
    if (count < 0 || count > this.end - start) throw new RangeError(`${count} bytes are wanted at ${start}, and it ends at ${this.end}`)
    this.#at = start + count
    return start
  }

  int8(): number {
    return this.#view.getInt8(this.skip(1))
  }

  int16(): number {
    return this.#view.getInt16(this.skip(2))
  }

  int32(): number {
    return this.#view.getInt32(this.skip(4))
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4))
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.skip(8))
  }

  /** A part of the same memory. */
  take(count: number): Uint8Array {
    const start = this.skip(count)
    return this.bytes.subarray(start, start + count)
  }

  /** Seven bits a byte, lowest first: at most 32 bits. */
  unsignedVarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.skip(1)] as number
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw new RangeError('a varint has more than 5 bytes')
  }

  /** ZigZag: 0, -1, 1, -2, … */
  varint(): number {
    const value = this.unsignedVarint()
    return (value >>> 1) ^ -(value & 1)
  }

  /** ZigZag, 64 bits, as a number: exact up to 2^53, which a time in milliseconds stays far below. */
  varlong(): number {
    // Nearly all are short: three bytes are a quarter of an hour between two records.
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.bytes[this.skip(1)] as number
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1)
    }
    let value = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.skip(1)] as number
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)))
    }
    throw new RangeError('a varlong has more than 10 bytes')
  }

  string(): string {
    const length = this.int16()
    if (length < 0) throw new RangeError('a text is null')
    return text(this.take(length))
  }

  nullableString(): string | null {
    const length = this.int16()
    return length < 0 ? null : text(this.take(length))
  }

  compactString(): string | null {
    const length = this.unsignedVarint()
    return length === 0 ? null : text(this.take(length - 1))
  }

  /** An array of a fixed-encoding version; null reads as empty. */
  array<T>(item: () => T): T[] {
    return this.#items(this.int32(), item)
  }

  compactArray<T>(item: () => T): T[] {
    return this.#items(this.unsignedVarint() - 1, item)
  }

  /** What a newer peer may have added at the end of a struct is passed over. */
  taggedFields(): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      this.unsignedVarint()
      this.skip(this.unsignedVarint())
    }
  }

  #items<T>(count: number, item: () => T): T[] {
    // An item has a byte at least: a count that cannot be is not worth the memory.
    if (count > this.remaining) throw new RangeError(`an array of ${count} is cut short`)
    const items: T[] = []
    for (let index = 0; index < count; index++) items.push(item())
    return items
  }
}

export class ByteWriter {
  #bytes = Buffer.alloc(256)
  #length = 0

  int8(value: number): this {
    this.#bytes.writeInt8(value, this.#room(1))
    return this
  }

  int16(value: number): this {
    this.#bytes.writeInt16BE(value, this.#room(2))
    return this
  }

  int32(value: number): this {
    this.#bytes.writeInt32BE(value, this.#room(4))
    return this
  }

  int64(value: bigint): this {
    this.#bytes.writeBigInt64BE(value, this.#room(8))
    return this
  }

  unsignedVarint(value: number): this {
    let left = value
    for (; left >= 0x80; left >>>= 7) this.#bytes.writeUInt8((left & 0x7f) | 0x80, this.#room(1))
    this.#bytes.writeUInt8(left, this.#room(1))
    return this
  }

  string(value: string): this {
    const bytes = Buffer.from(value, 'utf8')
    return this.int16(bytes.length).raw(bytes)
  }

  compactString(value: string): this {
    const bytes = Buffer.from(value, 'utf8')
    return this.unsignedVarint(bytes.length + 1).raw(bytes)
  }

  raw(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#room(bytes.length))
    return this
  }

  array<T>(items: readonly T[], write: (item: T) => void): this {
    this.int32(items.length)
    for (const item of items) write(item)
    return this
  }

  compactArray<T>(items: readonly T[], write: (item: T) => void): this {
    this.unsignedVarint(items.length + 1)
    for (const item of items) write(item)
    return this
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Makes room for so many bytes and gives where they go. */
  #room(count: number): number {
    const start = this.#length
    if (start + count > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(start + count, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, start)
      this.#bytes = larger
    }
    this.#length = start + count
    return start
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
