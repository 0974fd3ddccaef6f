/** One line an event, for pipes and for those who hear it. */
import { describe, expect, test } from 'vitest'
import { PlainLines } from '../../src/tui/plain.js'
import { OWNER, statusOf, viewOf } from './fake-session.js'

/** 12:04:27 UTC on some day. */
const AT_MS = 20_000 * 86_400_000 + (12 * 3_600 + 4 * 60 + 27) * 1_000
const TEXT = { json: false, timeZoneOffsetMinutes: 0 }
const KILLED = statusOf('events_copy', {
  ...{ state: 'killed', batchId: 7, step: 'table-committed', sink: { kind: 'table', name: 'events_copy' } },
  batchAttempts: [{ attempt: 1, idempotent: false, outcome: 'committed', operation: 'WRITE', rows: 6, leftOutRows: null, appId: null, txnVersion: null }],
})

test('an event: local time, who, what', () => {
  const entry = { atMs: AT_MS, who: 'events_copy', kind: 'killed', text: 'killed at table-committed of batch 7 (you: x)' } as const
  expect(new PlainLines(TEXT).take({ kind: 'log', entry }, AT_MS)).toBe('12:04:27 events_copy killed at table-committed of batch 7 (you: x)\n')
  expect(new PlainLines({ ...TEXT, timeZoneOffsetMinutes: 120 }).take({ kind: 'log', entry }, AT_MS)).toMatch(/^14:04:27 /)
})

test('the sentence, without its name twice, and only when it is another', () => {
  const lines = new PlainLines(TEXT)
  const said = lines.take({ kind: 'view', view: viewOf([KILLED], AT_MS) }, AT_MS)
  expect(said).toMatch(/^12:04:27 events_copy was killed after it wrote batch 7 and before it committed it: [^\n]+ 6 duplicates\.\n$/)
  expect(lines.take({ kind: 'view', view: viewOf([KILLED], AT_MS + 1_000) }, AT_MS)).toBe('')
  expect(lines.take({ kind: 'view', view: viewOf([statusOf('events_copy')], AT_MS) }, AT_MS)).toBe('')
  expect(lines.take({ kind: 'view', view: viewOf([KILLED], AT_MS) }, AT_MS)).toBe(said)
})

test('who may not do anything here is told once', () => {
  const lines = new PlainLines(TEXT)
  const viewer = { kind: 'state', state: { ...OWNER, access: 'viewer', holderPid: 812 } } as const
  expect(lines.take(viewer, AT_MS)).toBe('12:04:27 streamtop the queries are held by process 812; they are only looked at here\n')
  expect(lines.take(viewer, AT_MS)).toBe('')
  expect(new PlainLines(TEXT).take({ kind: 'state', state: OWNER }, AT_MS)).toBe('')
})

test('at the end the counts', () => {
  const counted = statusOf('events_copy', { rows: 57, distinct: 51, duplicates: 6, missing: 0, verdict: 'duplicated' })
  expect(new PlainLines(TEXT).last(viewOf([counted, statusOf('orders')]).status, AT_MS)).toBe(
    '12:04:27 events_copy has 57 rows, 51 different, 6 duplicates, 0 missing: duplicated\n12:04:27 orders has no rows that could be counted\n',
  )
})

describe('hostile text', () => {
  const entry = { atMs: AT_MS, who: 'a\u001b[2J\nb', kind: 'failed', text: 'no\u202e\u0007\u009b31m\r\nway' } as const

  test('appears as marks, on one line', () => {
    expect(new PlainLines(TEXT).take({ kind: 'log', entry }, AT_MS)).toBe('12:04:27 a␛[2J␊b no\\u{202e}␇\\u{9b}31m␍␊way\n')
  })

  test('as JSON nothing is lost and nothing acts', () => {
    const line = new PlainLines({ ...TEXT, json: true }).take({ kind: 'log', entry }, AT_MS)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
    expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(JSON.parse(line)).toEqual({ time: '2024-10-04T12:04:27.000Z', who: entry.who, kind: 'failed', text: entry.text })
  })
})

test('as JSON the counts of all queries are one object', () => {
  const status = viewOf([statusOf('orders', { rows: 8, distinct: 8, duplicates: 0, missing: 0, verdict: 'exactly-once' })]).status
  expect(JSON.parse(new PlainLines({ ...TEXT, json: true }).last(status, AT_MS))).toEqual({
    ...{ time: '2024-10-04T12:04:27.000Z', kind: 'counts' },
    queries: [{ name: 'orders', rows: 8, distinct: 8, duplicates: 0, missing: 0, verdict: 'exactly-once', inFlight: false }],
  })
})
