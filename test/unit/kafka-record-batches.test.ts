import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32c } from '../../src/topic/crc-32c.js'
import { type AbortedTransaction, codecsOf, type DecodeRequest, decodeRecordBatches, RecordBatchError } from '../../src/topic/record-batch-decoder.js'
import { APPEND_TIME, batchBytes, markerBytes, sealed, TRANSACTIONAL } from './record-batch-bytes.js'

const noCodec = () => {
  throw new Error('no codec')
}

function decode(bytes: Uint8Array, request: Partial<DecodeRequest> = {}) {
  return decodeRecordBatches(bytes, { partition: 3, start: 0n, end: 1_000n, aborted: [], codec: noCodec, ...request })
}

/** What was decoded, as `offset=value`. */
function texts(bytes: Uint8Array, request: Partial<DecodeRequest> = {}): string[] {
  const { offsets, values } = decode(bytes, request)
  return values.map((value, row) => `${offsets[row]}=${value === null ? 'null' : Buffer.from(value).toString()}`)
}

/** Records with the values `prefix0`, `prefix1`, … */
function simple(baseOffset: bigint, count: number, prefix = 'v', more: { attributes?: number; producerId?: bigint } = {}): Buffer {
  return batchBytes({ baseOffset, records: Array.from({ length: count }, (_, index) => ({ offsetDelta: index, value: `${prefix}${index}` })), ...more })
}

describe('the checksum', () => {
  it.each([
    ['123456789', 0xe3069283],
    ['\0'.repeat(32), 0x8a9136aa],
    ['', 0],
  ])('of %j', (text, sum) => {
    expect(crc32c(Buffer.from(text, 'latin1'))).toBe(sum)
    expect(crc32c(Buffer.from(`xx${text}y`, 'latin1'), 2, 2 + text.length)).toBe(sum)
  })
})

describe('records', () => {
  it('offsets, times, keys and values, nulls and empty ones; headers are passed over', () => {
    const bytes = batchBytes({
      baseOffset: 2n ** 62n,
      baseTimeMs: 1_790_000_000_000n,
      records: [
        { offsetDelta: 0, key: 'k', value: 'v', headers: [['h', 'x']] },
        { offsetDelta: 1, timeDelta: -5, key: '', value: null },
        { offsetDelta: 300, timeDelta: 100_000_000_000 },
      ],
    })
    const decoded = decode(bytes, { start: 2n ** 62n, end: 2n ** 63n - 1n })
    expect(decoded).toMatchObject({ partition: 3, rowCount: 3, position: 2n ** 62n + 301n })
    expect([...decoded.offsets]).toEqual([2n ** 62n, 2n ** 62n + 1n, 2n ** 62n + 300n])
    expect([...decoded.timestampsMs]).toEqual([1_790_000_000_000, 1_789_999_999_995, 1_890_000_000_000])
    expect(decoded.keys.map((key) => key && Buffer.from(key).toString())).toEqual(['k', '', null])
    expect(decoded.values.map((value) => value && Buffer.from(value).toString())).toEqual(['v', null, null])
  })

  it('the time is that of the append where the broker stamps it', () => {
    const bytes = batchBytes({ baseOffset: 0n, attributes: APPEND_TIME, greatestTimeMs: 77n, records: [{ offsetDelta: 0, timeDelta: 3 }, { offsetDelta: 1 }] })
    expect([...decode(bytes).timestampsMs]).toEqual([77, 77])
  })

  it('what lies outside of the range is left out, and the position is behind the batch', () => {
    const bytes = Buffer.concat([simple(0n, 10), simple(10n, 10), simple(20n, 10)])
    for (const [start, end] of [
      [0n, 30n],
      [5n, 25n],
      [9n, 11n],
      [10n, 20n],
      [12n, 13n],
    ] as const) {
      const decoded = decode(bytes, { start, end })
      expect(decoded.rowCount).toBe(Number(end - start))
      expect(decoded.offsets[0]).toBe(start)
      expect(decoded.position).toBeGreaterThanOrEqual(end)
    }
  })

  it('holes and empty batches of compaction move the position', () => {
    const holes = batchBytes({
      baseOffset: 10n,
      lastOffsetDelta: 9,
      records: [
        { offsetDelta: 0, value: 'a' },
        { offsetDelta: 7, value: 'b' },
      ],
    })
    const empty = batchBytes({ baseOffset: 20n, lastOffsetDelta: 4, records: [] })
    expect(texts(Buffer.concat([holes, empty]))).toEqual(['10=a', '17=b'])
    expect(decode(Buffer.concat([holes, empty])).position).toBe(25n)
    expect(decode(holes, { start: 13n })).toMatchObject({ rowCount: 1, position: 20n })
    expect(decode(holes, { start: 18n })).toMatchObject({ rowCount: 0, position: 20n })
    expect(decode(empty, { start: 20n })).toMatchObject({ rowCount: 0, position: 25n })
    // The next batch begins behind the range: all of the range is a hole.
    expect(decode(simple(500n, 1), { start: 30n, end: 100n })).toMatchObject({ rowCount: 0, position: 100n })
  })

  it('130,000 records in one batch', () => {
    const count = 130_000
    const bytes = batchBytes({ baseOffset: 0n, records: Array.from({ length: count }, (_, offsetDelta) => ({ offsetDelta, value: 'x' })) })
    expect(decode(bytes, { end: 1_000_000n }).rowCount).toBe(count)
  })
})

