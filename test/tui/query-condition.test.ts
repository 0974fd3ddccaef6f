/** What a query is said to be doing: by its process if the session has one or saw it end, else by what is on disk. */
import { expect, test } from 'vitest'
import type { LiveQuery } from '../../src/session/session-state.js'
import type { QueryState } from '../../src/observe/status.js'
import { conditionOf } from '../../src/tui/query-condition.js'
import { subjectsOf } from '../../src/tui/subject.js'
import { ending, eventAt, modelWith } from './models.js'

function wordOf(
  live: Partial<LiveQuery>,
  { state = 'running', pid = 48212, isPaused = false }: { state?: QueryState; pid?: number | null; isPaused?: boolean } = {},
): string {
  const subject = subjectsOf(modelWith({ live: { events_copy: live }, status: { events_copy: { state, pid } }, state: { isPaused } }))[1]
  return subject?.condition.word ?? ''
}

const gone: Partial<LiveQuery> = { process: 'none', pid: null }

test('its own process comes first', () => {
  expect(wordOf({ process: 'starting' })).toBe('starts')
  expect(wordOf({})).toBe('running')
  expect(wordOf({}, { state: 'killed' })).toBe('running')
  expect(wordOf({ isWaitingForSource: true })).toBe('waiting')
  expect(wordOf({ armed: { step: 'mid-write', occurrence: 1 } })).toBe('armed')
  expect(wordOf({ isHeld: true, heldAt: eventAt('rows-read') })).toBe('held')
  expect(wordOf({ isHeld: true }, { isPaused: true })).toBe('paused')
  expect(wordOf({ process: 'stopping' })).toBe('stops')
})

test('then how it ended, as the session saw it', () => {
  expect(wordOf({ ...gone, ending: ending('killed') })).toBe('KILLED')
  expect(wordOf({ ...gone, ending: ending('died') })).toBe('DIED')
  expect(wordOf({ ...gone, ending: ending('failed') })).toBe('FAILED')
  expect(wordOf({ ...gone, ending: ending('stopped') })).toBe('stopped')
  expect(wordOf({ ...gone, ending: ending('stopped') }, { state: 'idle', pid: null })).toBe('idle')
})

test('then another process, and at last the disk', () => {
  expect(wordOf({ ...gone, heldByPid: 4711, ending: ending('killed') })).toBe('pid 4711')
  expect(wordOf(gone, { pid: 4712 })).toBe('pid 4712')
  for (const [state, word] of [
    ['killed', 'KILLED'],
    ['failed', 'FAILED'],
    ['stopped', 'stopped'],
    ['idle', 'idle'],
  ] as const)
    expect(wordOf(gone, { state, pid: null })).toBe(word)
})

test('before anybody has looked nothing is claimed', () => {
  const live = subjectsOf(modelWith({ live: { events_copy: gone } }))[1]?.live
  expect(live && conditionOf(live, null, false).word).toBe('looking')
})
