/**
 * Files of a checkpoint that are empty, cut off or gone. A start then either refuses, names the file or the batches, and touches
 * nothing; or it comes to the right result.
 */
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { newStory, temporaryStories, type Story } from './workspace.js'

const begin = temporaryStories()

/** Three batches of events_copy (3, 2, 2 rows), all committed, and two rows in bronze for a fourth. */
let committed: Story
/** The same, killed between write and commit of the third. */
let pending: Story

beforeAll(async () => {
  committed = newStory()
  for (const part of [1, 2, 3]) {
    await committed.produce(part)
    await committed.run(bronzeOrders)
    if (part < 3) await committed.run(eventsCopy, { idempotent: true })
  }
  pending = newStory(committed)
  await committed.run(eventsCopy, { idempotent: true })
  await pending.run(eventsCopy, { idempotent: true, killAt: 'table-committed' })
  for (const story of [committed, pending]) {
    await story.produce(4)
    await story.run(bronzeOrders)
  }
})
afterAll(() => {
  committed.remove()
  pending.remove()
})

type Damage = 'empty' | 'gone' | number

function damage(story: Story, file: string, how: Damage): void {
  const path = story.path('checkpoints', 'events_copy', file)
  if (how === 'gone') rmSync(path)
  else truncateSync(path, how === 'empty' ? 0 : how)
}

