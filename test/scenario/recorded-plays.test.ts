/** A play that is recorded without a terminal: the same bytes each time, and in them what the play showed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandHere } from '../command-here.js'
import { movingPicture } from '../tui/moving-picture.js'
import { eventsOf, playedBack, temporaryFolder } from '../tui/recorded-run.js'
import { scriptText } from './virtual-play.js'

const SCRIPT = scriptText([
  'say: "Nine <events> arrive & are read."',
  'produce: all',
  'run: bronze_orders',
  'say: We copy them and die.',
  'run: { query: events_copy, kill: table-committed }',
  'run: events_copy',
  'expect: { query: events_copy, rows: 18, verdict: duplicated }',
])

interface Play {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly cast: string
  readonly svg: string
}

async function play(): Promise<Play> {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-record-'))
  const [file, cast, svg] = ['mine.yaml', 'a.cast', 'a.svg'].map((name) => join(folder, name)) as [string, string, string]
  writeFileSync(file, SCRIPT)
  const ended = await commandHere(folder, ['play', file, '--virtual', '--speed', '100', '--record', cast, '--svg', svg, '--size', '100x30'])
  const [recorded, drawn] = [readFileSync(cast, 'utf8'), readFileSync(svg, 'utf8')]
  rmSync(folder, { recursive: true })
  return { ...ended, cast: recorded, svg: drawn }
}

describe('a recorded play', () => {
  let first: Play
  beforeAll(async () => {
    process.env['STREAMTOP_TEST_SECRET'] = 'canary-in-the-environment'
    first = await play()
  })

  test('prints its transcript', () => {
    expect(first).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('✓ 1 of 1 expectations met') })
  })

  test('is the same bytes the second time', async () => {
    const second = await play()
    expect(second.cast).toBe(first.cast)
    expect(second.svg).toBe(first.svg)
  })

  test('ends with what came of it, in the cast and in the picture', async () => {
    const last = await playedBack(first.cast)
    expect(last).toMatch(/events_copy .* 18 +9 +9 +0 \+ duplicated/)
    expect(last).toContain('✓ 1 of 1 expectations met')
    expect(movingPicture(first.svg).textAt(null)).toBe(last)
  })

  test('has the size that was asked for, and the title of the scenario', () => {
    expect(JSON.parse(first.cast.split('\n', 1)[0] ?? '')).toMatchObject({ version: 2, width: 100, height: 30, title: 'Mine' })
    expect(first.svg).toContain(`width="${100 * 9 + 20}" height="${30 * 19 + 20}"`)
  })

  test('has its captions as markers, and each is on the screen then', async () => {
    const events = eventsOf(first.cast)
    const markers = events.flatMap(([, code, data], index) => (code === 'm' ? [{ data, index }] : []))
    expect(markers.map(({ data }) => data)).toEqual(['Mine', 'Nine <events> arrive & are read.', 'We copy them and die.'])
    for (const { data, index } of markers) expect(await playedBack(first.cast, index + 2)).toContain(data)
    expect(first.svg).toContain('Nine &lt;events&gt; arrive &amp; are read.\nWe copy them and die.</desc>')
  })

  test('names no folder of this machine, nobody, and nothing of the environment', () => {
    // Who has no home is at home in the root, as in some containers.
    const secrets = ['canary', process.cwd(), join('/', 'tmp'), process.env['HOME'] ?? '/root', process.version].filter((secret) => secret.length > 1)
    for (const file of [first.cast, first.svg]) for (const secret of secrets) expect(file).not.toContain(secret)
  })
})

test.each([
  ['play --record a.cast', 'a recording is of one scenario'],
  ['play --all --svg a.svg', 'a recording is of one scenario'],
  ['play 02 --size 80x24', '--size is for a recording without a terminal'],
  ['play 02 --record a.cast --size 80', '--size takes COLUMNSxROWS, each up to 999, not "80"'],
  ['play 02 --record a.cast --by-hand', '--by-hand needs a terminal'],
  ['play --all --presenter', '--presenter goes with one scenario'],
  ['--record a.cast', 'there is no screen to record: the dashboard needs a terminal'],
  ['--record a.cast --plain', 'there is no screen to record: the dashboard needs a terminal'],
])('%s is refused', async (line, sentence) => {
  expect(await commandHere(temporaryFolder(), line.split(' '))).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(sentence) })
})
