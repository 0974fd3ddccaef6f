/** What a session says when there is nothing to say, and what a listener hears when it comes. */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { openWorkspaceService } from '../../src/session/open-workspace-service.js'
import type { WorkspaceService } from '../../src/session/workspace-service.js'
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

test('paused or idle it looks every second, and tells nobody that nothing has changed', async () => {
  const { service, after } = countedService()
  const live = await openCaughtUp({}, service)
  await after(2)
  const before = live.messages.length
  await after(1)
  expect(live.messages.slice(before)).toEqual([])
  await live.do({ name: 'pause' }, 'space')
  await after(1)
  const paused = live.messages.length
  await after(2)
  expect(live.messages.slice(paused)).toEqual([])
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
