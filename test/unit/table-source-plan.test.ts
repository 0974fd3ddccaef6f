import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { tableSourceOptions } from '../../src/engine/source-options.js'
import { BASE_INDEX, compareTableOffsets, formatTableOffset, parseTableOffset, startOfVersion, type TableOffset } from '../../src/engine/table-offset.js'
import { endOfAvailable, filesOfRange, latestTableOffset } from '../../src/engine/table-source-plan.js'
import type { VersionActions } from '../../src/store/actions.js'
import type { TableLog } from '../../src/store/table-log.js'
import { added, created, did, fixtureVersions, type MemoryTableLog, memoryTableLog, metadata, removed, SOURCE_ID } from '../memory-table-log.js'
import { sparkCheckpoint } from '../spark-fixtures.js'

const T = 'bronze_orders'
const DEFAULTS = tableSourceOptions([])

describe('the offsets that real Spark logged', () => {
  it.each([
    // fixture, its batches as the newest version of the table when each was planned, options
    { name: 'source-updated', plannedAt: [1, 2], pairs: [] },
    { name: 'source-updated-skip-change-commits', plannedAt: [1, 2], pairs: [] },
    { name: 'source-deleted', plannedAt: [1, 2], pairs: [] },
    { name: 'source-optimized', plannedAt: [1, 2], pairs: [] },
    { name: 'third-batch-pending', plannedAt: [1, 2, 3], pairs: [] },
    { name: 'merge-crashed', plannedAt: [0], pairs: [] },
    { name: 'native-sink-commit-missing', plannedAt: [0, 1], pairs: [] },
    { name: 'inside-initial-snapshot', plannedAt: [2, 2], pairs: ['maxFilesPerTrigger=1'] },
  ])('$name', ({ name, plannedAt, pairs }) => {
    const versions = fixtureVersions(name)
    let start: TableOffset | null = null
    for (const [batchId, newest] of plannedAt.entries()) {
      const log = memoryTableLog({ [T]: versions.slice(0, newest + 1) })
      const end: TableOffset | null = latestTableOffset(log, T, start, tableSourceOptions(pairs))
      expect(end && formatTableOffset(end)).toBe(loggedLine(name, batchId))
      start = end
    }
  })

  it('purged-logs: from batch 9 on', () => {
    const versions = fixtureVersions('purged-logs')
    for (const batchId of [10, 11]) {
      const start = parseTableOffset(loggedLine('purged-logs', batchId - 1), '')
      const end = latestTableOffset(memoryTableLog({ [T]: versions.slice(0, batchId + 1) }), T, start, DEFAULTS)
      expect(end && formatTableOffset(end)).toBe(loggedLine('purged-logs', batchId))
    }
  })

  it('what Spark did next', () => {
    const next = (name: string, batchId: number, pairs: string[] = []) =>
      latestTableOffset(memoryTableLog({ [T]: fixtureVersions(name) }), T, parseTableOffset(loggedLine(name, batchId), ''), tableSourceOptions(pairs))
    expect(errorOf(() => next('source-updated', 1))).toMatchObject({ code: 'source-changed', condition: 'DELTA_SOURCE_TABLE_IGNORE_CHANGES' })
    expect(errorOf(() => next('source-updated', 1)).message).toContain('version 4 of table bronze_orders changed rows (UPDATE ["(order_id#')
    expect(errorOf(() => next('source-deleted', 1))).toMatchObject({ code: 'source-deleted', condition: 'DELTA_SOURCE_IGNORE_DELETE' })
    expect(errorOf(() => next('source-recreated', 1))).toMatchObject({ code: 'table-recreated', condition: 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE' })
    expect(errorOf(() => next('source-recreated', 1)).message).toMatch(/a4cd013c-e149-4f87-bb0d-b821da323bc8.*7700e7e0-9b5c-478c-98fe-352e652ef43e/)
    expect(next('source-optimized', 1)).toMatchObject({ version: 5, index: BASE_INDEX, isInitialSnapshot: false })
    expect(next('source-updated-skip-change-commits', 1, ['skipChangeCommits=true'])).toMatchObject({ version: 5, index: BASE_INDEX })
    expect(next('inside-initial-snapshot', 1, ['maxFilesPerTrigger=1'])).toMatchObject({ version: 3, index: BASE_INDEX, isInitialSnapshot: false })
  })
})

describe('a new stream', () => {
  it('takes the snapshot whole, and stands behind it', () => {
    const log = memoryTableLog({ [T]: [created([added('a')]), did({ adds: [added('b'), added('c')] })] })
    const end = latestTableOffset(log, T, null, DEFAULTS)
    expect(end).toEqual(startOfVersion(SOURCE_ID, 2))
    expect(paths(log, null, end)).toEqual(['a', 'b', 'c'])
    expect(latestTableOffset(log, T, end, DEFAULTS)).toBeNull()
  })

  it('stands behind an empty table too', () => {
    expect(latestTableOffset(memoryTableLog({ [T]: [created()] }), T, null, DEFAULTS)).toEqual(startOfVersion(SOURCE_ID, 1))
  })

  it('numbers the snapshot by time, then by the path as it stands in the log', () => {
    const files = [added('s=b/1', { modifiedMs: 5 }), added('s=a!b/1', { modifiedMs: 5 }), added('s=a b/1', { modifiedMs: 5 }), added('z', { modifiedMs: 1 })]
    const log = memoryTableLog({ [T]: [created(files)] })
    // In the log the blank is %20, and % comes behind !.
    expect(paths(log, null, startOfVersion(SOURCE_ID, 1))).toEqual(['z', 's=a!b/1', 's=a b/1', 's=b/1'])
  })

  it('does not see files that are removed or replaced by one with a deletion vector', () => {
    const vector = { storageType: 'u', pathOrInlineDv: 'x', offset: 1, sizeInBytes: 2, cardinality: 1 }
    const log = memoryTableLog({
      [T]: [created([added('a'), added('b')]), did({ adds: [added('a', { deletionVector: vector })], removes: [removed('a'), removed('b')] })],
    })
    const { files } = filesOfRange(log, T, null, startOfVersion(SOURCE_ID, 2), DEFAULTS)
    expect(files.map((file) => [file.path, file.deletionVector])).toEqual([['a', vector]])
  })

  it('stays at the version it began with while the table grows', () => {
    const versions = [created([added('a'), added('b')]), did({ adds: [added('c')] })]
    const options = tableSourceOptions(['maxFilesPerTrigger=1'])
    const first = latestTableOffset(memoryTableLog({ [T]: versions.slice(0, 1) }), T, null, options)
    expect(first).toEqual({ tableId: SOURCE_ID, version: 0, index: 0, isInitialSnapshot: true })
    const grown = memoryTableLog({ [T]: versions })
    const second = latestTableOffset(grown, T, first, options)
    expect(second).toEqual(startOfVersion(SOURCE_ID, 1))
    expect(paths(grown, null, first)).toEqual(['a'])
    expect(paths(grown, first, second)).toEqual(['b'])
  })

  it('begins with the changes of startingVersion, or behind the newest', () => {
    const log = memoryTableLog({ [T]: [created([added('a')]), did({ adds: [added('b')] }), did({ adds: [added('c')] })] })
    const fromOne = tableSourceOptions(['startingVersion=1'])
    const end = latestTableOffset(log, T, null, fromOne)
    expect(end && filesOfRange(log, T, null, end, fromOne).files.map((file) => file.path)).toEqual(['b', 'c'])
    const latest = tableSourceOptions(['startingversion=LATEST'])
    expect(latestTableOffset(log, T, null, latest)).toEqual(startOfVersion(SOURCE_ID, 3))
    expect(filesOfRange(log, T, null, startOfVersion(SOURCE_ID, 3), latest).files).toEqual([])
    expect(errorOf(() => latestTableOffset(log, T, null, tableSourceOptions(['startingVersion=3'])))).toMatchObject({
      code: 'usage',
      condition: 'DELTA_VERSION_NOT_FOUND',
    })
  })

  it('says so when the table is not there', () => {
    expect(errorOf(() => latestTableOffset(memoryTableLog({}), T, null, DEFAULTS)).code).toBe('source-missing')
    expect(endOfAvailable(memoryTableLog({}), T)).toBeNull()
  })
})

describe('limits', () => {
  const files = (...names: string[]) => did({ adds: names.map((name) => added(name)) })

  it('maxFilesPerTrigger ends a batch inside a version, and rolls over at its end', () => {
    const log = memoryTableLog({ [T]: [created(), files('a', 'b', 'c'), files('d')] })
    expect(batches(log, ['maxFilesPerTrigger=2'])).toEqual([
      ['0:1', ''],
      ['1:1', 'a b'],
      ['3:-1', 'c d'],
    ])
    expect(batches(log, ['maxFilesPerTrigger=3'])).toEqual([
      ['0:1', ''],
      ['2:-1', 'a b c'],
      ['3:-1', 'd'],
    ])
  })

  it('a full batch goes on over versions without data, as they have nothing to be taken', () => {
    const rewritten = did({ adds: [added('ab', { dataChange: false })], removes: [removed('a', false)] })
    const log = memoryTableLog({ [T]: [created(), files('a'), rewritten, files('b')] })
    expect(batches(log, ['maxFilesPerTrigger=1'])).toEqual([
      ['0:1', ''],
      ['3:-1', 'a'],
      ['4:-1', 'b'],
    ])
  })

  it('maxBytesPerTrigger takes files while there is room, always one, and lifts the limit of 1000 files', () => {
    const log = memoryTableLog({ [T]: [created(), files('a', 'b', 'c')] })
    expect(batches(log, ['maxBytesPerTrigger=101b'])).toEqual([
      ['0:1', ''],
      ['1:1', 'a b'],
      ['2:-1', 'c'],
    ])
    expect(batches(log, ['maxBytesPerTrigger=1'])).toHaveLength(4)
    expect(tableSourceOptions(['maxBytesPerTrigger=1k'])).toMatchObject({ maxFilesPerTrigger: null, maxBytesPerTrigger: 1024 })
  })

  it('1000 files unless asked', () => {
    const many = files(...Array.from({ length: 1001 }, (_, i) => `f${i}`))
    expect(batches(memoryTableLog({ [T]: [created(), many] }), []).map(([end]) => end)).toEqual(['0:1', '1:999', '2:-1'])
  })

  it('a change of rows behind a full batch is the next batch’s error', () => {
    const log = memoryTableLog({ [T]: [created(), files('a'), did({ adds: [added('a2')], removes: [removed('a')] })] })
    const options = tableSourceOptions(['maxFilesPerTrigger=1'])
    const end = latestTableOffset(log, T, startOfVersion(SOURCE_ID, 1), options)
    expect(end).toEqual(startOfVersion(SOURCE_ID, 2))
    expect(errorOf(() => latestTableOffset(log, T, end, options)).code).toBe('source-changed')
    // Within the limit the good version in front is not planned alone.
    expect(errorOf(() => latestTableOffset(log, T, startOfVersion(SOURCE_ID, 1), DEFAULTS)).code).toBe('source-changed')
  })

  it('nothing behind the end that availableNow fixed is taken', () => {
    const versions = [created(), files('a', 'b')]
    const upTo = endOfAvailable(memoryTableLog({ [T]: versions }), T)
    expect(upTo).toEqual(startOfVersion(SOURCE_ID, 2))
    const grown = memoryTableLog({ [T]: [...versions, files('c')] })
    expect(latestTableOffset(grown, T, startOfVersion(SOURCE_ID, 1), DEFAULTS, upTo)).toEqual(upTo)
    expect(latestTableOffset(grown, T, upTo, DEFAULTS, upTo)).toBeNull()
    expect(latestTableOffset(grown, T, null, DEFAULTS, upTo)).toEqual(upTo)
    expect(latestTableOffset(grown, T, startOfVersion(SOURCE_ID, 3), DEFAULTS, upTo)).toBeNull()
  })
})

describe('versions that change rows', () => {
  const update = did({ commitInfo: { operation: 'MERGE' }, adds: [added('b', { statistics: '{"numRecords":7}' })], removes: [removed('a')] })
  const removal = did({ adds: [], removes: [removed('a')] })
  const start = startOfVersion(SOURCE_ID, 1)

  it.each([
    { what: 'update', version: update, pairs: [], outcome: 'source-changed' },
    { what: 'update', version: update, pairs: ['ignoreDeletes=true'], outcome: 'source-changed' },
    { what: 'update', version: update, pairs: ['ignoreChanges=true'], outcome: 'b' },
    { what: 'update', version: update, pairs: ['skipChangeCommits=true'], outcome: '' },
    { what: 'removal', version: removal, pairs: [], outcome: 'source-deleted' },
    { what: 'removal', version: removal, pairs: ['ignoreDeletes=true'], outcome: '' },
    { what: 'removal', version: removal, pairs: ['ignoreChanges=true'], outcome: '' },
    { what: 'removal', version: removal, pairs: ['ignoreFileDeletion=true'], outcome: '' },
    { what: 'removal', version: removal, pairs: ['skipChangeCommits=true'], outcome: '' },
  ])('$what with $pairs: $outcome', ({ version, pairs, outcome }) => {
    const log = memoryTableLog({ [T]: [created([added('a')]), version] })
    const options = tableSourceOptions(pairs)
    const plan = () => latestTableOffset(log, T, start, options)
    if (outcome.startsWith('source-')) {
      expect(errorOf(plan).code).toBe(outcome)
      expect(errorOf(() => filesOfRange(log, T, start, startOfVersion(SOURCE_ID, 2), options)).code).toBe(outcome)
    } else {
      expect(plan()).toEqual(startOfVersion(SOURCE_ID, 2))
      expect(paths(log, start, startOfVersion(SOURCE_ID, 2), options).join()).toBe(outcome)
    }
  })

  it('tells which versions were left out, and their rows', () => {
    const log = memoryTableLog({ [T]: [created([added('a')]), update, did({ adds: [added('c')] })] })
    const range = filesOfRange(log, T, start, startOfVersion(SOURCE_ID, 3), tableSourceOptions(['skipChangeCommits=true']))
    expect(range.files.map((file) => file.path)).toEqual(['c'])
    expect(range.skipped).toEqual([{ version: 1, rows: 7 }])
  })
})

describe('changes of the columns', () => {
  const plan = (now: VersionActions['metadata'], before: readonly string[] = ['a']) => {
    const log = memoryTableLog({ [T]: [created([], before), did({ metadata: now, adds: [added('x')] })] })
    return latestTableOffset(log, T, startOfVersion(SOURCE_ID, 1), DEFAULTS)
  }

  it('goes on with a new column that may be null, and with new properties', () => {
    expect(plan(metadata(['a', 'b']))).toEqual(startOfVersion(SOURCE_ID, 2))
    expect(plan({ ...metadata(['a']), configuration: { x: '1' } })).toEqual(startOfVersion(SOURCE_ID, 2))
    const log = memoryTableLog({ [T]: fixtureVersions('column-added') })
    const start = startOfVersion('1f64c166-8670-42d9-b368-156c6e5b9d0a', 1)
    expect(latestTableOffset(log, T, start, DEFAULTS)).toMatchObject({ version: 2 })
  })

  it.each([
    { name: 'dropped', now: metadata(['b']), words: 'a is gone' },
    { name: 'another type', now: metadata(['a'], SOURCE_ID, true, 'string'), words: 'a has another type' },
    { name: 'not null', now: metadata(['a', 'b'], SOURCE_ID, false), words: 'b is new and must not be null' },
  ])('refuses: $name', ({ now, words }) => {
    const error = errorOf(() => plan(now))
    expect(error).toMatchObject({ code: 'source-changed', condition: 'DELTA_SCHEMA_CHANGED_WITH_VERSION' })
    expect(error.message).toContain(words)
  })

  it('refuses a table whose id changed on the way', () => {
    expect(errorOf(() => plan(metadata(['a'], 'another'))).code).toBe('table-recreated')
  })
})

describe('a table that does not fit the checkpoint', () => {
  const versions = [created([added('a')]), did({ adds: [added('b')] }), did({ adds: [added('c')] })]

  it('made again, with fewer, as many and more versions', () => {
    const other = [created([added('x')], ['a'], 'other'), did({ adds: [added('y')] }), did({ adds: [added('z')] })]
    for (const count of [1, 2, 3]) {
      const log = memoryTableLog({ [T]: other.slice(0, count) })
      expect(errorOf(() => latestTableOffset(log, T, startOfVersion(SOURCE_ID, 2), DEFAULTS)).code).toBe('table-recreated')
      expect(errorOf(() => filesOfRange(log, T, null, startOfVersion(SOURCE_ID, 1), DEFAULTS)).code).toBe('table-recreated')
    }
  })

  it('newest versions gone', () => {
    const log = memoryTableLog({ [T]: versions.slice(0, 1) })
    const error = { code: 'source-truncated', condition: 'DELTA_STREAMING_TRAILING_COMMIT_MISSING' }
    expect(errorOf(() => latestTableOffset(log, T, startOfVersion(SOURCE_ID, 2), DEFAULTS))).toMatchObject(error)
    expect(errorOf(() => latestTableOffset(log, T, { ...startOfVersion(SOURCE_ID, 1), index: 0 }, DEFAULTS))).toMatchObject(error)
    expect(errorOf(() => filesOfRange(log, T, startOfVersion(SOURCE_ID, 1), startOfVersion(SOURCE_ID, 3), DEFAULTS))).toMatchObject(error)
    expect(latestTableOffset(log, T, startOfVersion(SOURCE_ID, 1), DEFAULTS)).toBeNull()
  })

  it('old versions gone that are still needed', () => {
    const log = memoryTableLog({ [T]: versions }, 2)
    const error = { code: 'source-truncated', condition: 'DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE' }
    expect(errorOf(() => latestTableOffset(log, T, startOfVersion(SOURCE_ID, 1), DEFAULTS))).toMatchObject(error)
    expect(errorOf(() => filesOfRange(log, T, null, startOfVersion(SOURCE_ID, 1), DEFAULTS))).toMatchObject(error)
    expect(latestTableOffset(log, T, startOfVersion(SOURCE_ID, 2), DEFAULTS)).toEqual(startOfVersion(SOURCE_ID, 3))
  })

  it('a range that goes back or ends at a file that is not there', () => {
    const log = memoryTableLog({ [T]: versions })
    expect(errorOf(() => filesOfRange(log, T, startOfVersion(SOURCE_ID, 2), startOfVersion(SOURCE_ID, 1), DEFAULTS)).code).toBe('checkpoint-damaged')
    expect(errorOf(() => filesOfRange(log, T, null, { ...startOfVersion(SOURCE_ID, 2), index: 1 }, DEFAULTS)).code).toBe('source-truncated')
    expect(errorOf(() => filesOfRange(log, T, null, { tableId: SOURCE_ID, version: 0, index: 1, isInitialSnapshot: true }, DEFAULTS)).code).toBe(
      'source-truncated',
    )
  })
})

it('planning looks only at versions from the start on, and at no snapshot', () => {
  const log = memoryTableLog({ [T]: [created(), ...Array.from({ length: 500 }, (_, i) => did({ adds: [added(`f${i}`)] }))] })
  const end = latestTableOffset(log, T, startOfVersion(SOURCE_ID, 499), DEFAULTS)
  if (end) filesOfRange(log, T, startOfVersion(SOURCE_ID, 499), end, DEFAULTS)
  expect(new Set(log.asked)).toEqual(new Set([499, 500]))
  expect(log.snapshots).toBe(0)
})

it('batches of any limits cover each file once and in order, and give the same files when asked again later', () => {
  const version = fc.record({ files: fc.nat(4), moves: fc.boolean() })
  fc.assert(
    fc.property(fc.array(version, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), fc.nat(7), (shape, limit, firstSeen) => {
      const versions = shape.map(({ files, moves }, v) => {
        const adds = Array.from({ length: files }, (_, i) => added(`v${v}f${i}`, { modifiedMs: v }))
        if (moves) adds.splice(1, 0, added(`v${v}moved`, { dataChange: false, modifiedMs: v }))
        return v === 0 ? created(adds) : did({ adds })
      })
      const options = tableSourceOptions([`maxFilesPerTrigger=${limit}`])
      const seen = Math.min(firstSeen, versions.length - 1)
      const ranges: [TableOffset | null, TableOffset, string[]][] = []
      let start: TableOffset | null = null
      for (let newest = seen; newest < versions.length; ) {
        const log = memoryTableLog({ [T]: versions.slice(0, newest + 1) })
        const end: TableOffset | null = latestTableOffset(log, T, start, options)
        if (end === null) newest++
        else {
          expect(start === null || compareTableOffsets(start, end) < 0).toBe(true)
          ranges.push([start, end, paths(log, start, end, options)])
          start = end
        }
      }
      const grown = memoryTableLog({ [T]: versions })
      for (const [from, to, files] of ranges) expect(paths(grown, from, to, options)).toEqual(files)
      const snapshot = versions.slice(0, seen + 1).flatMap(({ adds }) => adds.map(({ path }) => path))
      const later = versions.slice(seen + 1).flatMap(({ adds }) => adds.filter(({ dataChange }) => dataChange).map(({ path }) => path))
      expect(ranges.flatMap(([, , files]) => files)).toEqual([...snapshot.sort(), ...later])
      expect(ranges.every(([, , files]) => files.length <= limit)).toBe(true)
    }),
  )
})

function loggedLine(fixture: string, batchId: number): string {
  return readFileSync(join(sparkCheckpoint(fixture), 'offsets', String(batchId)), 'utf8').split('\n')[2] ?? ''
}

function paths(log: TableLog, start: TableOffset | null, end: TableOffset | null, options = DEFAULTS): string[] {
  return end === null ? [] : filesOfRange(log, T, start, end, options).files.map((file) => file.path)
}

/** The batches of a stream that began when the table had only its version 0: `version:index` of each end, and the files. */
function batches(log: MemoryTableLog, pairs: string[]): [string, string][] {
  const options = tableSourceOptions(pairs)
  const result: [string, string][] = [['0:1', '']]
  for (let start = startOfVersion(SOURCE_ID, 1); ; ) {
    const end = latestTableOffset(log, T, start, options)
    if (end === null) return result
    result.push([`${end.version}:${end.index}`, paths(log, start, end, options).join(' ')])
    start = end
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
