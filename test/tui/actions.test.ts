/** Every action of the table by each of its keys and by its `:` form: an action without a case here fails the first test. */
import { describe, expect, test } from 'vitest'
import { ACTION_NAMES, type ActionName, actionNamed } from '../../src/session/actions.js'
import type { SessionAction } from '../../src/session/session.js'
import type { Effect, Model } from '../../src/tui/model.js'
import { press, after, modelAfter, type Pressed, sessionState, withCopy, withInfos, workspaceView } from './reducer-models.js'

interface Outcome {
  /** What the session is asked for. */
  readonly asks?: SessionAction
  /** Other effects. */
  readonly effects?: readonly Effect[]
  /** What the model has then. */
  readonly shows?: Partial<Model>
}

interface Case {
  readonly from?: Model
  readonly key: Outcome | ((key: string) => Outcome)
  /** A line with what it comes to; null for an action without a `:` form. */
  readonly command: { readonly line: string; readonly outcome: Outcome } | null
}

const query = 'events_copy'
const STOPPED = modelAfter({ kind: 'state', state: withCopy({ process: 'none', pid: null }) })

const CASES: Record<ActionName, Case> = {
  arm: {
    key: { asks: { name: 'arm', query } },
    command: { line: 'kill-at mid-write orders', outcome: { asks: { name: 'arm', query: 'orders', step: 'mid-write' } } },
  },
  'choose-step': { key: { shows: { chooser: { query, step: 'table-committed' } } }, command: null },
  kill: { key: { asks: { name: 'kill', query } }, command: { line: 'kill orders', outcome: { asks: { name: 'kill', query: 'orders' } } } },
  start: { from: STOPPED, key: { asks: { name: 'start', query } }, command: { line: 'start events_copy', outcome: { asks: { name: 'start', query } } } },
  stop: { key: { asks: { name: 'stop', query } }, command: { line: 'stop', outcome: { asks: { name: 'stop', query } } } },
  idempotent: {
    key: { asks: { name: 'idempotent', query } },
    command: { line: 'idempotent off orders', outcome: { asks: { name: 'idempotent', query: 'orders', isOn: false } } },
  },
  replay: { key: { asks: { name: 'replay', query } }, command: { line: 'replay orders', outcome: { asks: { name: 'replay', query: 'orders' } } } },
  reset: { key: { asks: { name: 'reset', query } }, command: { line: 'reset orders', outcome: { asks: { name: 'reset', query: 'orders' } } } },
  drop: {
    key: {
      shows: {
        confirm: { question: 'Drop table events_copy and the checkpoint of events_copy? No other query reads it.', action: { name: 'drop', query }, by: 'D' },
      },
    },
    command: {
      line: 'drop orders',
      outcome: {
        shows: {
          confirm: {
            question: 'Drop table orders and the checkpoint of orders? No other query reads it.',
            action: { name: 'drop', query: 'orders' },
            by: ':drop',
          },
        },
      },
    },
  },
  step: { key: { asks: { name: 'step', query } }, command: { line: 'step orders', outcome: { asks: { name: 'step', query: 'orders' } } } },
  pause: { key: { asks: { name: 'pause' } }, command: { line: 'pause', outcome: { asks: { name: 'pause' } } } },
  slower: { key: { asks: { name: 'pace', pace: 'slower' } }, command: null },
  faster: { key: { asks: { name: 'pace', pace: 'brisk' } }, command: null },
  pace: { key: {}, command: { line: 'pace full', outcome: { asks: { name: 'pace', pace: 'full' } } } },
  send: { key: { asks: { name: 'send' } }, command: { line: 'send 2', outcome: { asks: { name: 'send', part: 2 } } } },
  generate: { key: { asks: { name: 'generate' } }, command: { line: 'generate 5', outcome: { asks: { name: 'generate', isOn: true, ratePerSecond: 5 } } } },
  'rate-up': { key: { asks: { name: 'generate', isOn: true, ratePerSecond: 2 } }, command: null },
  'rate-down': { key: { asks: { name: 'generate', isOn: true, ratePerSecond: 0.5 } }, command: null },
  up: { key: { shows: { selected: 'bronze_orders' }, effects: [watching('bronze_orders')] }, command: null },
  down: { key: { shows: { selected: 'orders' }, effects: [watching('orders')] }, command: null },
  select: {
    key: (key) => {
      if (key === '1') return { shows: { selected: 'bronze_orders' }, effects: [watching('bronze_orders')] }
      if (key === '2') return { shows: { selected: query } }
      if (key === '3') return { shows: { selected: 'orders' }, effects: [watching('orders')] }
      return { shows: { selected: query, message: { kind: 'refused', text: `there is no query ${key}`, atMs: modelAfter().nowMs } } }
    },
    command: { line: 'select orders', outcome: { shows: { selected: 'orders' }, effects: [watching('orders')] } },
  },
  zoom: { key: { shows: { screen: { kind: 'zoom', pane: 'logs', scroll: 0 } }, effects: [{ kind: 'watch', query, batchLimit: 100 }] }, command: null },
  back: { from: after(modelAfter(), 'b'), key: { shows: { screen: { kind: 'main' } } }, command: null },
  rows: {
    key: { shows: { screen: { kind: 'rows', table: query, content: null, scroll: 0 } }, effects: [{ kind: 'read-rows', table: query }] },
    command: {
      line: 'rows orders',
      outcome: { shows: { screen: { kind: 'rows', table: 'orders', content: null, scroll: 0 } }, effects: [{ kind: 'read-rows', table: 'orders' }] },
    },
  },
  history: {
    key: { shows: { screen: { kind: 'history', table: query, content: null, scroll: 0 } }, effects: [{ kind: 'read-history', table: query }] },
    command: {
      line: 'history',
      outcome: { shows: { screen: { kind: 'history', table: query, content: null, scroll: 0 } }, effects: [{ kind: 'read-history', table: query }] },
    },
  },
  figures: { key: { shows: { screen: { kind: 'figures' } } }, command: { line: 'figures', outcome: { shows: { screen: { kind: 'figures' } } } } },
  command: { key: { shows: { prompt: { kind: 'command', text: '', cursor: 0, historyIndex: null } } }, command: null },
  filter: {
    key: { shows: { prompt: { kind: 'filter', text: '', cursor: 0, historyIndex: null } } },
    command: { line: 'filter two words', outcome: { shows: { filter: 'two words', prompt: null } } },
  },
  picture: { key: {}, command: { line: 'picture a.svg', outcome: { effects: [{ kind: 'picture', path: 'a.svg' }] } } },
  help: { key: { shows: { screen: { kind: 'help', scroll: 0 } } }, command: { line: 'help', outcome: { shows: { screen: { kind: 'help', scroll: 0 } } } } },
  quit: {
    key: { shows: { isQuitting: true }, effects: [{ kind: 'quit' }] },
    command: { line: 'quit', outcome: { shows: { isQuitting: true }, effects: [{ kind: 'quit' }] } },
  },
}

