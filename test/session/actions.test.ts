/** What can be asked of a session, one story an action, and what comes of it on disk, in the state and in the log. */
import { describe, expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { type LiveTest, openCaughtUp, untilCaughtUp } from './live.js'

const COPY = 'events_copy'

/** Sends six orders and waits for the death of a query in their batch. */
async function dieOf(live: LiveTest, query: string): Promise<void> {
  await live.do({ name: 'send' }, 'p')
  await live.until(`the death of ${query}`, () => live.query(query).ending?.kind === 'killed' && live.status(query)?.state === 'killed')
}

async function startAgain(live: LiveTest, query: string): Promise<void> {
  await live.do({ name: 'start', query }, 's')
  await untilCaughtUp(live)
}

describe('a kill between write and commit', () => {
  test('without idempotence: armed, dead, started again, and the rows are there twice', async () => {
    const live = await openCaughtUp()
    expect(await live.do({ name: 'arm', query: COPY }, 'x')).toBe('events_copy dies at table-committed of its next batch')
    expect(live.query(COPY).armed).toEqual({ step: 'table-committed', occurrence: 1 })
    await dieOf(live, COPY)

    expect(live.query(COPY)).toMatchObject({ process: 'none', armed: null, attempt: { isDead: true }, ending: { at: { step: 'table-committed' }, by: 'x' } })
    expect(live.status(COPY)).toMatchObject({ rows: 15, duplicates: 0, step: 'table-committed' })
    expect(live.said('you')).toContain('x: events_copy dies at table-committed of its next batch')
    expect(live.said(COPY).at(-1)).toMatch(/^killed at table-committed of batch \d+ \(you: x\)$/)

    await startAgain(live, COPY)
    expect(live.status(COPY)).toMatchObject({ rows: 21, duplicates: 6, verdict: 'duplicated' })
    expect(live.said(COPY).at(-1)).toMatch(/^batch \d+ committed: \+6 rows, attempt 2, \d+\.\d ms$/)
  })

  test('with idempotence from before: the table skips the batch', async () => {
    const live = await openCaughtUp()
    expect(await live.do({ name: 'idempotent', query: COPY }, 'i')).toBe('idempotence of events_copy is on from its next attempt on')
    await live.do({ name: 'arm', query: COPY }, 'x')
    await dieOf(live, COPY)
    await startAgain(live, COPY)
    expect(live.status(COPY)).toMatchObject({ rows: 15, duplicates: 0, verdict: 'exactly-once', skips: 1 })
    expect(live.said(COPY).at(-1)).toMatch(/^batch (\d+) ran again and was skipped: txn \(events_copy, \1\) seen, 0 of 6 rows written$/)
  })

  test('idempotence pressed while it is dead comes too late for that batch', async () => {
    const live = await openCaughtUp()
    await live.do({ name: 'arm', query: COPY }, 'x')
    await dieOf(live, COPY)
    await live.do({ name: 'idempotent', query: COPY }, 'i')
    await startAgain(live, COPY)
    expect(live.query(COPY).idempotent).toBe(true)
    expect(live.status(COPY)).toMatchObject({ rows: 21, duplicates: 6, idempotent: true })
  })

  test('x again disarms; another step is chosen with X', async () => {
    const live = await openCaughtUp()
    await live.do({ name: 'arm', query: COPY }, 'x')
    expect(await live.do({ name: 'arm', query: COPY }, 'x')).toBe('events_copy is no longer to die')
    expect(live.query(COPY).armed).toBeNull()
    await live.do({ name: 'kill-step', query: COPY, step: 'mid-write' }, 'X')
    await live.do({ name: 'arm', query: COPY }, 'x')
    await dieOf(live, COPY)
    expect(live.query(COPY)).toMatchObject({ killStep: 'mid-write', ending: { at: { step: 'mid-write' } } })
    await startAgain(live, COPY)
    expect(live.status(COPY)).toMatchObject({ rows: 15, duplicates: 0, verdict: 'exactly-once' })
  })
})

describe('what is done while a query has no process', () => {
  test('replay: the last batch runs again at once where it runs, and at the next start where it is dead', async () => {
    const live = await openCaughtUp()
    const batchId = live.status(COPY)?.batchId
    const rows = live.status(COPY)?.rows ?? 0
    expect(await live.do({ name: 'replay', query: COPY }, 'r')).toBe(`the commit of batch ${batchId} of events_copy is taken away: it runs again`)
    await live.until('its duplicates', () => (live.status(COPY)?.rows ?? 0) > rows && live.status(COPY)?.inFlight === false)
    await live.do({ name: 'stop', query: COPY }, 'S')
    await live.do({ name: 'replay', query: COPY }, 'r')
    expect(live.query(COPY).process).toBe('none')
    await expect(live.do({ name: 'replay', query: COPY }, 'r')).rejects.toThrow('it runs again anyway, press s')
  })

  test('reset: the query begins anew with a new id, and what it wrote before is there twice', async () => {
    const live = await openCaughtUp()
    const id = live.status(COPY)?.id
    expect(await live.do({ name: 'reset', query: COPY }, 'R')).toBe('the checkpoint of events_copy is gone: it begins anew, with a new id')
    await live.until('another id', () => (live.status(COPY)?.id ?? id) !== id)
    await live.until('its rows, twice', () => live.status(COPY)?.rows === 18)
    expect(live.status(COPY)).toMatchObject({ duplicates: 9 })
  })

  test('drop: table and checkpoint begin anew; who reads the table is named', async () => {
    const live = await openCaughtUp()
    await live.do({ name: 'stop', query: COPY }, 'S')
    expect(await live.do({ name: 'drop', query: COPY }, 'D')).toBe('events_copy dropped, with the checkpoint of events_copy')
    await live.until('an empty state', () => live.status(COPY)?.id === null && live.status(COPY)?.rows === 0)
    await startAgain(live, COPY)
    expect(live.status(COPY)).toMatchObject({ rows: 9, duplicates: 0 })
    expect(await live.do({ name: 'drop', query: 'bronze_orders' }, 'D')).toContain('; events_copy and orders read it and stop when it is made again')
    // They notice when the new table has come as far as they were in the old one.
    for (let rows = 15; rows <= 39; rows += 6) {
      await live.do({ name: 'send' }, 'p')
      await live.until(`${rows} rows in bronze`, () => live.status('bronze_orders')?.rows === rows)
    }
    await live.until('the readers’ errors', () => [COPY, 'orders'].every((name) => live.query(name).ending?.kind === 'failed'))
    expect(live.said(COPY).at(-1)).toMatch(/^failed: .*bronze_orders/)
    expect(live.query('bronze_orders').process).toBe('running')
  })
})

describe('holding', () => {
  test('n goes through all eight steps, one at a press; space lets it go', async () => {
    const live = await openCaughtUp()
    expect(await live.do({ name: 'step', query: COPY }, 'n')).toBe('events_copy is between two batches: it is held at the first step of its next')
    await live.do({ name: 'send' }, 'p')
    for (const step of STEPS) {
      await live.until(`held at ${step}`, () => live.query(COPY).heldAt?.step === step)
      expect(live.query(COPY).attempt?.steps.map(({ event }) => event.step)).toEqual(STEPS.slice(0, STEPS.indexOf(step) + 1))
      expect(await live.do({ name: 'step', query: COPY }, 'n')).toMatch(`events_copy goes on from ${step} of batch `)
    }
    await live.until('its batch', () => live.said(COPY).at(-1)?.includes('committed: +6 rows') ?? false)
    expect(await live.do({ name: 'step', query: COPY }, 'n')).toBe('events_copy is between two batches, and is held at the first step of its next')
    expect(live.query('orders').isHeld).toBe(false)

    await live.do({ name: 'resume' }, 'space')
    expect(live.query(COPY).isHeld).toBe(false)
    await live.do({ name: 'send' }, 'p')
    await untilCaughtUp(live)
  })

  test('pause holds all of them and stays quiet; a query that was held alone stays held when the others go on', async () => {
    const live = await openCaughtUp()
    await live.do({ name: 'step', query: COPY }, 'n')
    await live.do({ name: 'pause' }, 'space')
    await live.do({ name: 'send' }, 'p')
    await live.until('bronze held', () => live.query('bronze_orders').heldAt?.step === 'planned' && live.status('bronze_orders')?.state === 'paused')
    expect(live.session.state).toMatchObject({ isPaused: true, queries: [{ isHeld: true }, { isHeld: true }, { isHeld: true }] })

    await live.do({ name: 'resume' }, 'space')
    await live.until('events_copy held alone', () => live.query(COPY).heldAt?.step === 'planned' && live.status('orders')?.lag === 0)
    expect(live.session.state.queries.map(({ isHeld }) => isHeld)).toEqual([false, true, false])
  })

  test('a held query stops, and dies, at once', async () => {
    const live = await openCaughtUp()
    for (const action of ['stop', 'kill'] as const) {
      await live.do({ name: 'step', query: COPY }, 'n')
      await live.do({ name: 'send' }, 'p')
      await live.until('held', () => live.query(COPY).heldAt !== null)
      await live.do({ name: action, query: COPY }, 'test')
      expect(live.query(COPY)).toMatchObject({ process: 'none', heldAt: null, isHeld: true, ending: { kind: action === 'stop' ? 'stopped' : 'killed' } })
      await live.do({ name: 'resume' }, 'space')
      await startAgain(live, COPY)
    }
    expect(live.said(COPY)).toContainEqual(expect.stringMatching(/^killed at planned of batch \d+ \(you: test\)$/))
  })
})

test('pace and generator change what runs', async () => {
  const live = await openCaughtUp()
  expect(await live.do({ name: 'pace', pace: 'fast' }, ']')).toBe('pace fast: 10 ms a step, a batch every 0.25 s')
  expect(live.session.state.pace).toEqual({ name: 'fast', dwellMs: 10, intervalMs: 250 })
  await expect(live.do({ name: 'pace', pace: 'hasty' }, ':pace')).rejects.toThrow('there is no pace hasty')
  expect(await live.do({ name: 'generate', ratePerSecond: 4_000 }, ':generate')).toBe('generator 4000 orders/s')
  await live.until('a thousand orders', () => Number(live.view()?.status.topics[0]?.endOffsets['0']) > 1_000)
  expect(await live.do({ name: 'generate' }, 'g')).toBe('generator off')
  expect(live.session.state.generator).toEqual({ isOn: false, ratePerSecond: 4_000 })
  await untilCaughtUp(live)
  expect(live.status(COPY)?.verdict).toBe('exactly-once')
})
