/** What a play tells, and when it stops. */
import { describe, expect, test } from 'vitest'
import type { PlayEvent } from '../../src/scenario/play-event.js'
import { playScript } from './virtual-play.js'

/** What came of the actions: their sentences, or the code of the error. */
const outcomes = (events: readonly PlayEvent[]) => events.flatMap((event) => (event.kind === 'outcome' ? [event.error?.code ?? event.texts.join('; ')] : []))
const checks = (events: readonly PlayEvent[]) => events.flatMap((event) => (event.kind === 'expectation' ? event.checks : []))

describe('an expectation that is not met', () => {
  test('is told with what was found instead, and the play goes on', async () => {
    const events = await playScript(
      'produce: 1',
      'run: bronze_orders',
      'expect: { table: bronze_orders, rows: 4, distinct: 3 }',
      'expect: { query: bronze_orders, verdict: duplicated }',
      'expect: { checkpoint: bronze_orders, offsets: [0], commits: [] }',
      'expect: { topic: orders, records: 9, end-offsets: { 0: 3 } }',
    )
    expect(checks(events).map(({ field, expected, found, isMet }) => [field, expected, found, isMet])).toEqual([
      ['rows', 4, 3, false],
      ['distinct', 3, 3, true],
      ['verdict', 'duplicated', 'exactly-once', false],
      ['offsets', [0], [0], true],
      ['commits', [], [0], false],
      ['records', 9, 3, false],
      ['end-offsets', { 0: 3 }, { 0: 3 }, true],
    ])
    expect(events.at(-1)).toEqual({ kind: 'end', isMet: false, expectations: 4, unmet: 4, failedLine: null })
  })

  test('of rows names a value that differs, and what is not there', async () => {
    const events = await playScript(
      'produce: all',
      'run: bronze_orders',
      'run: orders',
      'expect: { table: orders, where: { order_id: 1001 }, rows: 1, values: { status: placed, amount: 25.5, colour: red } }',
      'expect: { table: orders, where: { order_id: 7 }, rows: 0, values: { status: placed } }',
      'expect: { table: no_table, rows: 0, exists: false, versions: 1 }',
      'expect: { table: orders, versions: [{ operation: CREATE TABLE, batch: 0 }, { operation: MERGE, batch: 0, txn: 0 }] }',
    )
    expect(checks(events).map(({ field, found, isMet }) => [field, found, isMet])).toEqual([
      ['rows', 1, true],
      ['status', 'paid', false],
      ['amount', '25.50', true],
      ['colour', 'no such column', false],
      ['rows', 0, true],
      ['status', 'no such row', false],
      ['exists', false, true],
      ['rows', 'no such table', false],
      ['versions', 'no such table', false],
      ['version 0', { operation: 'CREATE TABLE', batch: null }, false],
      ['version 1', { operation: 'MERGE', batch: 0, txn: null }, false],
    ])
  })
})

describe('a line that fails', () => {
  test('ends the play unless the next line expects it', async () => {
    const events = await playScript('run: events_copy', 'produce: all', 'expect: { topic: orders, records: 9 }')
    expect(outcomes(events)).toEqual(['source-missing'])
    expect(events.at(-1)).toEqual({ kind: 'end', isMet: false, expectations: 0, unmet: 0, failedLine: 3 })
  })

  test('is a run while all is paused, which would never end, and said at once', async () => {
    const events = await playScript(
      'produce: all',
      'pause: true',
      'run: bronze_orders',
      'expect: { error: usage, says: paused }',
      'pause: false',
      'run: bronze_orders',
    )
    expect(outcomes(events)[2]).toBe('usage')
    expect(events.at(-1)).toMatchObject({ isMet: true, unmet: 0 })
  })

  test('is what an expected error is compared with, captions between them', async () => {
    const events = await playScript(
      'run: events_copy',
      'say: Look.',
      'expect: { error: source-missing, says: bronze_orders }',
      'replay: events_copy',
      'expect: { error: conflict, says: nothing of the kind }',
      'produce: 1',
      'expect: { error: conflict }',
    )
    expect(checks(events).map(({ field, found, isMet }) => [field, found, isMet])).toEqual([
      ['error', 'source-missing', true],
      ['says', expect.stringContaining('bronze_orders'), true],
      ['error', 'usage', false],
      ['says', 'events_copy has no batch yet', false],
      ['error', 'none', false],
    ])
  })

  test('is one whose kill never came', async () => {
    const events = await playScript('produce: 1', 'run: { query: bronze_orders, kill: "table-committed:2" }', 'expect: { error: step-not-reached }')
    expect(events.at(-1)).toMatchObject({ isMet: true })
  })

  test('is one that waits for what does not come', async () => {
    const events = await playScript('start: bronze_orders', 'wait: { query: bronze_orders, until: killed, within: 2 }')
    expect(outcomes(events)).toEqual(['bronze_orders starts', 'step-not-reached'])
  })
})

test('queries that go on and on are started, armed, held, stepped, killed and stopped', async () => {
  const events = await playScript(
    'pace: fast',
    'start: bronze_orders',
    'generate: 50',
    'wait: 1',
    'generate: off',
    'wait: { query: bronze_orders, until: caught-up }',
    'arm: { query: bronze_orders, step: table-committed }',
    'produce: 1',
    'wait: { query: bronze_orders, until: killed }',
    'start: bronze_orders',
    'wait: { query: bronze_orders, until: caught-up }',
    'pause: true',
    'produce: 2',
    'wait: { query: bronze_orders, until: held }',
    'step: bronze_orders',
    'pause: false',
    'wait: { query: bronze_orders, until: caught-up }',
    'stop: bronze_orders',
    'expect: { query: bronze_orders, duplicates: 0, missing: 0, state: idle, verdict: exactly-once }',
  )
  expect(events.at(-1)).toMatchObject({ isMet: true })
  expect(outcomes(events)).toContain('every query is held at its next step, and the generator waits')
  expect(outcomes(events)).toContain('bronze_orders is stopped')
})

test('nothing happens that no line asked for', async () => {
  const events = await playScript('wait: 5', 'expect: { topic: orders, records: 0 }', 'expect: { query: bronze_orders, state: idle, rows: 0 }')
  expect(checks(events).map(({ found }) => found)).toEqual(['no such topic', 'idle', 0])
})
