/** The words of the event log. */
import { describe, expect, test } from 'vitest'
import type { QueryEvent } from '../../src/engine/events.js'
import type { StepEvent } from '../../src/engine/steps.js'
import { batchWords, endingWords } from '../../src/session/log-text.js'
import type { LiveAttempt, LiveEnding, QueryInfo } from '../../src/session/session-state.js'

type BatchEvent = Extract<QueryEvent, { readonly kind: 'batch' }>
type Write = BatchEvent['writes'][number]

const INFO: QueryInfo = { name: 'copy', source: { kind: 'topic', name: 'orders' }, table: 'copy', writes: ['copy'], mode: 'append', idempotentByDefault: true }
const WRITE: Write = { table: 'copy', outcome: 'committed', version: 3, rowCount: 6, leftOutRows: null, reason: null }

function batch(change: Partial<BatchEvent>, source: { startOffset?: unknown; endOffset?: unknown } = {}): BatchEvent {
  const progress = {
    batchDuration: 9,
    numInputRows: 6,
    sources: [{ description: '', startOffset: null, endOffset: null, latestOffset: null, numInputRows: 6, ...source }],
  }
  return { kind: 'batch', batchId: 8, attempt: 1, writes: [WRITE], progress: progress as unknown as BatchEvent['progress'], ...change }
}

const attempt = (kind: 'append' | 'merge'): LiveAttempt => ({
  batchId: 8,
  attempt: 1,
  isDead: false,
  beganAtMs: 0,
  steps: (['planned', 'files-written', 'batch-committed'] as const).map((step, index) => ({
    event: { step, batchId: 8, attempt: 1, occurrence: 1, ...(step === 'files-written' ? { kind } : {}) },
    tookMs: [3_000, 7.06, 2][index] as number,
    atMs: 0,
  })),
})

describe('a batch', () => {
  test('tells its rows, the offsets of one partition, and its work without what it waited for', () => {
    const event = batch({}, { startOffset: { orders: { 0: 51 } }, endOffset: { orders: { 0: 57 } } })
    expect(batchWords(event, INFO, attempt('append'))).toEqual({ kind: 'committed', text: 'batch 8 committed: +6 rows, offsets 51 to 57, 9.1 ms' })
  })

  test.each([
    ['one row of a table', batch({ writes: [{ ...WRITE, rowCount: 1 }] }), 'batch 8 committed: +1 row, 9.0 ms'],
    ['several partitions', batch({}, { startOffset: null, endOffset: { orders: { 0: 3, 1: 4 } } }), 'batch 8 committed: +6 rows, 2 partitions, 9.0 ms'],
    ['a start that is not known', batch({}, { startOffset: null, endOffset: { orders: { 0: 3 } } }), 'batch 8 committed: +6 rows, offsets to 3, 9.0 ms'],
    ['a second attempt', batch({ attempt: 2 }), 'batch 8 committed: +6 rows, attempt 2, 9.0 ms'],
    ['records that are none', batch({ writes: [WRITE, { ...WRITE, table: 'copy_rejected', rowCount: 2 }] }), 'batch 8 committed: +6 rows, 2 rejected, 9.0 ms'],
    ['another table', batch({ writes: [WRITE, { ...WRITE, table: 'vip', rowCount: 2 }] }), 'batch 8 committed: +6 rows, +2 in vip, 9.0 ms'],
    ['no write', batch({ writes: [] }), 'batch 8 committed: nothing to write, 9.0 ms'],
  ])('%s', (_, event, text) => {
    expect(batchWords(event, INFO, null).text).toBe(text)
  })

  test('of a MERGE tells the events and the rows', () => {
    expect(batchWords(batch({ writes: [{ ...WRITE, rowCount: 5 }] }), INFO, attempt('merge')).text).toBe('batch 8 committed: 6 events, 5 rows merged, 9.1 ms')
    expect(batchWords(batch({ writes: [{ ...WRITE, outcome: 'unchanged', version: null }] }), INFO, attempt('merge')).text).toBe(
      'batch 8 committed: 6 events, nothing changed, 9.1 ms',
    )
  })

  test.each([
    [{ inserted: 3, updated: 2, deleted: 0, ignored: 1, isIgnoredLate: true }, '3 inserted, 2 updated, 1 late and ignored'],
    [{ inserted: 2, updated: 4, deleted: 0, ignored: 0, isIgnoredLate: true }, '2 inserted, 4 updated'],
    [{ inserted: 0, updated: 0, deleted: 5, ignored: 1, isIgnoredLate: false }, '5 deleted, 1 changed nothing'],
  ])('of a MERGE whose effect is known tells that: %o', (counts, text) => {
    expect(batchWords(batch({ writes: [{ ...WRITE, counts }] }), INFO, attempt('merge')).text).toBe(`batch 8 committed: 6 events, ${text}, 9.1 ms`)
    const audit = { ...WRITE, table: 'audit', rowCount: 9 }
    expect(batchWords(batch({ writes: [audit, { ...WRITE, counts }] }), INFO, null).text).toBe(`batch 8 committed: 6 events, ${text}, +9 in audit, 9.0 ms`)
  })

  test('that was skipped names the txn, and who set it where that was another checkpoint: its rows may be there all the same', () => {
    const skipped: Write = {
      ...WRITE,
      outcome: 'already-committed',
      version: null,
      rowCount: 9,
      leftOutRows: 0,
      reason: 'copy has txn (events_copy, 8) from attempt 1 of this batch',
    }
    expect(batchWords(batch({ attempt: 2, writes: [skipped] }), INFO, null)).toEqual({
      kind: 'skipped',
      text: 'batch 8 ran again and was skipped: txn (events_copy, 8) seen, 0 of 9 rows written',
    })
    const lossy = { ...skipped, leftOutRows: 9, reason: 'copy has txn (events_copy, 8) already, written by copy with another checkpoint (query id 1)' }
    expect(batchWords(batch({ writes: [lossy] }), INFO, null).text).toBe(
      'batch 8 was skipped: txn (events_copy, 8) seen, 0 of 9 rows written: copy has txn (events_copy, 8) already, written by copy with another checkpoint (query id 1)',
    )
  })
})

test.each<[Partial<LiveEnding>, string]>([
  [{ kind: 'stopped', by: 'S' }, 'stopped (you: S)'],
  [{ kind: 'stopped' }, 'stopped'],
  [{ kind: 'killed', by: 'x', at: at('table-committed', 7) }, 'killed at table-committed of batch 7 (you: x)'],
  [{ kind: 'killed', by: 'K' }, 'killed between two batches (you: K)'],
  [{ kind: 'killed', by: 'x', at: { ...at('mid-write', 7), occurrence: 2, attempt: 3 } }, 'killed at mid-write:2 of batch 7, attempt 3 (you: x)'],
  [{ kind: 'died', pid: 12, at: at('planned', 0) }, 'died at planned of batch 0 of a signal that nobody here sent, pid 12'],
  [{ kind: 'failed', error: { code: 'internal', message: 'no disk', hint: 'buy one', condition: 'NO_DISK' } }, 'failed: no disk [NO_DISK]. buy one'],
  [{ kind: 'failed', error: { code: 'internal', message: 'no disk', hint: null, condition: null } }, 'failed: no disk'],
])('an ending: %o', (change, text) => {
  expect(endingWords({ kind: 'stopped', atMs: 0, pid: null, at: null, by: null, error: null, ...change }).text).toBe(text)
})

function at(step: StepEvent['step'], batchId: number): StepEvent {
  return { step, batchId, attempt: 1, occurrence: 1 }
}
