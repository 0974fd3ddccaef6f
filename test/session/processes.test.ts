/** The session as the dashboard has it: the built thread, and a real process a query. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { processRunner } from '../../src/engine/process-runner.js'
import { StreamtopError } from '../../src/errors.js'
import { openSession, type SessionOptions } from '../../src/session/live-session.js'
import { startWorkspaceThread } from '../../src/session/workspace-client.js'
import { lockRow } from '../integration/bronze-folder.js'
import { commandFolder, isRunning, until } from '../integration/command.js'
import { type LiveTest, temporaryFolder, untilCaughtUp, watched } from './live.js'

/** Node starts a few times, on a machine that may be busy. */
const SLOW_MS = 60_000
/** For one thing that is waited for: sooner, so that what was not so is said. */
const DEADLINE_MS = 50_000
const dist = (name: string) => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url))

async function openBuilt(folder: string, options: Partial<SessionOptions> = {}): Promise<LiveTest> {
  for (const name of ['workspace-thread.js', 'child.js']) if (!existsSync(dist(name))) throw new Error(`dist/${name} is not built: run "npm run build" first`)
  const service = startWorkspaceThread({ threadPath: dist('workspace-thread.js') }, fx)
  const asked = { workspace: folder, configFile: null, adopt: false, isReadOnly: false, pace: 'fast', ratePerSecond: 0, ...options }
  const session = await openSession(asked, service, (configFile) => processRunner({ configFile, childPath: dist('child.js') }), fx)
  return watched(session, folder, DEADLINE_MS)
}

const pids = (live: LiveTest) => live.session.state.queries.map(({ pid }) => pid ?? 0)

test('a first start in real processes; kills are SIGKILLs, and after the end nothing runs', { timeout: SLOW_MS }, async () => {
  const live = await openBuilt(temporaryFolder())
  await untilCaughtUp(live)
  const [bronze = 0, copy = 0, orders = 0] = pids(live)
  expect([bronze, copy, orders].every(isRunning)).toBe(true)

  await live.do({ name: 'arm', query: 'events_copy' }, 'x')
  await live.do({ name: 'send' }, 'p')
  // The look before the send saw a query that was caught up as well.
  await live.until('the death', () => live.query('events_copy').ending?.kind === 'killed' && live.status('events_copy')?.state === 'killed')
  expect(live.query('events_copy').ending).toMatchObject({ pid: copy, at: { step: 'table-committed' }, by: 'x' })
  expect(isRunning(copy)).toBe(false)
  await live.do({ name: 'start', query: 'events_copy' }, 's')
  await untilCaughtUp(live)
  expect(live.status('events_copy')).toMatchObject({ rows: 21, duplicates: 6 })

  expect(await live.do({ name: 'kill', query: 'orders' }, 'K')).toBe('orders is killed')
  expect(isRunning(orders)).toBe(false)
  expect(live.said('orders').at(-1)).toBe('killed between two batches (you: K)')

  process.kill(bronze, 'SIGKILL')
  await live.until('the death of bronze', () => live.query('bronze_orders').ending?.kind === 'died')
  expect(live.said('bronze_orders').at(-1)).toBe(`died between two batches of a signal that nobody here sent, pid ${bronze}`)
  await live.do({ name: 'start', query: 'bronze_orders' }, 's')

  // One that does not answer any more ends all the same.
  process.kill(live.query('events_copy').pid as number, 'SIGSTOP')
  const left = pids(live).filter((pid) => pid > 0)
  await live.session.close()
  expect(left).toHaveLength(2)
  expect(left.filter(isRunning)).toEqual([])
  // Nobody holds the workspace any more.
  const next = await openBuilt(live.folder)
  expect(next.session.state).toMatchObject({ access: 'owner', isFirstStart: false })
  await next.until('bronze goes on', () => next.query('bronze_orders').process === 'running' && next.status('orders') !== undefined)
  // What died is left to be looked at.
  expect(['events_copy', 'orders'].map((name) => [next.status(name)?.state, next.query(name).process])).toEqual([
    ['killed', 'none'],
    ['killed', 'none'],
  ])
})