/** Runs events_copy, of whose checkpoint a file was damaged: the error that refused it, with nothing changed; or null, with every row there once. */
async function outcome(story: Story, damaged: string | null = null): Promise<StreamtopError | null> {
  const before = { ...story.files('checkpoints'), ...story.files('tables', 'events_copy') }
  try {
    await story.run(eventsCopy, { idempotent: true })
  } catch (error) {
    if (!(error instanceof StreamtopError)) throw error
    expect({ ...story.files('checkpoints'), ...story.files('tables', 'events_copy') }).toEqual(before)
    expect(error.hint).toBeTruthy()
    return error
  }
  const offsets = (await story.rows('events_copy')).map((row) => Number(row['offset']))
  expect(offsets.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  await story.expectSound({ events_copy: { damaged: damaged === null ? [] : [damaged] } })
  return null
}

/** The lengths at which a file of a log is cut: inside and after its version, inside and after its metadata, inside its last line, one byte short. */
function cuts(story: Story, file: string): number[] {
  const text = story.files('checkpoints', 'events_copy')[file] ?? ''
  const lineEnds = [...text.matchAll(/\n/g)].map(({ index }) => index)
  const around = lineEnds.flatMap((index) => [index - 1, index, index + 1, index + 2])
  return [...new Set([1, ...around, text.length >> 1, text.length - 1])].filter((length) => length > 0 && length < text.length)
}

describe('refused, with the name of the file', () => {
  test.each([
    ['metadata', 'committed'],
    ['offsets/2', 'committed'],
    ['offsets/1', 'committed'],
    ['offsets/2', 'pending'],
    ['offsets/1', 'pending'],
  ] as const)('%s, empty or cut anywhere, when the newest batch is %s', async (file, which) => {
    const from = which === 'committed' ? committed : pending
    for (const how of ['empty', ...cuts(from, file)] as const) {
      const story = begin(from)
      damage(story, file, how)
      const error = await outcome(story)
      expect(error, `${file} cut at ${how}`).toMatchObject({
        code: 'checkpoint-damaged',
        message: expect.stringContaining(story.path('checkpoints', 'events_copy', file)),
      })
    }
  })

  test.each([
    ['metadata', 'committed', 'metadata-missing'],
    ['metadata', 'pending', 'metadata-missing'],
    ['offsets/1', 'committed', 'checkpoint-damaged'],
    ['offsets/1', 'pending', 'checkpoint-damaged'],
  ] as const)('%s gone, when the newest batch is %s', async (file, which, code) => {
    const story = begin(which === 'committed' ? committed : pending)
    damage(story, file, 'gone')
    expect(await outcome(story)).toMatchObject({ code, message: expect.stringContaining(story.path('checkpoints', 'events_copy', file)) })
  })

  test('the newest offsets gone under their commit', async () => {
    const story = begin(committed)
    damage(story, 'offsets/2', 'gone')
    expect(await outcome(story)).toMatchObject({
      code: 'checkpoint-damaged',
      message: expect.stringMatching(/commits\/2 commits batch 2.*offsets end at batch 1/),
    })
  })

  test.each([
    ['commits/2', 'committed'],
    ['commits/1', 'pending'],
  ] as const)('%s, empty or cut inside a line, when the newest batch is %s', async (file, which) => {
    const from = which === 'committed' ? committed : pending
    // Spark 2 left the version alone: that is a whole file.
    for (const how of ['empty', ...cuts(from, file).filter((length) => length !== 2 && length !== 3)] as const) {
      const story = begin(from)
      damage(story, file, how)
      expect(await outcome(story), `${file} cut at ${how}`).toMatchObject({ code: 'checkpoint-damaged', message: expect.stringContaining(file) })
    }
  })
})

describe('the right result', () => {
  test.each([
    ['offsets/0', 'committed', 'empty'],
    ['offsets/0', 'committed', 'gone'],
    ['offsets/0', 'pending', 'gone'],
    ['commits/0', 'committed', 'empty'],
    ['commits/0', 'pending', 'gone'],
    ['commits/1', 'committed', 'empty'],
    ['commits/1', 'committed', 'gone'],
  ] as const)('%s of a checkpoint whose newest batch is %s is not needed: %s', async (file, which, how) => {
    const story = begin(which === 'committed' ? committed : pending)
    damage(story, file, how)
    expect(await outcome(story, file)).toBeNull()
  })

  test('the newest commit gone: the batch runs again', async () => {
    const story = begin(committed)
    damage(story, 'commits/2', 'gone')
    expect(await outcome(story)).toBeNull()
    expect(story.list('checkpoints', 'events_copy', 'commits')).toEqual(['0', '1', '2', '3'])
  })

  test.each([2, 3])('the newest commit cut to its version (%i bytes), as Spark 2 wrote it', async (length) => {
    const story = begin(committed)
    damage(story, 'commits/2', length)
    expect(await outcome(story)).toBeNull()
  })

  test('the newest offsets gone when they have no commit: the batch is planned anew, and the fence stops it when it has other rows', async () => {
    const story = begin(pending)
    damage(story, 'offsets/2', 'gone')
    expect(await outcomeCode(story)).toBe('range-changed')
  })
})

describe('--accept-gap', () => {
  test('a gap of commits below the newest batch is refused, and taken as done when asked', async () => {
    const story = begin(pending)
    damage(story, 'commits/1', 'gone')
    expect(await outcome(story)).toMatchObject({
      code: 'checkpoint-gap',
      message: expect.stringContaining('batch 1'),
      hint: expect.stringContaining('--accept-gap'),
    })

    const { events } = await story.run(eventsCopy, { idempotent: true, acceptGap: true })

    expect(events.find((event) => event.kind === 'note')).toMatchObject({ text: expect.stringContaining('batches 1 have no commit') })
    expect(await story.rows('events_copy')).toHaveLength(9)
    expect(story.list('checkpoints', 'events_copy', 'commits')).toEqual(['0', '2', '3'])
    await story.expectSound({ events_copy: { damaged: ['commits/1'] } })
  })
})

describe('what others left', () => {
  test('a checksum that belonged to an earlier file goes with the new one', async () => {
    const story = begin(committed)
    const stale = ['offsets/.3.crc', 'commits/.3.crc'].map((name) => story.path('checkpoints', 'events_copy', name))
    for (const path of stale) writeFileSync(path, 'crc\0\0\0\x02\0')
    expect(await outcome(story)).toBeNull()
    expect(story.list('checkpoints', 'events_copy', 'offsets')).toEqual(['0', '1', '2', '3'])
    expect(story.list('checkpoints', 'events_copy', 'commits')).toEqual(['0', '1', '2', '3'])
  })

  test('half-written temp files are removed at a start', async () => {
    const story = begin(pending)
    const id = '0b4e8b1e-6f0e-4a43-9d4b-3f1f3c9a0a11'
    const stale = [`.metadata.${id}.tmp`, `offsets/.3.${id}.tmp`, `commits/.2.${id}.tmp`, `commits/..2.${id}.tmp.crc`]
    for (const name of stale) writeFileSync(story.path('checkpoints', 'events_copy', name), 'v1\n{"batchWa')
    expect(await outcome(story)).toBeNull()
    expect(Object.keys(story.files('checkpoints', 'events_copy')).filter((name) => name.includes('.tmp'))).toEqual([])
  })
})

async function outcomeCode(story: Story): Promise<string | null> {
  return (await outcome(story))?.code ?? null
}
