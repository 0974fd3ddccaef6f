import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { foreachBatch, query, topic } from '../../src/engine/definition.js'
import { replayNewestBatch } from '../../src/engine/reset.js'
import { batchLines } from '../../src/observe/batch-lines.js'
import { batchRange } from '../../src/observe/batch-range.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { fixturesIn, SPARK_TABLES, SPARK_WORKSPACES, sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Lines as a screen draws them: number, commit, range, rows, attempts. */
function drawn(workspace: string, name: string, limit = 5): string[] {
  const definition = BUILT_IN_QUERIES.find((one) => one.name === name) ?? null
  return batchLines(workspace, name, definition, limit, fx).map(
    ({ batchId, isLogged, isCommitted, range, rows, attempts }) =>
      `${isLogged ? batchId : `(${batchId})`} ${isCommitted ? batchId : '-'} ${range ?? '?'}; ${rows ?? '?'} rows, ${attempts ?? '?'} attempts`,
  )
}

/** Parts of the nine orders, each a batch of bronze. */
async function inParts(...parts: number[]): Promise<Story> {
  const story = newStory()
  for (const part of parts) {
    await story.produce(part)
    await story.run(bronzeOrders)
  }
  return story
}

describe('the two logs side by side', () => {
  it('of a topic, newest first, with offsets that end before the next', async () => {
    const story = await inParts(1, 2, 3)
    expect(drawn(story.folder, 'bronze_orders')).toEqual([
      '2 2 offsets 5 to 7; 2 rows, 1 attempts',
      '1 1 offsets 3 to 5; 2 rows, 1 attempts',
      '0 0 offsets 0 to 3; 3 rows, 1 attempts',
    ])
    expect(drawn(story.folder, 'bronze_orders', 1)).toHaveLength(1)
  })

  it('of a table, and a batch without its commit stands out', async () => {
    const story = await inParts(1, 2)
    await story.run(eventsCopy)
    await story.produce(3)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { killAt: 'table-committed' })
    expect(drawn(story.folder, 'events_copy')).toEqual(['1 - version 2; 2 rows, 1 attempts', '0 0 versions 0 to 1; 5 rows, 1 attempts'])
    await story.run(eventsCopy)
    expect(drawn(story.folder, 'events_copy')[0]).toBe('1 1 version 2; 2 rows, 2 attempts')
    await replayNewestBatch(story.folder, 'events_copy', fx)
    expect(drawn(story.folder, 'events_copy')[0]).toBe('1 - version 2; 2 rows, 2 attempts')
  })

  it('says honestly how many files of a version are taken', async () => {
    const story = await inParts(1, 2, 3)
    const oneFile = { sourceOptions: ['maxFilesPerTrigger=1'] }
    await story.run(eventsCopy, { ...oneFile, killAt: { step: 'batch-committed', occurrence: 1 } })
    expect(drawn(story.folder, 'events_copy')).toEqual(['0 0 versions 0 to 2, file 1; 3 rows, 1 attempts'])
    await story.run(eventsCopy, oneFile)
    expect(drawn(story.folder, 'events_copy')).toEqual([
      '2 2 rest of versions 0 to 2; 2 rows, 1 attempts',
      '1 1 versions 0 to 2, file 2; 2 rows, 1 attempts',
      '0 0 versions 0 to 2, file 1; 3 rows, 1 attempts',
    ])
  })

  it('begins where the query was told to begin', async () => {
    const story = await inParts(1, 2, 3)
    await story.run(eventsCopy, { sourceOptions: ['startingVersion=1'] })
    expect(drawn(story.folder, 'events_copy')).toEqual(['0 0 versions 1 to 2; 4 rows, 1 attempts'])
  })

  it('counts a MERGE by the rows that it was given, and knows a write that the log lacks', async () => {
    const story = await inParts(1)
    await story.run(orders, { killAt: 'version-linked' })
    expect(drawn(story.folder, 'orders')).toEqual(['0 - version 0; 3 rows, 1 attempts'])
    rmSync(story.path('tables', '_log.db'))
    expect(drawn(story.folder, 'orders')).toEqual(['0 - version 0; 3 rows, 1 attempts'])
  })

  it('of several partitions says how many, and records in all', async () => {
    const story = newStory()
    const producer = openEmbeddedProducer(story.folder, 'wide', { partitions: 3 }, fx)
    const send = (partition: number) => producer.send([{ key: Buffer.from('k'), value: Buffer.from('v'), partition }])
    for (const partition of [0, 1, 1]) await send(partition)
    const copy = query(
      'wide_copy',
      topic('wide'),
      foreachBatch(async (batch) => void (await batch.append('wide_copy', batch.columns))),
    )
    await story.run(copy)
    await send(2)
    await producer.close()
    await story.run(copy)
    expect(drawn(story.folder, 'wide_copy')).toEqual(['1 1 partition 2, offsets 0 to 1; 1 rows, 1 attempts', '0 0 2 partitions, 3 records; 3 rows, 1 attempts'])
  })
})

