import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import {
  createCommit,
  createOffsets,
  createQueryId,
  listBatches,
  makeCheckpointFolder,
  readCommit,
  readOffsets,
  readQueryId,
  removeCommit,
  removeStaleTemporaries,
} from '../../src/engine/checkpoint.js'
import { nextConf, SPARK_CONF } from '../../src/engine/checkpoint-conf.js'
import { createPurge } from '../../src/engine/checkpoint-purge.js'
import { formatOffsets, parseOffsets } from '../../src/engine/offsets-file.js'
import { checkTopicIdentity, createInitialOffsets, createTopicIdentity, readInitialOffsets, readTopicIdentity } from '../../src/engine/topic-source-files.js'
import { StreamtopError } from '../../src/errors.js'
import { checkName } from '../../src/names.js'
import { sparkCheckpoint } from '../spark-fixtures.js'

const fx = realEffects
const LINE = '{"orders":{"0":3}}'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'streamtop-checkpoint-')), 'checkpoints', 'x')
  makeCheckpointFolder(folder, fx)
})
afterEach(() => rmSync(join(folder, '..', '..'), { recursive: true, force: true }))

describe('bytes', () => {
  it('metadata', () => {
    const id = createQueryId(folder, fx)
    expect(bytes('metadata')).toBe(`{"id":"${id}"}`)
    expect(bytes('metadata')).toHaveLength(45)
    expect(readQueryId(folder, fx)).toBe(id)
  })

  it('offsets/N of a new query: Spark’s fifteen settings, no newline at the end', () => {
    createOffsets(folder, 0, { watermarkMs: 0, timestampMs: 1767225600123, conf: SPARK_CONF, sources: [LINE] }, fx)
    const [version, metadata, source, ...more] = bytes('offsets/0').split('\n')
    expect([version, source, more]).toEqual(['v1', LINE, []])
    expect(metadata).toMatch(/^\{"batchWatermarkMs":0,"batchTimestampMs":1767225600123,"conf":\{"spark\.sql\./)
    expect(Object.keys(JSON.parse(metadata ?? '').conf)).toHaveLength(15)
    expect(JSON.parse(metadata ?? '').conf['spark.sql.shuffle.partitions']).toBe('200')
  })

  it.each(['third-batch-pending', 'inside-initial-snapshot', 'stateful-by-hour', 'purged-logs'])(
    'what Spark wrote is written again byte for byte: %s',
    (name) => {
      const log = join(sparkCheckpoint(name), 'offsets')
      for (const file of readdirSync(log)) {
        const text = readFileSync(join(log, file), 'utf8')
        expect(formatOffsets(parseOffsets(text, file))).toBe(text)
        expect(Object.keys(parseOffsets(text, file).conf).sort()).toEqual(Object.keys(SPARK_CONF).sort())
      }
    },
  )

  it('our settings are Spark’s defaults; the fixtures were made with two partitions', () => {
    const conf = parseOffsets(readFileSync(join(sparkCheckpoint('third-batch-pending'), 'offsets', '2'), 'utf8'), '').conf
    expect({ ...conf, 'spark.sql.shuffle.partitions': '200' }).toEqual(SPARK_CONF)
  })

  it('the conf of the next batch: what stood there, or Spark’s when nothing did', () => {
    expect(nextConf({ 'spark.databricks.x': '1' })).toEqual({ 'spark.databricks.x': '1' })
    expect(nextConf({})).toEqual(SPARK_CONF)
  })

  it('commits/N', () => {
    createCommit(folder, 0, 0, fx)
    expect(bytes('commits/0')).toBe('v1\n{"nextBatchWatermarkMs":0}')
    expect(bytes('commits/0')).toBe(readFileSync(join(sparkCheckpoint('third-batch-pending'), 'commits', '0'), 'utf8'))
    expect(readCommit(folder, 0, fx)).toEqual({ version: 1, nextWatermarkMs: 0 })
  })

  it('sources/0/0: a zero byte, v1, the offsets, nothing after them', () => {
    const offsets = new Map([
      [1, 9007199254740993n],
      [0, 0n],
    ])
    createInitialOffsets(folder, 'orders', offsets, fx)
    expect(bytes('sources/0/0')).toBe('\0v1\n{"orders":{"0":0,"1":9007199254740993}}')
    expect(readInitialOffsets(folder, 'orders', fx)).toEqual(offsets)
  })
})

describe('nothing is overwritten', () => {
  it('a file that is there means another query, and stays as it is', () => {
    createQueryId(folder, fx)
    createOffsets(folder, 7, { watermarkMs: 0, timestampMs: 1, conf: SPARK_CONF, sources: [LINE] }, fx)
    createCommit(folder, 7, 0, fx)
    createInitialOffsets(folder, 'orders', new Map([[0, 1n]]), fx)
    createTopicIdentity(folder, { kind: 'embedded', name: 'orders', topicId: 'a' }, fx)
    const before = bytes('offsets/7')
    const again = [
      () => createQueryId(folder, fx),
      () => createOffsets(folder, 7, { watermarkMs: 0, timestampMs: 2, conf: SPARK_CONF, sources: [LINE] }, fx),
      () => createCommit(folder, 7, 5, fx),
      () => createInitialOffsets(folder, 'orders', new Map([[0, 2n]]), fx),
      () => createTopicIdentity(folder, { kind: 'embedded', name: 'orders', topicId: 'b' }, fx),
    ]
    for (const create of again) expect(errorOf(create)).toMatchObject({ code: 'concurrent-query', condition: 'CONCURRENT_STREAM_LOG_UPDATE' })
    expect(bytes('offsets/7')).toBe(before)
    expect(readdirSync(join(folder, 'offsets'))).toEqual(['7'])
  })

  it('a checksum left over from another offsets/N goes when N is made', () => {
    put('offsets/.3.crc', 'old')
    createOffsets(folder, 3, { watermarkMs: 0, timestampMs: 1, conf: SPARK_CONF, sources: [LINE] }, fx)
    expect(readdirSync(join(folder, 'offsets'))).toEqual(['3'])
  })
})

it('lists batches by number, and only files whose whole name is one', () => {
  for (const name of ['0', '2', '10', '9', '.9.crc', '9.crc', '.11.ab.tmp', '07', '-1', '1e3', 'x', '99999999999999999999']) put(`offsets/${name}`, '')
  put('commits/0', '')
  expect(listBatches(folder, fx)).toEqual({ offsets: [0, 2, 9, 10], commits: [0] })
})

it('takes a commit away with its checksum', () => {
  createCommit(folder, 0, 0, fx)
  put('commits/.0.crc', 'x')
  removeCommit(folder, 0, fx)
  expect(readdirSync(join(folder, 'commits'))).toEqual([])
})

it('removes what dead writers left half written, and nothing else', () => {
  const stale = ['.metadata.0f6b.tmp', 'offsets/.7.0f6b.tmp', 'offsets/..7.0f6b.tmp.crc', 'commits/.7.0f6b.tmp', 'sources/0/.0.0f6b.tmp']
  const kept = ['metadata', '.metadata.crc', 'offsets/7', 'offsets/.7.crc', 'offsets/notes.tmp', 'commits/7', 'sources/0/0', 'state/0/.x.tmp']
  for (const file of [...stale, ...kept]) put(file, 'x')
  removeStaleTemporaries(folder, fx)
  expect(stale.filter((file) => existsSync(join(folder, file)))).toEqual([])
  expect(kept.filter((file) => !existsSync(join(folder, file)))).toEqual([])
})

describe('purging', () => {
  const numbers = () => listBatches(folder, fx)
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

  it('keeps as many as Spark: with N logged, from N-100 on', () => {
    for (const n of range(0, 150)) for (const log of ['offsets', 'commits']) put(`${log}/${n}`, '')
    createPurge(folder, fx)(150)
    expect(numbers()).toEqual({ offsets: range(50, 150), commits: range(50, 150) })
  })

  it('lists once, and then removes exactly what fell out, checksums of foreign writers too', () => {
    for (const n of range(0, 6)) {
      for (const log of ['offsets', 'commits']) {
        put(`${log}/${n}`, '')
        put(`${log}/.${n}.crc`, '')
      }
    }
    const counted = counting(fx)
    const purge = createPurge(folder, counted.fx, 2)
    purge(6)
    expect(numbers()).toEqual({ offsets: range(4, 6), commits: range(4, 6) })
    for (const n of [7, 8, 9]) {
      for (const log of ['offsets', 'commits']) put(`${log}/${n}`, '')
      purge(n)
      expect(numbers()).toEqual({ offsets: range(n - 2, n), commits: range(n - 2, n) })
    }
    expect(counted.calls.list).toBe(2)
    // Called again, or after some were missed, it does what is left.
    counted.calls.remove = 0
    purge(9)
    expect(counted.calls.remove).toBe(0)
    for (const n of [10, 11]) for (const log of ['offsets', 'commits']) put(`${log}/${n}`, '')
    purge(11)
    expect(numbers()).toEqual({ offsets: range(9, 11), commits: range(9, 11) })
    expect(counted.calls.remove).toBe(4)
    expect(readdirSync(join(folder, 'offsets')).filter((name) => name.endsWith('.crc'))).toEqual([])
  })

  it('always keeps the batch before the newest', () => {
    for (const n of range(0, 3)) put(`offsets/${n}`, '')
    createPurge(folder, fx, 0)(3)
    expect(numbers().offsets).toEqual([2, 3])
  })

  it('removes nothing of a young query', () => {
    for (const n of range(0, 3)) put(`offsets/${n}`, '')
    const purge = createPurge(folder, fx)
    for (const n of range(0, 3)) purge(n)
    expect(numbers().offsets).toEqual(range(0, 3))
  })
})

describe('which topic the offsets count', () => {
  const embedded = { kind: 'embedded', name: 'orders', topicId: 'a' } as const
  const kafka = { kind: 'kafka', name: 'orders', topicId: 'k', clusterId: 'c' } as const
  const check = (recorded: typeof embedded | typeof kafka | null, actual: typeof embedded | typeof kafka, hasOffsets: boolean) =>
    checkTopicIdentity(folder, { recorded, actual, hasOffsets })

  it('is kept beside them', () => {
    expect(readTopicIdentity(folder, fx)).toBeNull()
    createTopicIdentity(folder, kafka, fx)
    expect(readTopicIdentity(folder, fx)).toEqual(kafka)
    expect(readdirSync(join(folder, 'sources', '0'))).toEqual(['streamtop.json'])
  })

  it('decides whether the checkpoint may be used', () => {
    check(embedded, embedded, true)
    check(null, embedded, false)
    expect(errorOf(() => check(null, embedded, true))).toMatchObject({ code: 'checkpoint-foreign', message: expect.stringContaining('Spark') })
    expect(errorOf(() => check(kafka, embedded, true))).toMatchObject({ code: 'checkpoint-foreign', message: expect.stringContaining('Kafka cluster c') })
    expect(errorOf(() => checkTopicIdentity(folder, { recorded: embedded, actual: { ...embedded, topicId: 'b' }, hasOffsets: true }))).toMatchObject({
      code: 'checkpoint-foreign',
      message: expect.stringContaining('deleted and made again: its id was a and is b'),
    })
    // Whether they are this topic's is looked up on Kafka.
    check(null, kafka, true)
  })

  it.each([
    { file: 'sources/0/streamtop.json', content: '{"kind":"embedded"}', code: 'checkpoint-damaged' },
    { file: 'sources/0/streamtop.json', content: '', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '\0v1', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '\0v2\n{"orders":{"0":1}}', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '\0v1\n{"orders":{"0":-1}}', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '\0v1\n{"orders":{"0":1.5}}', code: 'checkpoint-damaged' },
    { file: 'sources/0/0', content: '\0v1\n{"refunds":{"0":1}}', code: 'checkpoint-foreign' },
  ])('$file with $content: $code', ({ file, content, code }) => {
    put(file, content)
    expect(errorOf(() => (file.endsWith('json') ? readTopicIdentity(folder, fx) : readInitialOffsets(folder, 'orders', fx)))).toMatchObject({
      code,
      message: expect.stringContaining(join(folder, file)),
    })
  })

  it('reads initial offsets of Spark 2.1, without a version', () => {
    put('sources/0/0', '\0{"orders":{"0":1}}')
    expect(readInitialOffsets(folder, 'orders', fx)).toEqual(new Map([[0, 1n]]))
  })
})

it('names', () => {
  for (const good of ['a', '_x', 'events_copy', 'a.b-c', '9', 'x'.repeat(128)]) expect(checkName('query', good)).toBe(good)
  for (const bad of ['', '.', '..', '.a', '-a', 'a..b', 'a/b', 'a b', 'ä', 'a\n', 'x'.repeat(129), 'a\0']) {
    expect(errorOf(() => checkName('table', bad))).toMatchObject({ code: 'bad-name', message: expect.stringContaining('table') })
  }
  // A folder of such a name would be a journal to SQLite, and the end of every verb.
  for (const database of ['_log.db', '_log.db-journal', '_log.db-wal', '_LOG.DB-shm', '_counts.db', '_counts.db-journal']) {
    expect(errorOf(() => checkName('table', database))).toMatchObject({ code: 'bad-name', hint: expect.stringContaining('_log.db') })
    expect(checkName('query', database)).toBe(database)
  }
  for (const good of ['_log', 'log.db', '_counts_db', 'a_log.db']) expect(checkName('table', good)).toBe(good)
})

it('a missing file is named', () => {
  expect(errorOf(() => readOffsets(folder, 4, fx)).message).toContain(join(folder, 'offsets', '4'))
  expect(errorOf(() => readCommit(folder, 4, fx)).message).toContain(join(folder, 'commits', '4'))
})

function bytes(file: string): string {
  return readFileSync(join(folder, file), 'latin1')
}

function put(file: string, content: string): void {
  mkdirSync(join(folder, file, '..'), { recursive: true })
  writeFileSync(join(folder, file), content)
}

function counting(base: Effects): { fx: Effects; calls: { list: number; remove: number } } {
  const calls = { list: 0, remove: 0 }
  const files = {
    ...base.files,
    list: (path: string) => {
      calls.list++
      return base.files.list(path)
    },
    remove: (path: string) => {
      calls.remove++
      base.files.remove(path)
    },
  }
  return { fx: { ...base, files }, calls }
}

function errorOf(run: () => unknown): StreamtopError {
  try {
    run()
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
  throw new Error('it did not throw')
}
