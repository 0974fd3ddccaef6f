/**
 * Places and machines that are against us: paths of every kind, other environments, a folder that may only be read, a disk that is full,
 * a clock that goes back. Everything works there, or is refused by name; and when the place is good again, so is what lies in it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { tableHistory } from '../../src/observe/table-history.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { checkWorkspace, type Sent } from '../checker.mjs'
import { BRONZE, COPY, nineEvents, ORDERS } from '../nine-events.js'
import { ORDERS_SHOWN } from '../orders-shown.js'
import { SEED } from '../seed.js'
import { order } from '../torture/orders-sent.js'
import { randomOf } from '../torture/random.js'
import { errorCodeOf } from './error-code.js'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

interface Machine {
  readonly env?: NodeJS.ProcessEnv
  readonly umask?: string
  readonly input?: string
}

/** Runs a command line in a folder: the code of the error it ended with, null when it ended as asked, and what it printed. */
function streamtop(folder: string, words: readonly string[], { env = {}, umask = '022', input = '' }: Machine = {}) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, CLI, ...words], {
    cwd: folder,
    env: { ...process.env, ...env },
    input,
    encoding: 'utf8',
  })
  return { code: errorCodeOf({ exitCode: status, stdout, stderr }), stdout, stderr }
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-places-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Every file below a folder with its bytes, but for SQLite's shared memory. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
  return Object.fromEntries(files.map((file) => [join(file.parentPath, file.name), readFileSync(join(file.parentPath, file.name), 'latin1')]))
}

/** Half a megabyte in topic and tables. */
const ORDERS_OF_ROUND = 2_500

const LONG = Array.from({ length: 3 }, (_, depth) => String(depth).repeat(120)).join('/')

test.each<[string, string, Machine]>([
  ['spaces', 'with  two spaces ', { env: { HOME: undefined } }],
  ['unicode, not normalised', 'über 注文 🙂 e\u0301', { env: { LC_ALL: 'C', LANG: 'C' } }],
  ['quotes', `it's "quoted" \`so\` $HOME`, { umask: '077' }],
  ['what an address escapes', '100%25 #1 ?a=b&c;d', { env: { TZ: 'Asia/Tokyo' } }],
  ['a line end and a sequence', 'new\nline \u001b[31m', { env: { TZ: 'America/St_Johns', LC_ALL: 'C' } }],
  ['a long path', LONG, { env: { HOME: '/nowhere/at/all' } }],
  ['a dash', '-rf', { env: { TZ: 'Nowhere/Wrong' } }],
])('a path with %s: the tutorial there, to the letter', async (_, name, machine) => {
  const folder = join(temporaryFolder(), name)
  mkdirSync(folder, { recursive: true })
  expect(streamtop(folder, ['produce', '--all', '--json'], machine).code).toBeNull()
  expect(streamtop(folder, ['run', 'bronze_orders', 'events_copy', '--json'], machine).code).toBeNull()
  expect(streamtop(folder, ['run', 'orders'], machine)).toMatchObject({ code: null, stdout: ORDERS_SHOWN })
  // From elsewhere, by its path.
  const { stdout } = streamtop(tmpdir(), ['status', '--json', '--workspace', folder], machine)
  const { tables } = JSON.parse(stdout) as { tables: { name: string; rows: number }[] }
  expect(tables.map((table) => [table.name, table.rows])).toEqual([
    ['bronze_orders', 9],
    ['events_copy', 9],
    ['orders', 8],
  ])
  expect(await checkWorkspace(folder, nineEvents(COPY, ORDERS))).toEqual([])
})

test('a path that SQLite cannot open is refused by name', () => {
  const folder = join(temporaryFolder(), LONG, LONG)
  mkdirSync(folder, { recursive: true })
  expect([null, 'not-permitted']).toContain(streamtop(folder, ['produce', '--all', '--json']).code)
})

test('a workspace behind a symbolic link is the same workspace', async () => {
  const folder = join(temporaryFolder(), 'real')
  const link = `${folder}-link`
  mkdirSync(folder)
  symlinkSync(folder, link)
  expect(streamtop(link, ['produce', '--all', '--json']).code).toBeNull()
  for (const [at, query] of [
    [link, 'bronze_orders'],
    [folder, 'events_copy'],
  ] as const) {
    expect(streamtop(tmpdir(), ['run', query, '--json', '--workspace', at]).code).toBeNull()
  }
  expect(await checkWorkspace(link, nineEvents(COPY))).toEqual([])
})

