import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter } from '../../src/topic/kafka-bytes.js'
import { fetchRequest, listOffsetsRequest, metadataRequest } from '../../src/topic/kafka-requests.js'

/** An answer as a broker would write it. */
const METADATA = new ByteWriter()
  .unsignedVarint(0)
  .int32(0)
  .compactArray([1], () => {})
  .int32(1)
  .compactString('host')
  .int32(9092)
  .unsignedVarint(0)
  .unsignedVarint(0)
  .compactString('cluster')
  .int32(1)
  .compactArray([1], () => {})
  .int16(0)
  .compactString('orders')
  .raw(Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'))
  .int8(0)
  .compactArray([1], () => {})
  .int16(0)
  .int32(5)
  .int32(1)
  .int32(0)
  .compactArray([], () => {})
  .compactArray([], () => {})
  .compactArray([], () => {})
  .unsignedVarint(0)
  .int32(0)
  .unsignedVarint(0)
  .unsignedVarint(0)
  .finish()

const FETCHED = new ByteWriter()
  .int32(0)
  .int16(0)
  .int32(0)
  .array([1], () => {})
  .string('orders')
  .array([1, 2], () => {})
  .int32(0)
  .int16(1)
  .int64(-1n)
  .int64(-1n)
  .int64(-1n)
  .int32(-1)
  .int32(-1)
  .int32(-1)
  .int32(1)
  .int16(0)
  .int64(2n ** 62n)
  .int64(7n)
  .int64(0n)
  .array([1], () => {})
  .int64(42n)
  .int64(3n)
  .int32(-1)
  .int32(3)
  .raw(Buffer.from('abc'))
  .finish()

const LISTED = new ByteWriter()
  .int32(0)
  .array([1], () => {})
  .string('orders')
  .array([1], () => {})
  .int32(0)
  .int16(0)
  .int64(-1n)
  .int64(9n)
  .finish()

describe('answers', () => {
  it('where a topic is, and its id as Kafka prints it', () => {
    expect(metadataRequest('orders').decode(METADATA)).toEqual({
      nodes: [{ id: 1, host: 'host', port: 9092 }],
      clusterId: 'cluster',
      errorCode: 0,
      topicId: 'AAECAwQFBgcICQoLDA0ODw',
      partitions: [{ partition: 5, leader: 1, errorCode: 0 }],
    })
  })

  it('the error of one partition does not take the records of another', () => {
    const { partitions } = fetchRequest('orders', [], 'read_committed', { waitMs: 0, bytes: 1, bytesOfPartition: 1 }).decode(FETCHED)
    expect(partitions).toMatchObject([
      { partition: 0, errorCode: 1, records: new Uint8Array(0) },
      { partition: 1, errorCode: 0, highWatermark: 2n ** 62n, lastStableOffset: 7n, aborted: [{ producerId: 42n, firstOffset: 3n }] },
    ])
    expect(Buffer.from(partitions[1]?.records ?? []).toString()).toBe('abc')
  })

  it.each([
    ['Metadata', metadataRequest('orders').decode, METADATA],
    ['Fetch', fetchRequest('orders', [], 'read_committed', { waitMs: 0, bytes: 1, bytesOfPartition: 1 }).decode, FETCHED],
    ['ListOffsets', listOffsetsRequest('orders', [0], 'latest', 'read_committed').decode, LISTED],
  ] as const)('%s cut at every byte is an error, never half an answer', (_, decode, bytes) => {
    // The last byte of Metadata is an empty list of what newer brokers add.
    const needed = bytes === METADATA ? bytes.length - 1 : bytes.length
    for (let length = 0; length < needed; length++) expect(() => decode(bytes.subarray(0, length)), `cut at ${length}`).toThrow(RangeError)
    expect(() => decode(bytes)).not.toThrow()
  })
})

describe('numbers', () => {
  it.each([0, -1, 1, 63, -64, 64, 300, -300, 2 ** 31 - 1, -(2 ** 31)])('varint %i', (value) => {
    const zigzag = ((value << 1) ^ (value >> 31)) >>> 0
    const bytes = new ByteWriter().unsignedVarint(zigzag).finish()
    expect(new ByteReader(bytes).varint()).toBe(value)
    expect(new ByteReader(bytes).varlong()).toBe(value)
  })

  it('too long ones are refused', () => {
    expect(() => new ByteReader(Buffer.alloc(11, 0xff)).varlong()).toThrow('more than 10 bytes')
    expect(() => new ByteReader(Buffer.alloc(11, 0xff)).unsignedVarint()).toThrow('more than 5 bytes')
  })
})
