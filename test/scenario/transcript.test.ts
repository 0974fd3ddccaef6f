/** The lines that people read, and what is left out of them so that two plays can be compared. */
import { expect, test } from 'vitest'
import type { PlayEvent } from '../../src/scenario/play-event.js'
import { steadyText } from '../../src/scenario/steady-text.js'
import { Transcript } from '../../src/scenario/transcript.js'
import { playScript } from './virtual-play.js'

test('a play as it is read', async () => {
  const transcript = new Transcript()
  const events = await playScript(
    'say: Two records, one of them an order. We copy what there is, and die.',
    'produce: [{ order_id: 1, amount: 2.50, event_time: "2026-10-01T09:15:00Z" }, no order]',
    'run: { query: bronze_orders, kill: table-committed }',
    'expect: { checkpoint: bronze_orders, offsets: [0], commits: [] }',
    'expect: { query: bronze_orders, rows: 2, distinct: 1, duplicates: 0, attempts: 1, replays: 0, state: killed }',
    'expect: { table: bronze_orders, versions: [{ operation: STREAMING UPDATE, batch: 0, rows: 2 }] }',
    'say: And now?',
    'run: events_copy',
    'replay: bronze_orders',
  )
  expect(events.map((event) => transcript.take(event)).join('')).toBe(`\
Mine
====

Two records, one of them an order. We copy what there is, and die.

> produce: 2 records
    { order_id: 1, amount: 2.50, event_time: "2026-10-01T09:15:00Z" }
    no order
  2 records sent to topic orders
> run: { query: bronze_orders, kill: table-committed }
  killed at table-committed of batch 0
✓ checkpoint bronze_orders: offsets [0], commits none
✗ query bronze_orders: rows 2 (found 1), distinct 1, duplicates 0, attempts 1,
    replays 0, state killed
✗ table bronze_orders:
    version 0 { operation: STREAMING UPDATE, batch: 0, rows: 2 } (found { operation: STREAMING UPDATE, batch: 0, rows: 1 })

And now?

> run: events_copy
  batch 0 committed: +1 row
> replay: bronze_orders
  error usage: batch 0 of bronze_orders has no commit: it runs again anyway,
  press s

✗ line 11 failed, 1 of 3 expectations met
`)
})

test('foreign text cannot move the cursor', () => {
  const evil = '\u001b[2J\u202e'
  const events: PlayEvent[] = [
    { kind: 'scenario', file: 'f', title: evil, about: null },
    { kind: 'caption', line: 1, text: evil },
    { kind: 'action', line: 2, text: `run: ${evil}`, details: [evil] },
    { kind: 'outcome', line: 2, texts: [evil], error: { code: 'internal', message: evil, hint: evil, condition: evil } },
    { kind: 'expectation', line: 3, subject: evil, isMet: false, checks: [{ field: evil, expected: [evil], found: { [evil]: evil }, isMet: false }] },
  ]
  const transcript = new Transcript()
  const text = events.map((event) => transcript.take(event)).join('')
  expect(text).toContain('␛[2J')
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test.each([
  ['batch 0 committed: +9 rows, offsets 0 to 9, 12.3 ms', 'batch 0 committed: +9 rows, offsets 0 to 9'],
  ['query q is held by process 4711, for 3 s now', 'query q is held by another process'],
  ['wait for it to end, or stop it with "kill 4711"', 'wait for it to end'],
  ['killed at planned of batch 0 (you: scenario)', 'killed at planned of batch 0'],
  ['txn (01234567-89ab-4cde-8fab-0123456789ab, 1) seen', 'txn (<id>, 1) seen'],
  ['w/x/checkpoints/q/metadata is missing from w/x', 'checkpoints/q/metadata is missing from the workspace'],
])('%s', (text, steady) => {
  expect(steadyText(text, 'w/x')).toBe(steady)
})
