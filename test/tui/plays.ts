/** A play in a model of the tests: a scenario of a few lines, and what it tells. */
import type { PlayEvent } from '../../src/scenario/play-event.js'
import { parseScenario } from '../../src/scenario/parse-scenario.js'
import type { Scenario } from '../../src/scenario/scenario.js'
import type { Effect, Model } from '../../src/tui/model.js'
import { initialPlay, type PlaySetting } from '../../src/tui/play-state.js'
import { reduce } from '../../src/tui/reduce.js'
import { modelAfter } from './reducer-models.js'

/** Its lines are 4 to 9 of the file. */
export const SCENARIO = parseScenario(
  `title: Mine
about: What it is about.
script:
  - say: We copy, and die.
  - run: { query: bronze_orders, kill: table-committed }
  - expect: { table: orders, rows: 9 }
  - say: And now again.
  - run: bronze_orders
  - expect: { query: bronze_orders, rows: 18, verdict: duplicated }
`,
  'mine.yaml',
)

export const OPENING: PlayEvent = { kind: 'scenario', file: 'mine.yaml', title: 'Mine', about: 'What it is about.' }
export const FIRST: PlayEvent = { kind: 'caption', line: 4, text: 'We copy, and die.' }
export const RUN: PlayEvent = { kind: 'action', line: 5, text: 'run: …', details: [] }
export const KILLED: PlayEvent = { kind: 'outcome', line: 5, texts: ['killed at table-committed of batch 0'], error: null }
export const CHECKED: PlayEvent = expectation(6, true)
export const SECOND: PlayEvent = { kind: 'caption', line: 7, text: 'And now again.' }
export const AGAIN: PlayEvent = { kind: 'action', line: 8, text: 'run: bronze_orders', details: [] }
export const WRITTEN: PlayEvent = { kind: 'outcome', line: 8, texts: ['batch 0 committed: +9 rows, attempt 2'], error: null }
export const END: PlayEvent = { kind: 'end', isMet: true, expectations: 2, unmet: 0, failedLine: null }

/** Up to where the second caption waits. */
export const TO_SECOND: readonly PlayEvent[] = [OPENING, FIRST, RUN, KILLED, CHECKED, SECOND]

export function expectation(line: number, isMet: boolean): PlayEvent {
  const subject = line === 6 ? 'table orders' : 'query bronze_orders'
  return { kind: 'expectation', line, subject, isMet, checks: [{ field: 'rows', expected: 9, found: isMet ? 9 : 18, isMet }] }
}

export function setting(change: Partial<PlaySetting> = {}, scenario: Scenario = SCENARIO): PlaySetting {
  return { name: '02-mine', scenario, waitsAt: 'captions', speed: 1, isPresenter: false, ...change }
}

/** A dashboard on which this is played and has told so much. */
export function playing(events: readonly PlayEvent[], change: Partial<PlaySetting> = {}): Model {
  return told({ ...modelAfter(), play: initialPlay(setting(change)) }, events).model
}

export function told(model: Model, events: readonly PlayEvent[]): { readonly model: Model; readonly effects: readonly Effect[] } {
  let [now, all]: [Model, readonly Effect[]] = [model, []]
  for (const event of events) {
    const { model: next, effects } = reduce(now, { kind: 'play', event })
    now = next
    all = [...all, ...effects.filter(({ kind }) => kind !== 'watch')]
  }
  return { model: now, effects: all }
}
