import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { readCheckpoint } from '../../src/engine/checkpoint-summary.js'
import { SPARK_CONF } from '../../src/engine/checkpoint-conf.js'
import { findCheckpoint, planStart, type Start } from '../../src/engine/start.js'
import { StreamtopError } from '../../src/errors.js'
import { fixturesIn, SPARK_WORKSPACES, sparkCheckpoint } from '../spark-fixtures.js'

const ID = '0f6b1c52-7f0d-4a55-9a7e-2f6f1c1f9f10'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'streamtop-start-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the table of logs: newest offsets × newest commit', () => {
  // Rows: the offsets files. Columns: the commits files. `again 2` runs batch 2 again, `next 3` plans batch 3.
  it.each([
    { offsets: [], commits: [], outcome: 'new 0' },
    { offsets: [], commits: [0], outcome: 'checkpoint-damaged' },
    { offsets: [0], commits: [], outcome: 'again 0' },
    { offsets: [0], commits: [0], outcome: 'next 1' },
    { offsets: [0], commits: [0, 1], outcome: 'checkpoint-damaged' },
    { offsets: [0, 1], commits: [], outcome: 'checkpoint-gap' },
    { offsets: [0, 1], commits: [0], outcome: 'again 1' },
    { offsets: [0, 1], commits: [1], outcome: 'next 2' },
    { offsets: [0, 1], commits: [0, 1, 2], outcome: 'checkpoint-damaged' },
    { offsets: [0, 1, 2], commits: [0], outcome: 'checkpoint-gap' },
    { offsets: [0, 1, 2], commits: [0, 1], outcome: 'again 2' },
    { offsets: [0, 1, 2], commits: [0, 1, 2], outcome: 'next 3' },
    { offsets: [0, 2], commits: [0, 1], outcome: 'checkpoint-damaged' },
    { offsets: [0, 2], commits: [0, 1, 2], outcome: 'checkpoint-damaged' },
    { offsets: [2], commits: [1], outcome: 'checkpoint-damaged' },
    { offsets: [9, 10], commits: [9], outcome: 'again 10' },
    { offsets: [9, 10], commits: [10], outcome: 'next 11' },
    { offsets: [9, 10], commits: [], outcome: 'checkpoint-gap' },
    // Numbers are compared as numbers.
    { offsets: [8, 9, 10], commits: [8, 9], outcome: 'again 10' },
  ])('offsets $offsets, commits $commits: $outcome', ({ offsets, commits, outcome }) => {
    lay({ offsets, commits })
    expect(outcomeOf(() => start())).toBe(outcome)
    // Without its metadata no checkpoint with a batch is taken.
    rmSync(join(folder, 'metadata'))
    const without = outcome === 'new 0' ? 'new 0' : 'metadata-missing'
    expect(outcomeOf(() => start())).toBe(without)
  })

  it('--accept-gap runs the newest again and says which batches it takes as done', () => {
    lay({ offsets: [0, 1, 2, 3], commits: [0] })
    const error = errorOf(() => start())
    expect(error.message).toContain('offsets up to batch 3, and the commits end at batch 0: whether batches 1 and 2 were written is not known')
    expect(error.hint).toContain('--accept-gap')
    expect(start({ acceptGap: true })).toMatchObject({ kind: 'run-again', batchId: 3, passedOver: [1, 2], startOffset: line(2), endOffset: line(3) })
    rmSync(join(folder, 'commits', '0'))
    expect(start({ acceptGap: true })).toMatchObject({ kind: 'run-again', batchId: 3, passedOver: [0, 1, 2] })
  })

  it('--accept-gap changes nothing where there is no gap, and helps nothing else', () => {
    lay({ offsets: [0, 1], commits: [0] })
    expect(start({ acceptGap: true })).toMatchObject({ kind: 'run-again', batchId: 1, passedOver: [] })
    rmSync(join(folder, 'offsets', '0'))
    expect(outcomeOf(() => start({ acceptGap: true }))).toBe('checkpoint-damaged')
  })
})

