/**
 * Real processes that want the same thing at the same moment: two runs of one query, a run beside reset, replay and drop, and readers
 * beside all of it. One holds the query and the others hear a named error; readers see committed versions only.
 */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { readLockHolder } from '../../src/engine/lock.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { checkWorkspace, type Look, type QueryPromise, type Sent } from '../checker.mjs'
import { type CommandFolder, commandFolder, isRunning, type Started, until } from '../integration/command.js'
import { BRONZE, COPY, ORDERS } from '../nine-events.js'
import { SEED } from '../seed.js'
import { order } from '../torture/orders-sent.js'
import { randomOf } from '../torture/random.js'
import { errorCodeOf } from './error-code.js'

const RACES = 8
const ROUNDS = 3

const CONFIG = `import { query, table, foreachBatch } from 'streamtop'
export default [
  query('together', table('bronze_orders'), foreachBatch((batch) => batch.commitTogether([
    { append: 'together', rows: batch.columns, txnAppId: 'together', txnVersion: batch.id },
    { append: 'together_too', rows: batch.columns },
  ])), { alsoWrites: ['together_too'], idempotent: true, holds: 'every-row' }),
]`
const TOGETHER: QueryPromise = { ...COPY, name: 'together', table: 'together', alsoWrites: [{ table: 'together_too' }] }

/** A workspace with the queries, and what was sent in it. */
function arena(): CommandFolder & { readonly sent: Sent[]; send(count: number): Promise<void> } {
  const at = commandFolder()
  at.write('streamtop.config.mjs', CONFIG)
  const sent: Sent[] = []
  const random = randomOf(`races ${SEED}`)
  const send = async (count: number) => {
    const orders = Array.from({ length: count }, (_, index) => order(random, sent.length + index + 1))
    const producer = openEmbeddedProducer(at.folder, 'orders', {}, fx)
    await producer.send(orders.map(({ record }) => record))
    await producer.close()
    sent.push(...orders.map((one) => one.sent))
  }
  return { ...at, sent, send }
}

function holderOf(at: CommandFolder, query: string): number | null {
  return readLockHolder(at.folder, query, fx)?.pid ?? null
}

test(`${RACES} races of two runs for one query: one holds it, the other is told by whom; a kill gives it to the next at once`, async () => {
  const at = arena()
  await at.send(3)
  let tookOverMs = 0
  for (let race = 0; race < RACES; race++) {
    const runs = [0, 1].map(() => at.start('run bronze_orders --interval 20 --json'))
    const loser = await Promise.race(runs.map(async ({ ended }, index) => ({ ended: await ended, index })))
    expect(errorCodeOf(loser.ended)).toBe('concurrent-query')
    const winner = runs[1 - loser.index] as Started
    const holder = await until('a holder', () => holderOf(at, 'bronze_orders'))
    expect(loser.ended.stderr).toMatch(/is held by process \d+|is being started/)
    await at.send(2)
    await until('another batch', () => at.list('checkpoints', 'bronze_orders', 'commits').length > race)
    if (race % 2 === 0) winner.child.kill('SIGINT')
    else process.kill(holder, 'SIGKILL')
    await winner.ended
    const begunMs = performance.now()
    expect(errorCodeOf(at.streamtop('run bronze_orders --json'))).toBeNull()
    tookOverMs = Math.max(tookOverMs, performance.now() - begunMs)
    expect(isRunning(holder)).toBe(false)
  }
  expect(await checkWorkspace(at.folder, { topic: 'orders', sent: at.sent, queries: [BRONZE] })).toEqual([])
  console.log(`${RACES} races: one holder each, ${RACES >> 1} of them killed; the next run took over and ended within ${Math.round(tookOverMs)} ms`)
})