test('a folder that may only be read: readers read, writers are refused by name, nothing changes, and it goes on when it may be written', async () => {
  const folder = temporaryFolder()
  expect(streamtop(folder, ['produce', '--part', '1', '--json']).code).toBeNull()
  expect(streamtop(folder, ['run', 'bronze_orders', 'events_copy', 'orders', '--json']).code).toBeNull()
  const before = contentOf(folder)
  if (mount('--bind', folder, folder) === null || mount('-o', 'remount,bind,ro', folder) === null) {
    return console.log('skipped: a read-only mount takes root on Linux')
  }
  try {
    for (const line of ['status', 'show orders', 'history events_copy', 'show bronze_orders --version 0']) {
      expect([line, streamtop(folder, [...line.split(' '), '--json']).code]).toEqual([line, null])
    }
    for (const line of ['produce --part 2', 'run events_copy', 'run bronze_orders orders', 'reset orders', 'replay events_copy', 'drop orders']) {
      expect([line, streamtop(folder, [...line.split(' '), '--json']).code]).toEqual([line, 'not-permitted'])
    }
    expect(contentOf(folder)).toEqual(before)
  } finally {
    spawnSync('umount', [folder])
  }
  for (const part of ['2', '3', '4']) expect(streamtop(folder, ['produce', '--part', part, '--json']).code).toBeNull()
  expect(streamtop(folder, ['run', 'bronze_orders', 'events_copy', 'orders', '--json']).code).toBeNull()
  expect(await checkWorkspace(folder, nineEvents(COPY, ORDERS))).toEqual([])
})

test('a disk that is full: each command says so and nothing is lost; with some space it goes on', async () => {
  const folder = temporaryFolder()
  if (mount('-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder) === null) return console.log('skipped: a small file system takes root on Linux')
  const refused: string[] = []
  try {
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(3 * 2 ** 20))
    const sent: Sent[] = []
    const random = randomOf(`full ${SEED}`)
    for (let round = 0; refused.length < 4 && round < 12; round++) {
      const orders = Array.from({ length: ORDERS_OF_ROUND }, (_, index) => order(random, round * ORDERS_OF_ROUND + index + 1).sent)
      const produced = streamtop(folder, ['produce', '--from', '-', '--json'], { input: orders.map(({ value }) => `${value}\n`).join('') })
      if (produced.code === null) sent.push(...orders)
      const ran = streamtop(folder, [...'run bronze_orders events_copy orders --idempotent --json'.split(' ')])
      refused.push(...[produced, ran].flatMap(({ code }) => code ?? []))
      // Who reads is not in the way of who writes.
      expect([null, 'disk-full']).toContain(streamtop(folder, ['status', '--json']).code)
    }
    expect(refused.length).toBeGreaterThan(0)
    expect(new Set(refused)).toEqual(new Set(['disk-full']))
    rmSync(join(folder, 'ballast'))
    expect(streamtop(folder, [...'run bronze_orders events_copy orders --idempotent --json'.split(' ')]).code).toBeNull()
    expect(await checkWorkspace(folder, { topic: 'orders', sent, queries: [BRONZE, COPY, ORDERS] })).toEqual([])
    console.log(`${refused.length} commands were refused with disk-full; ${sent.length} records are in all three tables`)
  } finally {
    spawnSync('umount', [folder])
  }
})

function mount(...words: string[]): true | null {
  return process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('mount', words).status === 0 ? true : null
}

test('a clock that goes back by hours, between batches and inside of them, changes times and nothing else', async () => {
  const folder = temporaryFolder()
  const random = randomOf(`clock ${SEED}`)
  let [shiftMs, isWild] = [0, false]
  const fx: Effects = { ...realEffects, nowMs: () => realEffects.nowMs() + (isWild ? (random.below(48) - 24) * 3_600_000 : shiftMs) }
  for (const [round, hours] of [0, -5, 3, -30].entries()) {
    shiftMs = hours * 3_600_000
    const producer = openEmbeddedProducer(folder, 'orders', {}, fx)
    await producer.send(partRecords(round + 1))
    await producer.close()
    for (const definition of BUILT_IN_QUERIES) {
      isWild = round % 2 === 1
      await runHere(folder, definition, round === 2, fx)
      if (round === 2) await runHere(folder, definition, false, fx)
      isWild = false
    }
  }
  expect(await checkWorkspace(folder, nineEvents({ ...COPY, exactlyOnce: true }, ORDERS))).toEqual([])
  for (const table of ['bronze_orders', 'events_copy', 'orders']) {
    const versions = (tableHistory(folder, table, 100, fx) ?? []).map(({ version }) => version)
    expect(versions).toEqual([...versions].sort((a, b) => b - a))
  }
})

/** Runs a query in this process, with idempotence on; killed after its write when asked. */
async function runHere(folder: string, definition: QueryDefinition, isKilled: boolean, fx: Effects): Promise<void> {
  const running = inlineRunner(openEmbeddedTopic, fx).start({
    workspace: folder,
    definition,
    options: { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false },
    idempotent: true,
    armed: isKilled ? { step: 'table-committed', occurrence: 1 } : null,
    dwellMs: 0,
    hasUpstream: false,
    listen: () => {},
  })
  const ending = await running.ending
  if (ending.kind === 'failed') throw ending.error
  expect(ending.kind).toBe(isKilled ? 'killed' : 'ended')
}
