import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { produce } from '../../src/commands/produce.js'
import { type Effects, realEffects } from '../../src/effects.js'
import { nextOrders } from '../../src/queries/order-generator.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { recordLines } from '../../src/topic/record-lines.js'
import type { OutgoingRecord } from '../../src/topic/topic.js'
import { type CommandChoices, commandHere } from '../command-here.js'

let workspace: string

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'streamtop-produce-'))
})

afterEach(() => rmSync(workspace, { recursive: true, force: true }))

describe('parts', () => {
  test('--all sends the nine events and says nothing', async () => {
    expect(await streamtop('produce', '--all')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await topicTexts()).toEqual([1, 2, 3, 4].flatMap(partRecords).map(asText))
  })

  test('--part sends one, as often as it is asked', async () => {
    await streamtop('produce', '--part', '2')
    await streamtop('produce', '--part', '2')
    expect(await topicTexts()).toEqual([...partRecords(2), ...partRecords(2)].map(asText))
  })

  test('a person at a terminal is told, a program gets JSON', async () => {
    expect(await onTerminal('produce', '--all')).toEqual({ code: 0, stdout: '', stderr: 'sent 9 records to topic orders, which ends at 9\n' })
    const { stdout, stderr } = await streamtop('produce', '--part', '1', '--topic', 'payments', '--partitions', '2', '--json')
    const { endOffsets, ...rest } = JSON.parse(stdout) as { endOffsets: Record<string, string> }
    expect(rest).toEqual({ topic: 'payments', sent: 3, partitions: 2 })
    expect(Number(endOffsets['0']) + Number(endOffsets['1'])).toBe(3)
    expect(stderr).toBe('')
  })
})

describe('generated orders', () => {
  test('rate times seconds are sent, and the next run goes on', async () => {
    const { fx, slept } = virtualClock()
    expect((await run({ fx }, 'produce', '--rate', '30', '--seconds', '2.5')).code).toBe(0)
    expect(slept()).toBe(2_500)
    await run({ fx }, 'produce', '--rate', '0.5', '--seconds', '5')
    expect(await topicTexts()).toEqual(nextOrders(null, 1, 77).records.map(asText))
  })

  test('a send is never late by more than a moment', async () => {
    const { fx, times } = virtualClock()
    await run({ fx }, 'produce', '--rate', '4', '--seconds', '1')
    expect(times()).toEqual([250, 500, 750, 1_000])
  })

  test('it ends when it is told to, and what was sent stays', async () => {
    const stop = new AbortController()
    const { fx } = virtualClock((nowMs) => nowMs >= 1_000 && stop.abort())
    expect((await run({ fx, signal: stop.signal }, 'produce', '--rate', '10')).code).toBe(0)
    expect((await topicTexts()).length).toBe(9)
  })

  test('a rate that is too high ends on time', async () => {
    const { fx, slept } = virtualClock(undefined, 5)
    await run({ fx }, 'produce', '--rate', '1000000000', '--seconds', '0.02')
    expect(slept()).toBeLessThanOrEqual(40)
    expect((await topicTexts()).length % 5_000).toBe(0)
  })
})

