/** Anything, at any time, in any order: nothing hangs, nothing is lost, and what is left on disk is sound. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { STEPS } from '../../src/engine/steps.js'
import { PACES } from '../../src/session/session-state.js'
import type { SessionAction } from '../../src/session/session.js'
import { checkWorkspace, type Sent } from '../checker.mjs'
import { BRONZE, COPY, ORDERS } from '../nine-events.js'
import { openCaughtUp, openLive, temporaryFolder, untilCaughtUp } from './live.js'

const QUERIES = ['bronze_orders', 'events_copy', 'orders']

/** Numbers from 0 to below a limit, always the same ones for a seed (Marsaglia's xorshift). */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed | 1
  return (limit) => {
    for (const shift of [13, -17, 5]) state ^= shift > 0 ? state << shift : state >>> -shift
    return Math.floor(((state >>> 0) / 2 ** 32) * limit)
  }
}

/** Bronze is never made anew here, and no checkpoint without its table, so that the checker's promises hold to the end. */
function randomAction(below: (limit: number) => number): SessionAction {
  const query = QUERIES[below(QUERIES.length)] as string
  const any = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const often = ['start', 'start', 'step', 'arm', 'resume', 'send'] as const
  const name = any([...often, ...often, 'stop', 'kill', 'disarm', 'replay', 'kill-step', 'drop', 'pause', 'pace', 'generate'] as const)
  if (name === 'pause' || name === 'resume' || name === 'send') return { name }
  if (name === 'drop') return { name, query: any(QUERIES.slice(1)) }
  if (name === 'generate') return { name, isOn: below(2) === 0, ratePerSecond: 100 }
  if (name === 'pace') return { name, pace: any(PACES.slice(3)).name }
  if (name === 'arm' || name === 'kill-step') return { name, query, step: any(STEPS) }
  return { name, query }
}

test.each([1])('two hundred actions in random order, then a close: seed %i', { timeout: 90_000 }, async (seed) => {
  const live = await openCaughtUp()
  await live.do({ name: 'idempotent', query: 'events_copy', isOn: true })
  await live.do({ name: 'drop', query: 'events_copy' })
  const below = randomNumbers(seed * 7_919)
  const outcomes: Promise<unknown>[] = []
  for (let count = 0; count < 200; count++) {
    const asked = live.do(randomAction(below)).catch((error: unknown) => expect(error).toBeInstanceOf(StreamtopError))
    outcomes.push(asked)
    // Some are waited for, most are not.
    if (below(5) === 0) await asked
  }
  await Promise.all(outcomes)
  const kills = live.log().filter(({ kind }) => kind === 'killed')
  expect(kills.length).toBeGreaterThan(4)
  await live.session.close()
  expect(live.session.state.queries.map(({ process }) => process)).toEqual(['none', 'none', 'none'])
  await live.session.close()

  const again = await openLive(live.folder)
  await again.until('the first look', () => again.view() !== null)
  for (const query of QUERIES) await again.do({ name: 'start', query }).catch(() => {})
  await untilCaughtUp(again)
  await again.session.close()
  const queries = [BRONZE, COPY, ORDERS]
  expect(await checkWorkspace(live.folder, { topic: 'orders', sent: sentTo(live.folder), queries })).toEqual([])
})

/** What lies in the topic, as the checker wants it told. */
function sentTo(folder: string): Sent[] {
  const database = new Database(join(folder, 'topics.db'), { readonly: true })
  try {
    const values = database.prepare('SELECT value FROM records').pluck().all() as Buffer[]
    return values.map((bytes) => {
      const value = bytes.toString()
      const { order_id, customer_id, status, event_time } = JSON.parse(value)
      const amount = /"amount":([\d.]+)/.exec(value)?.[1] ?? ''
      return { value, order_id, customer_id, status, amount, event_time_us: Date.parse(event_time) * 1000 }
    })
  } finally {
    database.close()
  }
}

test('a kill does not wait behind a stop that hangs', async () => {
  const folder = temporaryFolder()
  // Its batches never end. The gate says that one has begun.
  writeFileSync(
    join(folder, 'streamtop.config.mjs'),
    `export default [{ name: 'endless', source: { kind: 'table', name: 'bronze_orders', filters: [] }, table: 'endless', writes: ['endless'], idempotent: false,
      appId: 'endless', report: 'counts', holds: 'unknown', sink: { kind: 'foreach-batch', run: () => new Promise(() => {}) } }]`,
  )
  const live = await openLive(folder)
  await live.until('a batch that hangs', () => live.query('endless').attempt?.steps.at(-1)?.event.step === 'rows-read')
  const stopped = live.do({ name: 'stop', query: 'endless' }, 'S')
  const started = live.do({ name: 'start', query: 'endless' }, 's')
  await live.until('stopping', () => live.query('endless').process === 'stopping')
  expect(await live.do({ name: 'kill', query: 'endless' }, 'K')).toBe('endless is killed')
  expect(live.said('endless')).toContain('killed at rows-read of batch 0 (you: K)')
  await stopped
  await started
  expect(live.query('endless').process).not.toBe('none')
  await live.until('it hangs again', () => live.query('endless').attempt?.isDead === false)

  // Nobody helps now: after three seconds it is killed.
  await live.session.close()
  expect(live.said('endless').slice(-2)).toEqual(['did not stop in 3 s, and is killed', 'killed at rows-read of batch 0, attempt 2 (you: quit)'])
})