describe('transactions', () => {
  const inTransaction = (baseOffset: bigint, producerId: bigint, prefix: string) => simple(baseOffset, 2, prefix, { attributes: TRANSACTIONAL, producerId })
  const aborted = (...pairs: readonly (readonly [producerId: bigint, firstOffset: bigint])[]): AbortedTransaction[] =>
    pairs.map(([producerId, firstOffset]) => ({ producerId, firstOffset }))

  it('committed ones are there, aborted ones are not, markers never', () => {
    const bytes = Buffer.concat([
      inTransaction(0n, 7n, 'a'),
      markerBytes(2n, 7n, 'commit'),
      inTransaction(3n, 7n, 'b'),
      markerBytes(5n, 7n, 'abort'),
      simple(6n, 1),
    ])
    expect(texts(bytes, { aborted: aborted([7n, 3n]) })).toEqual(['0=a0', '1=a1', '6=v0'])
    expect(texts(bytes)).toEqual(['0=a0', '1=a1', '3=b0', '4=b1', '6=v0'])
    expect(decode(bytes.subarray(0, bytes.length - simple(6n, 1).length), { aborted: aborted([7n, 3n]) }).position).toBe(6n)
  })

  it('a producer that aborts and then commits, and one that aborts twice', () => {
    const parts = [
      inTransaction(0n, 7n, 'a'),
      markerBytes(2n, 7n, 'abort'),
      inTransaction(3n, 7n, 'b'),
      markerBytes(5n, 7n, 'commit'),
      inTransaction(6n, 7n, 'c'),
      markerBytes(8n, 7n, 'abort'),
    ]
    expect(texts(Buffer.concat(parts), { aborted: aborted([7n, 6n], [7n, 0n]) })).toEqual(['3=b0', '4=b1'])
  })

  it('two that were begun before the range, both aborted', () => {
    const parts = [inTransaction(10n, 7n, 'a'), inTransaction(12n, 8n, 'b'), markerBytes(14n, 7n, 'abort'), markerBytes(15n, 8n, 'abort'), simple(16n, 1)]
    expect(texts(Buffer.concat(parts), { start: 10n, aborted: aborted([7n, 2n], [8n, 5n]) })).toEqual(['16=v0'])
  })

  it('a key that looks like a marker is a key', () => {
    const record = { offsetDelta: 0, key: Buffer.alloc(4), value: 'hidden' }
    const looksLikeOne = batchBytes({ baseOffset: 0n, attributes: TRANSACTIONAL, producerId: 7n, records: [record] })
    expect(texts(Buffer.concat([looksLikeOne, inTransaction(1n, 7n, 'a'), markerBytes(3n, 7n, 'abort')]), { aborted: aborted([7n, 0n]) })).toEqual([])
  })

  it('records outside of transactions are nobody else’s', () => {
    const bytes = Buffer.concat([inTransaction(0n, 7n, 'a'), simple(2n, 1, 'plain', { producerId: 7n }), markerBytes(3n, 7n, 'abort')])
    expect(texts(bytes, { aborted: aborted([7n, 0n]) })).toEqual(['2=plain0'])
  })
})