describe('what others left', () => {
  it.each([
    [
      'third-batch-pending',
      'events_copy',
      ['2 - version 3; ? rows, ? attempts', '1 1 version 2; ? rows, ? attempts', '0 0 versions 0 to 1; ? rows, ? attempts'],
    ],
    ['inside-initial-snapshot', 'events_copy', ['1 - versions 0 to 2, file 2; ? rows, ? attempts', '0 0 versions 0 to 2, file 1; ? rows, ? attempts']],
    ['commits-ahead', 'events_copy', ['(1) 1 ?; ? rows, ? attempts', '0 0 versions 0 to 1; ? rows, ? attempts']],
    ['offsets-log-deleted', 'events_copy', ['(1) 1 ?; ? rows, ? attempts', '(0) 0 ?; ? rows, ? attempts']],
    ['two-sources', 'union', ['1 1 2 sources; ? rows, ? attempts', '0 0 2 sources; ? rows, ? attempts']],
  ])('%s', (name, checkpoint, lines) => {
    expect(drawn(sparkWorkspace(name), checkpoint)).toEqual(lines)
  })

  it('never throws, whatever the folder', () => {
    for (const folder of [...fixturesIn(SPARK_WORKSPACES), ...fixturesIn(SPARK_TABLES)]) {
      const names = fx.files.list(join(folder, 'checkpoints'))
      for (const name of [...names, 'not_there']) expect(() => drawn(folder, name)).not.toThrow()
      for (const name of names) expect(drawn(folder, name).length).toBeGreaterThan(0)
    }
  })

  it('shows what is left of damaged files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'streamtop-lines-'))
    folders.push(folder)
    cpSync(sparkWorkspace('third-batch-pending'), folder, { recursive: true })
    writeFileSync(join(folder, 'checkpoints', 'events_copy', 'offsets', '1'), 'v1\n{"batchWatermarkMs":0')
    writeFileSync(join(folder, 'checkpoints', 'events_copy', 'metadata'), '')
    writeFileSync(join(folder, 'tables', '_log.db'), 'no database')
    // Where the third batch starts is told by the second, which cannot be read.
    expect(drawn(folder, 'events_copy')).toEqual([
      '2 - up to version 3; ? rows, ? attempts',
      '1 1 ?; ? rows, ? attempts',
      '0 0 versions 0 to 1; ? rows, ? attempts',
    ])
  })
})

describe('a range in words', () => {
  const at = (version: number, index: number, isInitial = false) =>
    JSON.stringify({ sourceVersion: 1, reservoirId: 'a', reservoirVersion: version, index, isStartingVersion: isInitial })
  const range = (start: string | null | undefined, end: string) => batchRange({ start, end, initialOffsets: null, startingVersion: null })?.text

  it.each([
    [at(3, -1), at(8, -1), 'versions 3 to 7'],
    [at(7, -1), at(8, -1), 'version 7'],
    [at(7, -1), at(7, -1), 'no versions'],
    [at(7, -1), at(7, 0), 'version 7, file 1'],
    [at(7, 0), at(7, 3), 'version 7, files 2 to 4'],
    [at(7, 0), at(8, -1), 'rest of version 7'],
    [at(7, 0), at(10, -1), 'rest of version 7 and versions 8 to 9'],
    [at(3, -1), at(7, 1), 'versions 3 to 6 and version 7, files 1 to 2'],
    [at(3, 1), at(4, 0), 'rest of version 3 and version 4, file 1'],
    [at(3, 1, true), at(6, -1), 'rest of versions 0 to 3 and versions 4 to 5'],
    [null, at(1, -1), 'version 0'],
    [undefined, at(8, -1), 'up to version 7'],
    ['{"orders":{"0":45}}', '{"orders":{"0":51}}', 'offsets 45 to 51'],
    ['{"orders":{"0":45,"1":2}}', '{"orders":{"0":45,"1":2}}', 'no records'],
    ['{"orders":{"0":9007199254740993}}', '{"orders":{"0":9007199254740995}}', 'offsets 9007199254740993 to 9007199254740995'],
    [undefined, '{"orders":{"0":51}}', 'up to offset 51'],
    [undefined, '{"orders":{"0":51,"1":7}}', '2 partitions'],
    ['{"a":{"0":1},"b":{"0":1}}', '{"a":{"0":2},"b":{"0":3}}', '2 topics, 3 records'],
    [null, 'an offset of another source', undefined],
  ])('%s to %s is %s', (start, end, text) => {
    expect(range(start, end)).toBe(text)
  })
})
