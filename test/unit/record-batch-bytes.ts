/** Record batches made by hand, byte by byte, for the decoder's tests. */
import { crc32c } from '../../src/topic/crc-32c.js'

export interface HandMadeRecord {
  readonly offsetDelta: number
  readonly timeDelta?: number
  readonly key?: string | Buffer | null
  readonly value?: string | Buffer | null
  readonly headers?: readonly (readonly [string, string])[]
}

export interface HandMadeBatch {
  readonly baseOffset: bigint
  readonly records: readonly HandMadeRecord[]
  readonly lastOffsetDelta?: number
  readonly attributes?: number
  readonly baseTimeMs?: bigint
  readonly greatestTimeMs?: bigint
  readonly producerId?: bigint
  readonly compress?: (bytes: Buffer) => Buffer
  readonly magic?: number
}

export const TRANSACTIONAL = 0b1_0000
export const CONTROL = 0b10_0000
export const APPEND_TIME = 0b1000

/** A batch with a checksum that fits. */
export function batchBytes(batch: HandMadeBatch): Buffer {
  const { baseOffset, records, attributes = 0, baseTimeMs = 1_000n, greatestTimeMs = 2_000n, producerId = -1n, compress = (bytes) => bytes, magic = 2 } = batch
  const body = compress(Buffer.concat(records.map(recordBytes)))
  const bytes = Buffer.alloc(61 + body.length)
  bytes.writeBigInt64BE(baseOffset, 0)
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt32BE(7, 12)
  bytes.writeInt8(magic, 16)
  bytes.writeInt16BE(attributes, 21)
  bytes.writeInt32BE(batch.lastOffsetDelta ?? records.at(-1)?.offsetDelta ?? 0, 23)
  bytes.writeBigInt64BE(baseTimeMs, 27)
  bytes.writeBigInt64BE(greatestTimeMs, 35)
  bytes.writeBigInt64BE(producerId, 43)
  bytes.writeInt16BE(0, 51)
  bytes.writeInt32BE(-1, 53)
  bytes.writeInt32BE(records.length, 57)
  body.copy(bytes, 61)
  return sealed(bytes)
}

/** The same bytes with the checksum that they have now. */
export function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes, 21), 17)
  return bytes
}

/** The batch that ends a transaction. */
export function markerBytes(baseOffset: bigint, producerId: bigint, how: 'abort' | 'commit'): Buffer {
  const key = Buffer.from([0, 0, 0, how === 'abort' ? 0 : 1])
  return batchBytes({ baseOffset, producerId, attributes: TRANSACTIONAL | CONTROL, records: [{ offsetDelta: 0, key, value: Buffer.alloc(6) }] })
}

function recordBytes({ offsetDelta, timeDelta = 0, key = null, value = null, headers = [] }: HandMadeRecord): Buffer {
  const fields = [Buffer.from([0]), varint(timeDelta), varint(offsetDelta), sized(key), sized(value), varint(headers.length)]
  for (const [name, text] of headers) fields.push(sized(name), sized(text))
  const body = Buffer.concat(fields)
  return Buffer.concat([varint(body.length), body])
}

function sized(bytes: string | Buffer | null): Buffer {
  if (bytes === null) return varint(-1)
  const content = Buffer.from(bytes as string)
  return Buffer.concat([varint(content.length), content])
}

/** ZigZag and seven bits a byte, for any whole number. */
export function varint(value: number): Buffer {
  if (value >= 0 && value < 64) return Buffer.from([value * 2])
  let left = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
  const bytes: number[] = []
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80)
  bytes.push(Number(left))
  return Buffer.from(bytes)
}