describe('bytes that are not whole, or not right', () => {
  const bytes = Buffer.concat([simple(0n, 3), simple(3n, 3)])
  const first = simple(0n, 3).length

  it('cut at every byte: whole batches are read, the rest is for the next answer', () => {
    for (let length = 0; length <= bytes.length; length++) {
      const whole = length < first ? 0 : length < bytes.length ? 3 : 6
      expect(decode(bytes.subarray(0, length)), `cut at ${length}`).toMatchObject({ rowCount: whole, position: BigInt(whole) })
    }
  })

  it('any bit flipped: an error or whole batches less, never another record', () => {
    const wanted = texts(bytes)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      // The base offset and the leader's epoch stand before the checksum: the broker writes them last.
      const place = (bit >> 3) % first
      if (place < 8 || (place >= 12 && place < 16)) continue
      try {
        const found = texts(flipped)
        expect(wanted.slice(0, found.length), `bit ${bit}`).toEqual(found)
      } catch (error) {
        expect(error, `bit ${bit}`).toBeInstanceOf(RecordBatchError)
      }
    }
  })

  it('anything with a checksum that fits is records or an error, in no more memory than it has bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 40, maxLength: 120 }), (random) => {
        const made = Buffer.concat([Buffer.alloc(21), Buffer.from(random)])
        made.writeInt32BE(made.length - 12, 8)
        made.writeInt8(2, 16)
        try {
          decode(sealed(made), { codec: () => (compressed) => compressed })
        } catch (error) {
          expect(error).toBeInstanceOf(RecordBatchError)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('an older or a newer format is named', () => {
    expect(() => decode(batchBytes({ baseOffset: 5n, magic: 1, records: [{ offsetDelta: 0 }] }))).toThrow(
      /offset 5 is of message format 1, which Kafka wrote before 0.11/,
    )
    expect(() => decode(batchBytes({ baseOffset: 5n, magic: 3, records: [{ offsetDelta: 0 }] }))).toThrow(/format 3, which streamtop does not know/)
  })
})

describe('compressed batches', () => {
  const bytes = batchBytes({ baseOffset: 4n, attributes: 3, compress: (plain) => Buffer.from(plain).reverse(), records: [{ offsetDelta: 0, value: 'packed' }] })

  it('the codec of their number unpacks them', () => {
    expect([...codecsOf(bytes)]).toEqual([3])
    const codec = (number: number, offset: bigint) => {
      expect([number, offset]).toEqual([3, 4n])
      return (packed: Uint8Array) => Buffer.from(packed).reverse()
    }
    expect(texts(bytes, { codec })).toEqual(['4=packed'])
  })

  it('what the codec throws names the batch; what there is no codec for is thrown as it is', () => {
    const broken = () => () => {
      throw new Error('checksum')
    }
    expect(() => decode(bytes, { codec: broken })).toThrow(/record batch at offset 4 cannot be decompressed \(checksum\)/)
    expect(() => decode(bytes)).toThrow('no codec')
    // Outside of the range nobody needs it.
    expect(decode(bytes, { start: 5n })).toMatchObject({ rowCount: 0 })
    expect(decode(bytes, { end: 4n })).toMatchObject({ rowCount: 0, position: 4n })
  })
})