test('every action has a case, and a `:` form here if and only if it has one', () => {
  expect(Object.keys(CASES)).toEqual([...ACTION_NAMES])
  for (const name of ACTION_NAMES) {
    const line = CASES[name].command?.line ?? null
    expect(line?.split(' ')[0] ?? null, name).toBe(actionNamed(name).command?.split(' ')[0] ?? null)
  }
})

describe.each(ACTION_NAMES)('%s', (name) => {
  const { from = modelAfter(), key: outcome, command } = CASES[name]
  for (const key of actionNamed(name).keys) {
    test(`by the key ${key}`, () => expectOutcome(press(from, key), typeof outcome === 'function' ? outcome(key) : outcome, key))
  }
  if (command) test(`by :${command.line}`, () => expectOutcome(press(from, `: "${command.line}" enter`), command.outcome, `:${command.line.split(' ')[0]}`))
})

test('what changes a workspace is refused where it is only read, by key and by command, with the reason', () => {
  for (const [access, reason] of [
    ['read-only', 'this dashboard was started with --read-only'],
    ['foreign', 'this workspace was made by another tool, most likely Spark, and is only read; --adopt takes it over'],
    ['viewer', 'the queries are held by process 7: do it there'],
  ] as const) {
    const model = modelAfter({ kind: 'state', state: sessionState({ access, holderPid: 7 }) })
    for (const name of ACTION_NAMES.filter((one) => actionNamed(one).on !== 'screen')) {
      const { command } = CASES[name]
      const ways = [...actionNamed(name).keys, ...(command ? [`: "${command.line}" enter`] : [])]
      for (const keys of ways) {
        const { model: next, effects } = press(model, keys)
        expect(next.message, `${access} ${keys}`).toEqual({ kind: 'refused', text: reason, atMs: model.nowMs })
        expect({ effects, chooser: next.chooser, confirm: next.confirm }).toEqual({ effects: [], chooser: null, confirm: null })
      }
    }
  }
})

