/** Deletion vectors: every kind of container, stored beside the table or in the log, and each way in which one can be broken. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { AddFile, DeletionVector } from '../../src/store/actions.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { readDataFile, readDataFiles } from '../../src/store/data-files.js'
import { deletedRows } from '../../src/store/deletion-vector.js'
import { encodeParquet } from '../../src/store/parquet.js'
import { decodeRoaring64 } from '../../src/store/roaring.js'
import { defineSchema } from '../../src/store/schema.js'
import { liveRowCountOf } from '../../src/store/version-text.js'
import { decodeZ85 } from '../../src/store/z85.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { readable } from './any-rows.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-vectors-'))
afterAll(() => rmSync(folder, { recursive: true }))

const MAGIC = Buffer.from([0xd1, 0xd3, 0x39, 0x64])
const UUID = 'a0b1c2d3-e4f5-4678-9abc-def012345678'

describe('Roaring bitmaps', () => {
  test('any set of rows, in any kind of container', () => {
    const sets = fc.uniqueArray(fc.oneof(fc.integer({ min: 0, max: 300_000 }), fc.integer({ min: 0, max: 2 ** 40 })), { maxLength: 400 })
    const ranges = fc.array(fc.tuple(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 1, max: 20_000 })), { maxLength: 6 })
    fc.assert(
      fc.property(sets, ranges, fc.boolean(), (single, spans, withRuns) => {
        const rows = new Set(single)
        for (const [start, count] of spans) for (let i = 0; i < count; i++) rows.add(start + i)
        const sorted = [...rows].sort((a, b) => a - b)
        expect([...decodeRoaring64(encodeRoaring64(sorted, withRuns))]).toEqual(sorted)
      }),
      { numRuns: 25 },
    )
  })

  test('a cut, a tail, a wrong cookie and numbers out of order are errors', () => {
    const whole = encodeRoaring64([1, 5, 70_000, 2 ** 33], false)
    for (let length = 0; length < whole.length; length++) expect(() => decodeRoaring64(whole.subarray(0, length))).toThrow(/Roaring bitmap cannot be read/)
    expect(() => decodeRoaring64(Buffer.concat([whole, Buffer.of(0)]))).toThrow(/goes on behind its end/)
    const otherCookie = Buffer.from(whole)
    otherCookie.writeUInt32LE(1, 12)
    expect(() => decodeRoaring64(otherCookie)).toThrow(/begins with 1/)
    expect(() => decodeRoaring64(encodeRoaring64([5, 1], false))).toThrow(/not in order/)
  })
})

test('Z85: the example of its specification', () => {
  expect(Buffer.from(decodeZ85('HelloWorld')).toString('hex')).toBe('864fd26fb559f75b')
  for (const broken of ['Hell', 'Hello World', '#####']) expect(() => decodeZ85(broken)).toThrow(/is not Z85/)
})

describe('a table with deletion vectors', () => {
  const table = join(folder, 'table')
  const schema = defineSchema({ n: 'int' })
  const data = vectorOf([0, 3, 4, 9])

  async function fileOf(vector: DeletionVector | null, rowCount = 10): Promise<AddFile> {
    mkdirSync(table, { recursive: true })
    const rows = columnsFromRows(
      schema,
      Array.from({ length: rowCount }, (_, n) => ({ n })),
    )
    writeFileSync(join(table, 'data.parquet'), await encodeParquet(rows))
    return {
      path: 'data.parquet',
      size: 1,
      modifiedMs: 0,
      dataChange: true,
      partitionValues: {},
      statistics: `{"numRecords":${rowCount}}`,
      deletionVector: vector,
    }
  }

  function store(bytes: Buffer, prefix = ''): DeletionVector {
    mkdirSync(join(table, prefix), { recursive: true })
    writeFileSync(join(table, prefix, `deletion_vector_${UUID}.bin`), stored(bytes))
    return {
      storageType: 'u',
      pathOrInlineDv: prefix + encodeZ85(Buffer.from(UUID.replaceAll('-', ''), 'hex')),
      offset: 1,
      sizeInBytes: bytes.length,
      cardinality: 4,
    }
  }

  async function numbersLeft(vector: DeletionVector | null): Promise<number[]> {
    return readable(await readDataFile(table, schema, await fileOf(vector), realEffects)).map(([n]) => Number(n))
  }

  test('beside the table, in a folder of it, at an absolute path, or in the log', async () => {
    expect(await numbersLeft(null)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const left = [1, 2, 5, 6, 7, 8]
    expect(await numbersLeft(store(data))).toEqual(left)
    expect(await numbersLeft(store(data, 'ab'))).toEqual(left)
    const path = join(table, `deletion_vector_${UUID}.bin`)
    for (const pathOrInlineDv of [path, `file:${path}`, `file://${path}`]) {
      expect(await numbersLeft({ storageType: 'p', pathOrInlineDv, offset: 1, sizeInBytes: data.length, cardinality: 4 })).toEqual(left)
    }
    const padded = Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)])
    expect(await numbersLeft({ storageType: 'i', pathOrInlineDv: encodeZ85(padded), sizeInBytes: data.length, cardinality: 4 })).toEqual(left)
    expect(liveRowCountOf(await fileOf(store(data)))).toBe(6)
  })

  test('two vectors in one file, which is read once', async () => {
    const second = vectorOf([1])
    const first = store(data)
    writeFileSync(join(table, `deletion_vector_${UUID}.bin`), Buffer.concat([stored(data), stored(second).subarray(1)]))
    const other = { ...first, offset: 1 + 8 + data.length, sizeInBytes: second.length, cardinality: 1 }
    const reads: string[] = []
    const readIfPresent = (path: string) => {
      reads.push(path)
      return realEffects.files.readIfPresent(path)
    }
    const fx = { ...realEffects, files: { ...realEffects.files, readIfPresent } }
    const rows = readable(await readDataFiles(table, schema, [await fileOf(first), await fileOf(other)], fx))
    expect(rows.map(([n]) => Number(n))).toEqual([1, 2, 5, 6, 7, 8, 0, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(reads.filter((path) => path.endsWith('.bin'))).toHaveLength(1)
  })

  test('nothing broken gives rows', async () => {
    const vector = store(data)
    const broken = async (change: Partial<DeletionVector>, bytes = stored(data)) => {
      writeFileSync(join(table, `deletion_vector_${UUID}.bin`), bytes)
      return await numbersLeft({ ...vector, ...change }).then(String, (error) => `${error.code}: ${error.message}`)
    }
    const flipped = stored(data)
    flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20)
    expect(await broken({}, flipped)).toMatch(/^table-damaged: .*its checksum does not fit/)
    expect(await broken({}, stored(data).subarray(0, 12))).toMatch(/^table-damaged: .*its file is cut off/)
    expect(await broken({}, Buffer.concat([Buffer.of(2), stored(data).subarray(1)]))).toMatch(/^table-damaged: .*format 2/)
    expect(await broken({ sizeInBytes: data.length - 1 })).toMatch(/^table-damaged: .*the log says/)
    expect(await broken({ cardinality: 5 })).toMatch(/^table-damaged: .*it deletes 4 rows and the log says 5/)
    expect(await broken({ pathOrInlineDv: 'a'.repeat(20) })).toMatch(/^table-damaged: .*is gone although/)
    expect(await broken({ storageType: 'x' })).toMatch(/^unsupported-feature/)
    const beyond = vectorOf([0, 3, 4, 10])
    expect(await broken({ sizeInBytes: beyond.length }, stored(beyond))).toMatch(/^table-damaged: .*it deletes row 10 of 10/)
    const otherMagic = Buffer.concat([Buffer.alloc(4), data.subarray(4)])
    expect(await broken({}, stored(otherMagic))).toMatch(/^table-damaged: .*unknown format/)
  })
})

test('Spark’s own', () => {
  const table = join(sparkWorkspace('deletion-vector'), 'tables', 'bronze_orders')
  const actions = readFileSync(join(table, '_delta_log/00000000000000000002.json'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const vector: DeletionVector = actions.find(({ add }) => add).add.deletionVector
  expect([...deletedRows(table, vector, new Map(), realEffects)]).toEqual([4])
})

/** What a deletion vector holds: the magic number and a bitmap. */
function vectorOf(rows: readonly number[]): Buffer {
  return Buffer.concat([MAGIC, encodeRoaring64(rows, false)])
}

