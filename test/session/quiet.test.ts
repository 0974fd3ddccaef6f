/** What a session says when there is nothing to say, and what a listener hears when it comes. */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import type { Status } from '../../src/observe/status.js'
import { openWorkspaceService } from '../../src/session/open-workspace-service.js'
import type { SessionMessage } from '../../src/session/session-state.js'
import type { WorkspaceService } from '../../src/session/workspace-service.js'
import { Looks } from '../../src/session/looks.js'
import { ManualClock } from '../tui/manual-clock.js'
import { openCaughtUp } from './live.js'

/** A service whose looks are counted: `after(n)` resolves when it has answered n more. */
function countedService(): { service: WorkspaceService; after(looks: number): Promise<void> } {
  const service = openWorkspaceService(fx)
  let count = 0
  const waiting: { at: number; resolve: () => void }[] = []
  return {
    service: {
      ...service,
      async look(query, batchLimit) {
        const view = await service.look(query, batchLimit)
        count += 1
        for (const { at, resolve } of waiting) if (count >= at) resolve()
        return view
      },
    },
    after: (looks) => new Promise((resolve) => void waiting.push({ at: count + looks, resolve })),
  }
}

/** Apart from a look that is told again for its time alone, five seconds after the one before. */
function newsOf(messages: readonly SessionMessage[], from: number): SessionMessage[] {
  let told = messages.slice(0, from).findLast((message) => message.kind === 'view')
  return messages.slice(from).filter((message) => {
    const before = told
    if (message.kind !== 'view') return true
    told = message
    const isSame = JSON.stringify(before?.view.status) === JSON.stringify(message.view.status)
    return !isSame || message.view.takenAtMs - (before?.view.takenAtMs ?? 0) < 5_000
  })
}

test('paused or idle it looks every second, and tells nobody that nothing has changed', async () => {
  const { service, after } = countedService()
  const live = await openCaughtUp({}, service)
  await after(2)
  const before = live.messages.length
  await after(1)
  expect(newsOf(live.messages, before)).toEqual([])
  await live.do({ name: 'pause' }, 'space')
  await after(1)
  const paused = live.messages.length
  await after(2)
  expect(newsOf(live.messages, paused)).toEqual([])
})

test('a listener hears the state at once, and the newest view; what is watched is looked at closely', async () => {
  const live = await openCaughtUp()
  const heard: string[] = []
  const stop = live.session.subscribe(({ kind }) => heard.push(kind))
  expect(heard).toEqual(['state', 'view'])
  live.session.watch('orders', 3)
  await live.until('its versions', () => live.view()?.detail?.query === 'orders')
  expect(live.view()?.detail).toMatchObject({ table: 'orders', versions: [{ operation: 'MERGE' }, { operation: 'CREATE TABLE' }] })
  stop()
  const { length } = heard
  await live.do({ name: 'pause' }, 'space')
  expect(heard).toHaveLength(length)
})

test('a look that saw nothing new is told every five seconds, so that the age of the picture is true', async () => {
  const clock = new ManualClock()
  const told: number[] = []
  const empty: Status = { format: 1, workspace: '/w', topics: [], queries: [], tables: [], errors: [] }
  const take = async () => ({ takenAtMs: clock.nowMs, status: empty, detail: null })
  const looks = new Looks(
    take,
    (view, isTold) => isTold && told.push(view.takenAtMs),
    () => {},
    clock.effects(fx),
  )
  const run = looks.run()
  await clock.advance(11_500)
  looks.end()
  await run
  expect(told).toEqual([0, 5_000, 10_000])
})