test.each([
  ['x', withCopy({ process: 'none' }), 'events_copy is not running: press s to start it, then x'],
  ['K', withCopy({ process: 'none' }), 'events_copy is not running: there is no process to kill'],
  ['s', withCopy({}), 'events_copy is running'],
  ['i', withCopy({ process: 'none', heldByPid: 9 }), 'events_copy is run by process 9: do it there, or stop that first'],
  ['t', withInfos({}, { table: null }, {}), 'it is not known which table events_copy writes'],
])('%s says why not', (key, state, text) => {
  expect(after(modelAfter({ kind: 'state', state }), key).message).toMatchObject({ kind: 'refused', text })
})

test('what is asked of the whole workspace does not depend on who runs the selected query', () => {
  const elsewhere = modelAfter({ kind: 'state', state: withCopy({ process: 'none', heldByPid: 9 }) })
  expect(press(elsewhere, 'p').effects).toEqual([{ kind: 'perform', action: { name: 'send' }, by: 'p' }])
})

test('a key that has an opposite does it the second time', () => {
  const armed = modelAfter({ kind: 'state', state: withCopy({ armed: { step: 'mid-write', occurrence: 1 } }) })
  expect(press(armed, 'x').effects).toEqual([{ kind: 'perform', action: { name: 'disarm', query }, by: 'x' }])
  expect(press(armed, ': "kill-at planned" enter').effects).toEqual([{ kind: 'perform', action: { name: 'arm', query, step: 'planned' }, by: ':kill-at' }])
  const paused = modelAfter({ kind: 'state', state: sessionState({ isPaused: true }) })
  expect(press(paused, 'space').effects).toEqual([{ kind: 'perform', action: { name: 'resume' }, by: 'space' }])
})

test('pace and rate end at their ends', () => {
  const at = (pace: string, dwellMs: number, ratePerSecond: number) =>
    modelAfter({ kind: 'state', state: sessionState({ pace: { name: pace, dwellMs, intervalMs: 0 }, generator: { isOn: false, ratePerSecond } }) })
  expect(after(at('full', 0, 1), ']').message?.text).toBe('it is full speed already')
  expect(after(at('slowest', 600, 1), '[').message?.text).toBe('slower than this there is only n, one step at a press')
  expect(press(at('own', 20, 3), '] +').effects).toEqual([
    asking({ name: 'pace', pace: 'fast' }, ']'),
    asking({ name: 'generate', isOn: true, ratePerSecond: 5 }, '+'),
  ])
  expect(press(at('own', 20, 3), '[ -').effects).toEqual([
    asking({ name: 'pace', pace: 'brisk' }, '['),
    asking({ name: 'generate', isOn: false, ratePerSecond: 2 }, '-'),
  ])
  expect(after(at('full', 0, 0.5), '-').message?.text).toBe('slower than this there is only g, off')
  expect(after(at('full', 0, 1_000), '=').message?.text).toBe('the generator sends no faster than this')
})

test('nothing is asked of a session that is not open yet, and what needs none works', () => {
  const { model } = press({ ...modelAfter(), state: null, view: null, selected: null }, 'p')
  expect(model.message?.text).toBe('the workspace is not open yet')
  expect(press(model, 'x K D t h 1 j space').effects).toEqual([])
  expect(after(model, '?').screen).toEqual({ kind: 'help', scroll: 0 })
  expect(press(model, 'q').effects).toEqual([{ kind: 'quit' }])
  expect(press(modelAfter({ kind: 'view', view: workspaceView(1_000, 57) }), 'p').effects).toHaveLength(1)
})

function expectOutcome({ model, effects }: Pressed, { asks, effects: others = [], shows = {} }: Outcome, by: string): void {
  expect(effects).toEqual([...(asks ? [asking(asks, by)] : []), ...others])
  expect(model).toMatchObject(shows)
}

function asking(action: SessionAction, by: string): Effect {
  return { kind: 'perform', action, by }
}

function watching(name: string): Effect {
  return { kind: 'watch', query: name, batchLimit: 12 }
}