describe('lines of a file', () => {
  test('a line is a record, as it is', async () => {
    const file = join(workspace, 'lines')
    writeFileSync(file, 'k1\tv1\r\n\nalone\r\n\tno key\nk\ta\tb\n\r\nk2\t\nlast')
    expect((await streamtop('produce', '--from', file, '--json')).stdout).toMatch('"sent":6')
    expect(await topicTexts()).toEqual([
      ['k1', 'v1'],
      [null, 'alone'],
      ['', 'no key'],
      ['k', 'a\tb'],
      ['k2', ''],
      [null, 'last'],
    ])
  })

  test('however the bytes are cut, the records are the same, and a group is bounded', async () => {
    const text = Array.from({ length: 12_000 }, (_, i) => `k${i}\tvé${i}\r\n`).join('')
    const bytes = Buffer.from(text)
    for (const size of [1, 7, 4_096, bytes.length]) {
      const groups: OutgoingRecord[][] = []
      for await (const group of recordLines(pieces(bytes, size), { sleep: () => new Promise(() => {}) })) groups.push(group)
      expect(Math.max(...groups.map((group) => group.length))).toBeLessThanOrEqual(5_000)
      expect(groups.flat().map(asText).map(String).join('\n')).toBe(text.trimEnd().replaceAll('\t', ',').replaceAll('\r', ''))
    }
  })

  test('a line without an end is refused; what came before it was sent', async () => {
    const chunks = (async function* () {
      yield Buffer.from('a\nb\n')
      for (let i = 0; i < 70; i++) yield Buffer.alloc(1024 * 1024, 'x')
    })()
    const records: OutgoingRecord[] = []
    const reading = (async () => {
      for await (const group of recordLines(chunks, realEffects)) records.push(...group)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'bad-value', message: expect.stringContaining('line 3') })
    expect(records.length).toBe(2)
  })

  test('what has come is given out while nothing more comes, and half a line waits for its end', async () => {
    let goOn = () => {}
    const more = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const chunks = (async function* () {
      yield Buffer.from('one\ntwo\nhalf ')
      await more
      yield Buffer.from('a line\n')
    })()
    const groups: unknown[] = []
    for await (const group of recordLines(chunks, { sleep: async () => {} })) {
      groups.push(group.map(asText).map(([, value]) => value))
      goOn()
    }
    expect(groups).toEqual([['one', 'two'], ['half a line']])
  })

  test('a pause that ends with an error in what is done with the records is not waited for', async () => {
    const chunks = (async function* () {
      yield Buffer.from('one\n')
      await new Promise(() => {})
    })()
    const reading = (async () => {
      for await (const _ of recordLines(chunks, { sleep: async () => {} })) throw new Error('not sent')
    })()
    await expect(reading).rejects.toThrow('not sent')
  })

  test('a file that is not there makes no topic', async () => {
    expect(await streamtop('produce', '--from', join(workspace, 'none'))).toMatchObject({ code: 1, stderr: expect.stringContaining('is not there') })
    expect(await streamtop('produce', '--from', workspace)).toMatchObject({ code: 1, stderr: expect.stringContaining('is a folder') })
    expect(readdirSync(workspace)).toEqual([])
  })
})

test.each([
  [[]],
  [['--part', '0']],
  [['--part', '5']],
  [['--part', '1', '--all']],
  [['--all', '--from', 'x']],
  [['--rate', '0']],
  [['--rate', '-1']],
  [['--rate', 'x']],
  [['--all', '--seconds', '3']],
  [['--all', '--seed', '3']],
  [['--all', '--partitions', '0']],
  [['--all', '--topic', '../x']],
])('wrong usage is exit 2 and makes nothing: %j', async (words) => {
  const { code, stdout, stderr } = await streamtop('produce', ...words)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr.trimEnd().split('\n')).toHaveLength(2)
  expect(readdirSync(workspace)).toEqual([])
})

test('another number of partitions than the topic has is refused', async () => {
  await streamtop('produce', '--all')
  expect(await streamtop('produce', '--all', '--partitions', '3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('topic orders has 1 partition, not 3'),
  })
})

async function run(choices: CommandChoices, ...words: string[]) {
  const { exitCode: code, ...said } = await commandHere(workspace, [...words, '--workspace', workspace], { verbs: [produce], ...choices })
  return { code, ...said }
}

const streamtop = (...words: string[]) => run({}, ...words)
const onTerminal = (...words: string[]) => run({ isTerminal: true }, ...words)

/** A clock that sleeping moves on, and that each reading may move too; `times` are the moments at which records were sent. */
function virtualClock(onTick: (nowMs: number) => unknown = () => {}, readingMs = 0) {
  let nowMs = 0
  const times: number[] = []
  const fx: Effects = {
    ...realEffects,
    monotonicMs: () => (nowMs += readingMs),
    nowMs: () => {
      if (nowMs > 0) times.push(nowMs)
      return 1_700_000_000_000
    },
    sleep: async (durationMs) => {
      nowMs += durationMs
      onTick(nowMs)
    },
  }
  return { fx, slept: () => nowMs, times: () => times }
}

/** Keys and values of every record of the topic, which has one partition. */
async function topicTexts(): Promise<(string | null)[][]> {
  const topic = openEmbeddedTopic(workspace, 'orders', realEffects)
  const records: (string | null)[][] = []
  for await (const { keys, values } of topic.read(0, 0n, (await topic.endOffsets()).get(0) ?? 0n)) {
    for (const [index, value] of values.entries()) records.push(asText({ key: keys[index] ?? null, value }))
  }
  await topic.close()
  return records
}

function asText({ key, value }: OutgoingRecord): (string | null)[] {
  return [key, value].map((bytes) => (bytes === null ? null : Buffer.from(bytes).toString()))
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