describe('what a start gives to the loop', () => {
  it('a new one: Spark’s conf, and the id when metadata is there already', () => {
    expect(start()).toEqual({ kind: 'new', batchId: 0, queryId: null, watermarkMs: 0, conf: SPARK_CONF })
    lay({})
    expect(start()).toMatchObject({ kind: 'new', queryId: ID })
  })

  it('a batch again: its logged range, time and conf, unknown keys too', () => {
    lay({ offsets: [0, 1], commits: [0] })
    expect(start()).toEqual({
      kind: 'run-again',
      batchId: 1,
      queryId: ID,
      startOffset: line(0),
      endOffset: line(1),
      timestampMs: 1001,
      watermarkMs: 0,
      conf: { 'x.unknown': 'kept' },
      passedOver: [],
    })
  })

  it('batch 0 again starts where the source begins', () => {
    lay({ offsets: [0] })
    expect(start()).toMatchObject({ kind: 'run-again', batchId: 0, startOffset: null, endOffset: line(0) })
  })

  it('the next batch: from the end of the newest, the later watermark of both logs', () => {
    lay({ offsets: [0], commits: [0] })
    put('commits/0', 'v1\n{"nextBatchWatermarkMs":77}')
    expect(start()).toEqual({ kind: 'next', batchId: 1, queryId: ID, startOffset: line(0), watermarkMs: 77, conf: { 'x.unknown': 'kept' } })
  })

  it('the next batch of a source that had no offset starts where the source begins', () => {
    lay({ offsets: [0], commits: [0] })
    put('offsets/0', 'v1\n{"conf":{"a":"b"}}\n-')
    expect(start()).toMatchObject({ kind: 'next', batchId: 1, startOffset: null })
    rmSync(join(folder, 'commits', '0'))
    expect(outcomeOf(() => start())).toBe('checkpoint-damaged')
  })
})

