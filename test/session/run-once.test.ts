/** A query of a session that is run until it is caught up, as `streamtop run` runs it, in a session that starts nothing by itself. */
import { expect, test } from 'vitest'
import { openLive, temporaryFolder } from './live.js'

const CALM = { startsNothing: true }

test('it ends by itself, dies where it is armed, and says what it failed with', async () => {
  const live = await openLive(temporaryFolder(), CALM)
  await live.do({ name: 'send', part: 1 })
  expect(await live.do({ name: 'run', query: 'bronze_orders' })).toBe('bronze_orders is caught up')
  const armed = { step: 'table-committed', occurrence: 1 } as const
  expect(await live.do({ name: 'run', query: 'events_copy', armed })).toBe('events_copy was killed at table-committed of batch 0')
  expect(live.query('events_copy')).toMatchObject({ process: 'none', armed: null, ending: { kind: 'killed', by: 'test' } })
  await expect(live.do({ name: 'run', query: 'bronze_orders', armed })).rejects.toMatchObject({ code: 'step-not-reached' })
  await expect(live.do({ name: 'run', query: 'orders', sourceOptions: ['maxFiles=1'] })).rejects.toMatchObject({ code: 'usage' })
  await expect(live.do({ name: 'run', query: 'vip' })).rejects.toMatchObject({ code: 'unknown-query' })
})

test('idempotence and app id hold for that run; what is shown of the next attempt is as it was, until a run that does not say', async () => {
  const live = await openLive(temporaryFolder(), CALM)
  const attempts = () => live.status('events_copy')?.batchAttempts.map(({ idempotent, appId }) => ({ idempotent, appId }))
  await live.do({ name: 'send', part: 1 })
  await live.do({ name: 'run', query: 'bronze_orders' })
  const armed = { step: 'table-committed', occurrence: 1 } as const
  await live.do({ name: 'run', query: 'events_copy', idempotent: true, appId: 'mine', armed })
  await live.until('a look', () => attempts()?.length === 1)
  expect(attempts()).toEqual([{ idempotent: true, appId: 'mine' }])
  expect(live.query('events_copy').idempotent).toBe(true)
  await live.do({ name: 'run', query: 'events_copy' })
  await live.until('a look', () => attempts()?.length === 2)
  expect(attempts()?.at(-1)).toEqual({ idempotent: false, appId: null })
  expect(live.query('events_copy').idempotent).toBe(false)
})

test('a run is not held by the single steps of the process before it', async () => {
  const live = await openLive(temporaryFolder(), CALM)
  await live.do({ name: 'send', part: 1 })
  await live.do({ name: 'pause' })
  await live.do({ name: 'start', query: 'bronze_orders' })
  await live.until('a step that is held', () => live.query('bronze_orders').heldAt !== null)
  await live.do({ name: 'resume' })
  await live.do({ name: 'step', query: 'bronze_orders' })
  await live.do({ name: 'kill', query: 'bronze_orders' })
  expect(live.query('bronze_orders')).toMatchObject({ process: 'none', isHeld: true })
  expect(await live.do({ name: 'run', query: 'bronze_orders' })).toBe('bronze_orders is caught up')
  expect(live.query('bronze_orders').isHeld).toBe(false)
})

test('it is killed and stopped as any while it runs, and refused when it runs already', async () => {
  const live = await openLive(temporaryFolder(), CALM)
  await live.do({ name: 'send', part: 1 })
  await live.do({ name: 'pause' })
  const run = live.do({ name: 'run', query: 'bronze_orders' })
  run.catch(() => {})
  await live.until('a step that is held', () => live.query('bronze_orders').heldAt !== null)
  await expect(live.do({ name: 'run', query: 'bronze_orders' })).rejects.toThrow('bronze_orders is running')
  expect(await live.do({ name: 'kill', query: 'bronze_orders' }, 'K')).toBe('bronze_orders is killed')
  expect(await run).toBe('bronze_orders was killed at planned of batch 0')
})

test('what nobody asked for does not happen', async () => {
  const live = await openLive(temporaryFolder(), CALM)
  await live.until('a look', () => live.view() !== null)
  expect(live.view()?.status.topics).toEqual([])
  expect(live.session.state.queries.map((query) => query.process)).toEqual(['none', 'none', 'none'])
  expect(live.log()).toEqual([])
})