/** A file with one vector. */
function stored(data: Buffer): Buffer {
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(data))
  return Buffer.concat([Buffer.of(1), size, data, sum])
}

function encodeZ85(bytes: Uint8Array): string {
  const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    const value = Buffer.from(bytes).readUInt32BE(at)
    for (const power of [85 ** 4, 85 ** 3, 85 ** 2, 85, 1]) text += alphabet.charAt(Math.floor(value / power) % 85)
  }
  return text
}

/** As the format's specification has it; containers with runs where asked, whether or not they are shorter. */
function encodeRoaring64(rows: readonly number[], withRuns: boolean): Buffer {
  const buckets = groupBy(rows, (row) => Math.floor(row / 2 ** 32))
  const parts = [u64(buckets.size)]
  for (const [high, inBucket] of buckets)
    parts.push(
      u32(high),
      encodeRoaring32(
        inBucket.map((row) => row % 2 ** 32),
        withRuns,
      ),
    )
  return Buffer.concat(parts)
}

function encodeRoaring32(values: readonly number[], withRuns: boolean): Buffer {
  const containers = [...groupBy(values, (value) => Math.floor(value / 65536))].map(([key, inside]) => ({ key, lows: inside.map((value) => value % 65536) }))
  const isRun = containers.map((_, index) => withRuns && index % 2 === 0)
  const bodies = containers.map(({ lows }, index) => (isRun[index] ? runs(lows) : lows.length > 4096 ? bits(lows) : Buffer.concat(lows.map(u16))))
  const flags = Buffer.alloc((containers.length + 7) >> 3)
  for (const [index, flag] of isRun.entries()) if (flag) flags.writeUInt8(flags.readUInt8(index >> 3) | (1 << (index & 7)), index >> 3)
  const head = withRuns ? [u32(((containers.length - 1) << 16) | 12347), flags] : [u32(12346), u32(containers.length)]
  head.push(...containers.flatMap(({ key, lows }) => [u16(key), u16(lows.length - 1)]))
  const hasOffsets = !withRuns || containers.length >= 4
  let at = Buffer.concat(head).length + (hasOffsets ? 4 * containers.length : 0)
  if (hasOffsets) {
    for (const body of bodies) {
      head.push(u32(at))
      at += body.length
    }
  }
  return Buffer.concat([...head, ...bodies])
}

function runs(lows: readonly number[]): Buffer {
  const spans: [start: number, more: number][] = []
  for (const low of lows) {
    const last = spans.at(-1)
    if (last && last[0] + last[1] + 1 === low) last[1]++
    else spans.push([low, 0])
  }
  return Buffer.concat([u16(spans.length), ...spans.flatMap(([start, more]) => [u16(start), u16(more)])])
}

function bits(lows: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8192)
  for (const low of lows) bytes.writeUInt8(bytes.readUInt8(low >> 3) | (1 << (low & 7)), low >> 3)
  return bytes
}

function groupBy(values: readonly number[], keyOf: (value: number) => number): Map<number, number[]> {
  const groups = new Map<number, number[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return groups
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