test('queries of one’s own: the thread and the children load them, and what they print is heard', { timeout: SLOW_MS }, async () => {
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'streamtop.config.mjs'),
    `import { query, table, foreachBatch } from 'streamtop'
     export default [query('vip', table('bronze_orders'), foreachBatch(async (batch) => {
       console.log('batch ' + batch.id + ' has ' + batch.rowCount + ' rows')
       throw new Error('the mail server is down')
     }))]`,
  )
  const live = await openBuilt(folder)
  await live.until('its failure', () => live.query('vip')?.ending?.kind === 'failed')
  expect(live.said('vip')).toContainEqual(expect.stringMatching(/^batch 0 has \d rows$/))
  expect(live.query('vip').ending).toMatchObject({ error: { code: 'foreach-batch-failed', condition: 'FOREACH_BATCH_USER_FUNCTION_ERROR' } })
  expect(live.said('vip').at(-1)).toMatch(/^failed: the foreachBatch function of vip failed in batch 0: the mail server is down \[.*\]\. mend the function/)
  await live.do({ name: 'start', query: 'vip' }, 's')
  await live.until('it fails again', () => live.query('vip').ending?.kind === 'failed')
})

test('a query that cannot stop, because its function never returns, is killed, and that is said', { timeout: SLOW_MS }, async () => {
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'streamtop.config.mjs'),
    `import { query, topic, foreachBatch } from 'streamtop'
     export default [query('blocked', topic('orders'), foreachBatch(async () => { for (;;); }))]`,
  )
  const live = await openBuilt(folder)
  await live.until('its batch', () => live.query('blocked').attempt?.steps.at(-1)?.event.step === 'rows-read')
  expect(await live.do({ name: 'stop', query: 'blocked' }, 'S')).toBe('blocked did not stop and is killed')
  expect(live.query('blocked').ending).toMatchObject({ kind: 'killed', by: 'S' })
})

test('an error crosses from the thread with all that it says; a thread that died refuses every call', { timeout: SLOW_MS }, async () => {
  const service = startWorkspaceThread({ threadPath: dist('workspace-thread.js') }, fx)
  onTestFinished(() => service.close())
  const request = { workspace: temporaryFolder(), configFile: null, adopt: false, isReadOnly: false }
  const refusal = await service.open({ ...request, configFile: join(request.workspace, 'none.mjs') }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StreamtopError)
  expect(refusal).toMatchObject({ code: 'bad-config' })
  await service.open(request)
  await expect(service.rows('nothing', 5)).rejects.toMatchObject({ code: 'unknown-table', condition: 'DELTA_TABLE_NOT_FOUND' })
  const pending = service.look(null, 0).then(() => service.look(null, 0))
  await service.close()
  await pending.catch(() => {})
  await expect(service.look(null, 0)).rejects.toThrow('the thread that reads the workspace has ended')

  const broken = startWorkspaceThread({ threadPath: dist('no-such-thread.js') }, fx)
  await expect(broken.open(request)).rejects.toThrow('the thread that reads the workspace has ended: ')
  await broken.close()
})

test('a query that another process runs is shown with its pid, and not started', { timeout: SLOW_MS }, async () => {
  const first = await openBuilt(temporaryFolder())
  await untilCaughtUp(first)
  await first.session.close()
  const other = commandFolder(first.folder)
  other.start('run events_copy --interval 100')
  // Whoever comes first has it, and that may be the session.
  const pid = await until('its lock', () => {
    const holder = lockRow(other, 'events_copy')
    return holder !== null && isRunning(holder) && holder
  })
  const live = await openBuilt(other.folder)
  await live.until('who runs it', () => live.query('events_copy').heldByPid === pid)
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('child.js')
  await expect(live.do({ name: 'kill', query: 'events_copy' }, 'K')).rejects.toThrow(`events_copy is run by process ${pid}: do it there, or stop that first`)
})

test('however many queries run, one listener waits for the exit: Node would print a warning of more than ten', { timeout: SLOW_MS }, async () => {
  const before = process.listenerCount('exit')
  const live = await openBuilt(temporaryFolder())
  await live.until('three processes', () => pids(live).every((pid) => pid > 0))
  expect(process.listenerCount('exit')).toBe(before + 1)
  await live.session.close()
  expect(process.listenerCount('exit')).toBe(before)
})