describe('files that cannot be read', () => {
  const V9 = { condition: 'INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION' }
  const CUT = { condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' }
  const meta = '{"batchWatermarkMs":0,"batchTimestampMs":5,"conf":{"a":"b"}}'
  it.each([
    { file: 'offsets/1', content: '', words: 'is empty' },
    { file: 'offsets/1', content: '\n', words: 'version' },
    { file: 'offsets/1', content: 'v1', words: 'ends after its version' },
    { file: 'offsets/1', content: 'v1\n', words: 'ends after its version' },
    { file: 'offsets/1', content: `v1\n\n${line(1)}`, words: 'blank line where its metadata' },
    { file: 'offsets/1', content: `v1\n${meta.slice(0, 20)}`, words: 'broken or cut off' },
    { file: 'offsets/1', content: `v1\n${meta}`, words: 'no line for a source' },
    { file: 'offsets/1', content: `v1\n[]\n${line(1)}`, words: 'not a JSON object' },
    { file: 'offsets/1', content: `v1\n{"batchTimestampMs":"x","conf":{"a":"b"}}\n${line(1)}`, words: 'batchTimestampMs' },
    { file: 'offsets/1', content: `v1\n{"conf":[]}\n${line(1)}`, words: 'conf' },
    { file: 'offsets/1', content: `v1\n${meta}\n{"sourceVersion":1,"reservoirId":"7b`, words: 'cut off', ...CUT },
    { file: 'offsets/1', content: `v1\n${meta}\n{"orders":{"0":1`, words: 'cut off' },
    { file: 'offsets/1', content: `v1\n${meta}\n${line(1)}\n\n`, words: 'blank line' },
    { file: 'offsets/1', content: `v1\n${meta}\n${line(1)}\n${line(1)}`, words: '2 source lines' },
    { file: 'offsets/1', content: `v9\n${meta}\n${line(1)}`, words: 'log version v9', ...V9 },
    { file: 'offsets/1', content: `v0\n${meta}\n${line(1)}`, words: 'does not begin with a version' },
    { file: 'offsets/1', content: `1\n${meta}\n${line(1)}`, words: 'does not begin with a version' },
    { file: 'offsets/0', content: '', words: 'is empty' },
    { file: 'offsets/0', content: null, words: 'is missing: batch 1 starts where batch 0 ended' },
    { file: 'commits/0', content: '', words: 'is empty' },
    { file: 'commits/0', content: 'v4\n{}', words: 'log version v4', ...V9 },
    { file: 'commits/0', content: 'v1\n{"next', words: 'broken or cut off' },
    { file: 'commits/0', content: 'v1\n{"nextBatchWatermarkMs":"x"}', words: 'nextBatchWatermarkMs' },
    { file: 'metadata', content: '', words: 'is blank' },
    { file: 'metadata', content: '\n', words: 'is blank' },
    { file: 'metadata', content: '{"id":', words: 'broken or cut off' },
    { file: 'metadata', content: '{"id":5}', words: 'no id' },
    { file: 'metadata', content: '{"id":"a query"}', words: 'no id' },
  ])('$file with $content', ({ file, content, words, ...rest }) => {
    lay({ offsets: [0, 1], commits: [0] })
    if (content === null) rmSync(join(folder, file))
    else put(file, content)
    const error = errorOf(() => start())
    expect(error.code).toBe('checkpoint-damaged')
    expect(error.message).toContain(join(folder, file))
    expect(error.message).toContain(words)
    expect(error.hint).toMatch(/restore/)
    expect(error.condition).toBe('condition' in rest ? rest.condition : undefined)
    // Reading for display says the same and never throws.
    expect(readCheckpoint(folder, realEffects).damage?.message).toBe(error.message)
  })

  it('a folder in the place of a file is named too', () => {
    lay({ offsets: [0, 1], commits: [0] })
    rmSync(join(folder, 'offsets', '1'))
    mkdirSync(join(folder, 'offsets', '1'))
    expect(errorOf(() => start()).message).toContain(join(folder, 'offsets', '1'))
  })

  it.each([
    { file: 'offsets/1', content: `v1\n${meta}\n${line(1)}\n` },
    { file: 'offsets/1', content: `v1\r\n${meta}\r\n${line(1)}\r\n` },
    { file: 'offsets/1', content: `v1\n{"new":[1],"conf":{"a":"b"},"batchTimestampMs":5}\n${line(1)}` },
    { file: 'commits/0', content: 'v1' },
    { file: 'commits/0', content: 'v1\n{"nextBatchWatermarkMs":0}\n' },
    { file: 'commits/0', content: 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{}}' },
    { file: 'commits/0', content: 'v3\n{"nextBatchWatermarkMs":0,"sinkMetadataMap":{}}' },
    { file: 'metadata', content: `{"id":"${ID}"}\n` },
    { file: 'metadata', content: `{"id":"${ID}","new":1}` },
    { file: 'offsets/.2.crc', content: 'x' },
    { file: 'offsets/.2.0f6b.tmp', content: 'x' },
    { file: 'offsets/notes', content: 'x' },
  ])('is read all the same: $file with $content', ({ file, content }) => {
    lay({ offsets: [0, 1], commits: [0] })
    put(file, content)
    expect(start()).toMatchObject({ kind: 'run-again', batchId: 1, startOffset: line(0), endOffset: line(1) })
  })

  it('no conf in a pending batch: a stateless query needs none', () => {
    lay({ offsets: [0], commits: [] })
    put('offsets/0', `v1\n{"batchTimestampMs":5}\n${line(0)}`)
    expect(start()).toMatchObject({ kind: 'run-again', batchId: 0, conf: {} })
  })

  it('no conf where the batch is committed: the next file gets Spark’s', () => {
    lay({ offsets: [0], commits: [0] })
    put('offsets/0', `v1\n{"batchTimestampMs":5}\n${line(0)}`)
    expect(start()).toMatchObject({ kind: 'next', batchId: 1 })
  })
})

describe('checkpoints that are not for us', () => {
  it('state/, several sources, offsets of version 2', () => {
    lay({ offsets: [0], commits: [0] })
    put('offsets/0', `v2\n{"conf":{},"sourceMetadataInfo":{}}\n0:${line(0)}`)
    expect(outcomeOf(() => start())).toBe('unsupported-feature')
    expect(readCheckpoint(folder, realEffects)).toMatchObject({ sources: [line(0)], damage: null })
    put('offsets/0', `v1\n{"conf":{"a":"b"}}\n${line(0)}\n-`)
    expect(outcomeOf(() => start())).toBe('several-sources')
    expect(readCheckpoint(folder, realEffects)).toMatchObject({ sources: [line(0), null], damage: null })
    // A batch that is committed and one that is not, of whose sources the first has nothing yet.
    for (const commits of [[0, 1], [0]]) {
      lay({ offsets: [0, 1], commits })
      for (const batchId of [0, 1]) put(`offsets/${batchId}`, `v1\n{"conf":{}}\n-\n${line(batchId)}`)
      if (commits.length === 1) rmSync(join(folder, 'commits/1'))
      expect(outcomeOf(() => start())).toBe('several-sources')
      expect(readCheckpoint(folder, realEffects)).toMatchObject({ sources: [null, line(1)], damage: null })
    }
    put('state/0/0/1.delta', 'x')
    expect(outcomeOf(() => start())).toBe('stateful-checkpoint')
    expect(readCheckpoint(folder, realEffects)).toMatchObject({ stateful: true, damage: null })
  })
})

describe('folders that real Spark left', () => {
  it.each([
    { name: 'plain-append-crashed', outcome: 'again 0' },
    { name: 'plain-append-twice', outcome: 'next 1' },
    { name: 'tagged-append-crashed', outcome: 'again 0' },
    { name: 'merge-crashed', outcome: 'again 0' },
    { name: 'two-tables-crashed-between', outcome: 'again 0' },
    { name: 'third-batch-pending', outcome: 'again 2' },
    { name: 'third-batch-pending-plain', outcome: 'again 2' },
    { name: 'inside-initial-snapshot', outcome: 'again 1' },
    { name: 'native-sink-commit-missing', outcome: 'again 1' },
    { name: 'purged-logs', outcome: 'next 12' },
    { name: 'source-updated', outcome: 'next 2' },
    { name: 'source-updated-skip-change-commits', outcome: 'next 2' },
    { name: 'source-deleted', outcome: 'next 2' },
    { name: 'source-optimized', outcome: 'next 2' },
    { name: 'source-recreated', outcome: 'next 2' },
    { name: 'source-replaced', outcome: 'next 1' },
    { name: 'offsets-trailing-newline', outcome: 'again 2' },
    { name: 'offsets-empty', outcome: 'checkpoint-damaged' },
    { name: 'offsets-cut', outcome: 'checkpoint-damaged DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { name: 'offsets-version-only', outcome: 'checkpoint-damaged' },
    { name: 'offsets-from-the-future', outcome: 'checkpoint-damaged INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION' },
    { name: 'offsets-without-conf', outcome: 'again 2' },
    { name: 'offsets-log-deleted', outcome: 'checkpoint-damaged' },
    { name: 'commits-empty', outcome: 'checkpoint-damaged' },
    { name: 'commits-ahead', outcome: 'checkpoint-damaged CONCURRENT_STREAM_LOG_UPDATE' },
    { name: 'commits-ahead-plain', outcome: 'checkpoint-damaged CONCURRENT_STREAM_LOG_UPDATE' },
    { name: 'commits-behind', outcome: 'checkpoint-gap' },
    { name: 'metadata-lost', outcome: 'metadata-missing STREAMING_CHECKPOINT_MISSING_METADATA_FILE' },
    { name: 'stateful-by-hour', outcome: 'stateful-checkpoint' },
    { name: 'two-sources', outcome: 'several-sources' },
  ])('$name: $outcome', ({ name, outcome }) => {
    cpSync(sparkCheckpoint(name), folder, { recursive: true })
    expect(outcomeOf(() => start(), true)).toBe(outcome)
    const summary = readCheckpoint(folder, realEffects)
    const isDamage = /^(checkpoint-|metadata-)/.test(outcome)
    expect(summary.damage?.code ?? null).toBe(isDamage ? outcome.split(' ')[0] : null)
  })

  it('every one of them is in this table', () => {
    expect(fixturesIn(SPARK_WORKSPACES).filter((folder) => existsSync(join(folder, 'checkpoints')))).toHaveLength(30)
  })
})

describe('the summary', () => {
  it('tells the newest range that can be read', () => {
    cpSync(sparkCheckpoint('offsets-empty'), folder, { recursive: true })
    expect(readCheckpoint(folder, realEffects)).toMatchObject({
      id: 'decdf1be-7411-4f89-ae13-db7ca8993869',
      offsets: [0, 1, 2],
      commits: [0, 1],
      batchId: 1,
      sources: [expect.stringContaining('"reservoirVersion":3')],
      sourceLines: [expect.stringContaining('"reservoirVersion":3')],
      sourcesBefore: [expect.stringContaining('"reservoirVersion":2')],
      timestampMs: 1795985534655,
      stateful: false,
      damage: { code: 'checkpoint-damaged' },
    })
  })

  it('shows the lines of a newest file that no start would take', () => {
    const folders = { 'offsets-cut': /^\{"sourceVersion".*[^}]$/, 'offsets-from-the-future': /^\{.*\}$/, 'two-sources': /^\{.*\}$/ }
    for (const [name, line] of Object.entries(folders)) {
      const { sourceLines } = readCheckpoint(sparkCheckpoint(name), realEffects)
      expect(sourceLines).toHaveLength(name === 'two-sources' ? 2 : 1)
      for (const text of sourceLines) expect(text).toMatch(line)
    }
  })

  it('of a folder that is not there is empty, of a file damaged', () => {
    const empty = { id: null, offsets: [], commits: [], batchId: null, sources: [], sourceLines: [], sourcesBefore: [], timestampMs: null, stateful: false }
    expect(readCheckpoint(join(folder, 'none'), realEffects)).toEqual({ ...empty, damage: null })
    put('file', 'x')
    expect(readCheckpoint(join(folder, 'file'), realEffects)).toEqual({ ...empty, damage: expect.any(StreamtopError) })
  })
})

function start(options: { acceptGap?: boolean } = {}): Start {
  return planStart(findCheckpoint(folder, realEffects), options)
}

function line(batchId: number): string {
  return `{"orders":{"0":${batchId + 1}}}`
}

/** Lays a checkpoint with an id and these files. */
function lay({ offsets = [], commits = [] }: { offsets?: number[]; commits?: number[] }): void {
  put('metadata', `{"id":"${ID}"}`)
  for (const n of offsets) put(`offsets/${n}`, `v1\n{"batchWatermarkMs":0,"batchTimestampMs":${1000 + n},"conf":{"x.unknown":"kept"}}\n${line(n)}`)
  for (const n of commits) put(`commits/${n}`, 'v1\n{"nextBatchWatermarkMs":0}')
}

function put(file: string, content: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), content)
}

function outcomeOf(run: () => Start, withCondition = false): string {
  try {
    const plan = run()
    return `${{ new: 'new', next: 'next', 'run-again': 'again' }[plan.kind]} ${plan.batchId}`
  } catch (error) {
    if (!(error instanceof StreamtopError)) throw error
    return withCondition && error.condition ? `${error.code} ${error.condition}` : error.code
  }
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