test('run beside reset, replay and drop: what is held is refused by name, and every order ends in a table that is right', async () => {
  const at = arena()
  await at.send(5)
  expect(errorCodeOf(at.streamtop('run bronze_orders orders --json'))).toBeNull()
  const outcomes = new Map<string, number>()
  const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
  for (let round = 0; round < ROUNDS; round++) {
    await at.send(2)
    expect(errorCodeOf(at.streamtop('run bronze_orders --json'))).toBeNull()
    for (const verb of ['reset', 'replay', 'drop']) {
      // The verb's own process is faster than the run's child half of the time; either may win.
      const ended = await Promise.all([at.start('run orders --json').ended, at.start(`${verb} orders --json`).ended])
      const [ofRun, ofVerb] = ended.map(errorCodeOf)
      // The rows that a run shows at its end may be dropped by then.
      expect([null, 'concurrent-query', ...(verb === 'drop' ? ['unknown-table'] : [])], ended[0].stderr).toContain(ofRun)
      expect([null, 'concurrent-query', 'usage', 'unknown-table'], ended[1].stderr).toContain(ofVerb)
      count(`${verb} ${ofVerb ?? 'done'}, run ${ofRun ?? 'done'}`)
    }
    // A table that was dropped alone lacks the rows of before; a new checkpoint brings them back.
    for (const line of ['reset orders', 'run orders']) expect(errorCodeOf(at.streamtop(`${line} --json`))).toBeNull()
    expect(await checkWorkspace(at.folder, { topic: 'orders', sent: at.sent, queries: [BRONZE, ORDERS] })).toEqual([])
  }
  const running = at.start('run orders --interval 20 --json')
  await until('a holder', () => holderOf(at, 'orders'))
  for (const verb of ['reset', 'replay', 'drop', 'run']) expect([verb, errorCodeOf(at.streamtop(`${verb} orders --json`))]).toEqual([verb, 'concurrent-query'])
  running.child.kill('SIGINT')
  expect((await running.ended).exitCode).toBe(130)
  console.log([...outcomes].map(([what, times]) => `${times} × ${what}`).join('; '))
})

test('readers beside two runs that are killed see committed versions only, never an older one, never half of a joint commit', async () => {
  const at = arena()
  await at.send(5)
  expect(errorCodeOf(at.streamtop('run bronze_orders together --json'))).toBeNull()
  const watchers = [at.start('status --watch --json'), at.start('status --watch --json'), at.start('--plain')]
  const looks: Look[] = []
  let isOver = false
  const reading = readAllTheTime(at, looks, () => isOver)
  for (let round = 0; round < ROUNDS; round++) {
    const runs = ['bronze_orders', 'together'].map((query) => at.start(`run ${query} --interval 1 --json`))
    for (const query of ['bronze_orders', 'together']) await until(`a holder of ${query}`, () => holderOf(at, query))
    for (let more = 0; more < 6; more++) {
      const before = at.list('checkpoints', 'together', 'offsets').length
      await at.send(3)
      await until('a batch of it', () => at.list('checkpoints', 'together', 'offsets').length > before)
    }
    for (const query of ['bronze_orders', 'together']) process.kill(holderOf(at, query) ?? 0, 'SIGKILL')
    for (const { ended } of runs) await ended
    for (const line of ['show together --limit 3', 'history together_too', 'status']) expect(errorCodeOf(at.streamtop(`${line} --json`))).toBeNull()
  }
  expect(errorCodeOf(at.streamtop('run bronze_orders together --json'))).toBeNull()
  isOver = true
  await reading
  for (const { child } of watchers) child.kill('SIGINT')
  const said = await Promise.all(watchers.map(({ ended }) => ended))
  for (const { stderr } of said) expect(stderr).toBe('')
  const watched = said.slice(0, 2).map(({ stdout }) => versionsIn(stdout))
  for (const versions of watched) expect(versions).toEqual([...versions].sort((a, b) => a - b))
  expect(await checkWorkspace(at.folder, { topic: 'orders', sent: at.sent, queries: [BRONZE, TOGETHER], looks })).toEqual([])
  console.log(
    `${looks.length} looks beside ${2 * ROUNDS} kills; two status --watch saw ${watched.map((versions) => new Set(versions).size).join(' and ')} versions`,
  )
})

/** Every table in one look, again and again, each look with a memory of its own. */
async function readAllTheTime(at: CommandFolder, looks: Look[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const log = OverlaidLog.open(at.folder, fx)
    try {
      const seen = log.tableNames().map((name) => ({ name, snapshot: log.snapshot(name) }))
      looks.push(
        Object.fromEntries(
          seen.flatMap(({ name, snapshot }) =>
            snapshot ? [[name, { id: snapshot.tableId, version: snapshot.version, files: snapshot.files.map(({ path }) => path) }]] : [],
          ),
        ),
      )
    } finally {
      log.close()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The versions of `together` in the lines of a watch. */
function versionsIn(stdout: string): number[] {
  const lines = stdout.split('\n').filter((line) => line.endsWith('}'))
  return lines.flatMap(
    (line) => (JSON.parse(line) as { tables: { name: string; version: number }[] }).tables.find(({ name }) => name === 'together')?.version ?? [],
  )
}
