/** Sessions that may only look: beside another dashboard, in another tool's folder, or because it was asked for. */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { ACTIONS } from '../../src/session/actions.js'
import type { SessionAction } from '../../src/session/session.js'
import { type LiveTest, openCaughtUp, openLive, temporaryFolder } from './live.js'

const EVERY_ACTION: readonly SessionAction[] = [
  ...(['start', 'stop', 'kill', 'step', 'replay', 'reset', 'drop', 'arm', 'disarm', 'idempotent'] as const).map((name) => ({ name, query: 'events_copy' })),
  { name: 'kill-step', query: 'events_copy', step: 'planned' },
  { name: 'pause' },
  { name: 'resume' },
  { name: 'pace', pace: 'fast' },
  { name: 'send' },
  { name: 'generate' },
]

/** Every action is refused, and with these words. */
async function expectRefusals(live: LiveTest, code: string, words: string): Promise<void> {
  for (const action of EVERY_ACTION) {
    const refusal = await live.do(action).catch((error: unknown) => error)
    expect(refusal, action.name).toBeInstanceOf(StreamtopError)
    expect(refusal, action.name).toMatchObject({ code, message: words })
  }
  expect(live.log()).toEqual([])
}

test('every action of the table that is not the screen’s is tried here', () => {
  const others: Partial<Record<SessionAction['name'], string>> = { disarm: 'arm', 'kill-step': 'choose-step', resume: 'pause' }
  const tried = new Set(EVERY_ACTION.map(({ name }) => others[name] ?? name))
  // Slower, faster and the rates are the actions pace and generate with other numbers.
  const same = new Set(['slower', 'faster', 'rate-up', 'rate-down'])
  expect([...tried].sort()).toEqual(
    ACTIONS.filter(({ on, name }) => on !== 'screen' && !same.has(name))
      .map(({ name }) => name)
      .sort(),
  )
})

describe('a viewer', () => {
  test('sees what the owner’s queries do, names the owner, and can do nothing', async () => {
    const owner = await openCaughtUp()
    await owner.do({ name: 'idempotent', query: 'events_copy', isOn: true })
    const viewer = await openLive(owner.folder)
    expect(viewer.session.state).toMatchObject({ access: 'viewer', holderPid: process.pid, generator: { isOn: false } })
    await expectRefusals(viewer, 'concurrent-query', `the queries are held by process ${process.pid}: do it there`)
    await viewer.until('who holds them', () => viewer.session.state.queries.every(({ heldByPid, process: own }) => heldByPid === process.pid && own === 'none'))

    await owner.do({ name: 'send' })
    await viewer.until('the rows of the owner', () => viewer.status('events_copy')?.rows === 15)
    expect(viewer.query('events_copy').idempotent).toBe(true)
    await viewer.session.close()
    expect(owner.session.state.queries.every(({ process: own }) => own === 'running')).toBe(true)

    await owner.session.close()
    const next = await openLive(owner.folder)
    expect(next.session.state).toMatchObject({ access: 'owner', holderPid: null, isFirstStart: false })
  })

  test('hears that its owner has ended, and that another has come', async () => {
    const owner = await openCaughtUp()
    const viewer = await openLive(owner.folder)
    await owner.session.close()
    await viewer.until('the end of the owner', () => viewer.session.state.hasHolderEnded === true)
    expect(viewer.session.state).toMatchObject({ access: 'viewer', holderPid: process.pid })
    await openLive(owner.folder)
    await viewer.until('the next owner', () => viewer.session.state.hasHolderEnded === false)
    const { pid } = process
    expect(viewer.said('streamtop')).toEqual([
      `process ${pid} has ended; start streamtop again to run the queries`,
      `the queries are held by process ${pid} now`,
    ])
  })
})

describe('a folder that another tool made', () => {
  /** What a Spark would have left: no log of ours, no topics, no locks. */
  async function foreignFolder(): Promise<string> {
    const { session, folder } = await openCaughtUp()
    await session.close()
    for (const ours of ['topics.db', '.locks', 'tables/_log.db', 'tables/_counts.db']) rmSync(join(folder, ours), { recursive: true })
    return folder
  }

  test('is only read: the same picture, and not a byte is written', async () => {
    const folder = await foreignFolder()
    const before = readdirSync(folder, { recursive: true }).sort()
    const live = await openLive(folder)
    expect(live.session.state).toMatchObject({ access: 'foreign', holderPid: null, isFirstStart: false })
    await expectRefusals(live, 'foreign-workspace', 'this workspace was made by another tool, most likely Spark, and is only read; --adopt takes it over')
    await live.until('its rows', () => live.status('events_copy')?.rows === 9)
    expect(live.status('events_copy')).toMatchObject({ rows: 9, distinct: 9 })
    expect(live.view()?.status.tables).toHaveLength(3)
    await live.session.close()
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before)
  })

  test('whose checkpoints nobody knows are listed, and cannot be run', async () => {
    const folder = await foreignFolder()
    cpSync(join(folder, 'checkpoints', 'events_copy'), join(folder, 'checkpoints', 'somebody_else'), { recursive: true })
    const live = await openLive(folder)
    expect(live.query('somebody_else')).toMatchObject({ info: { mode: null }, process: 'none' })
    await live.until('what it reads', () => live.query('somebody_else').info.source?.name === 'bronze_orders')
  })
})

test('read-only: nothing is made, not even in an empty folder', async () => {
  const folder = join(temporaryFolder(), 'not-there')
  const live = await openLive(folder, { isReadOnly: true })
  expect(live.session.state).toMatchObject({ access: 'read-only', generator: { isOn: false } })
  await expectRefusals(live, 'usage', 'this dashboard was started with --read-only')
  await live.until('a look', () => live.view()?.status.queries.length === 3)
  await live.session.close()
  expect(readdirSync(join(folder, '..'))).toEqual([])
})

test('a damaged workspace is looked at all the same', async () => {
  const live = await openCaughtUp()
  await live.session.close()
  rmSync(join(live.folder, 'topics.db'), { force: true })
  mkdirSync(join(live.folder, 'topics.db'))
  const again = await openLive(live.folder, { isReadOnly: true })
  await again.until('what is wrong', () => (again.view()?.status.errors.length ?? 0) > 0)
  await again.until('its rows', () => again.status('events_copy')?.rows === 9)
})
