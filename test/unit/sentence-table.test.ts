/** The truth table of sentence, forecast and verdict: how a batch was written so far × how it will be tried next → what is said. */
import { describe, expect, it } from 'vitest'
import { forecastOf } from '../../src/observe/forecast.js'
import { sentenceOf } from '../../src/observe/sentence.js'
import type { BatchAttempt, QueryStatus } from '../../src/observe/status.js'
import { judge } from '../../src/observe/verdict.js'

/** `events_copy` with batch 7, of 6 rows, logged and not committed, and nobody running it. */
const PENDING: QueryStatus = {
  name: 'events_copy',
  id: 'now',
  runId: null,
  state: 'killed',
  pid: null,
  source: { kind: 'table', name: 'bronze_orders' },
  sink: { kind: 'table', name: 'events_copy' },
  mode: 'foreachBatch',
  idempotent: false,
  appId: 'events_copy',
  batchId: 7,
  step: 'table-committed',
  offsets: [7, 6],
  commits: [6, 5],
  startOffset: null,
  endOffset: null,
  sourceLines: [],
  lag: 6,
  attempts: 8,
  replays: 0,
  skips: 0,
  rows: 51,
  distinct: 51,
  duplicates: 0,
  missing: 0,
  verdict: 'exactly-once',
  alsoDuplicated: false,
  writtenTwice: 0,
  reasons: [],
  inFlight: true,
  batchAttempts: [],
  newestTxn: null,
  newestOperation: 'WRITE',
  lastError: null,
  lastProgress: null,
}
const ORDERS: Partial<QueryStatus> = { name: 'orders', sink: { kind: 'table', name: 'orders' }, appId: 'orders', mergesWhenIdempotent: true }
const DONE: Partial<QueryStatus> = { step: 'batch-committed', commits: [7, 6], inFlight: false, lag: 0 }

/**
 * Attempts in short: `off W` wrote plainly, `on T` wrote with a txn, `on M` merged, `on U` merged what was there, `on S` was skipped as
 * written, `on L` was skipped for another checkpoint's txn, `off -` died before it wrote.
 */
function attempts(short: string): BatchAttempt[] {
  const list = short === '' ? [] : short.split(', ')
  return list.map((one, place) => {
    const [idempotent, what] = one.split(' ')
    const isTagged = what === 'T' || what === 'S' || what === 'L'
    return {
      attempt: place + 1,
      idempotent: idempotent === 'on',
      outcome: what === '-' ? 'started' : what === 'U' ? 'unchanged' : what === 'S' || what === 'L' ? 'already-committed' : 'committed',
      operation: what === 'M' ? 'MERGE' : what === 'W' || what === 'T' ? 'WRITE' : null,
      rows: what === '-' ? null : 6,
      leftOutRows: what === 'L' ? 6 : what === 'S' ? 0 : null,
      appId: isTagged ? 'events_copy' : null,
      txnVersion: isTagged ? 7 : null,
    }
  })
}

/** The table remembers what was written with a txn. */
function pending(short: string, more: Partial<QueryStatus> = {}): QueryStatus {
  const batchAttempts = attempts(short)
  const isStarted = batchAttempts.at(-1)?.outcome === 'started'
  const isTagged = batchAttempts.some(({ outcome, appId }) => outcome === 'committed' && appId !== null)
  const newestTxn = isTagged ? { appId: 'events_copy', version: 7, queryId: 'now' } : null
  return { ...PENDING, step: isStarted ? 'offsets-logged' : 'table-committed', newestTxn, batchAttempts, ...more }
}

const ON = { idempotentNext: true }
const OFF = { idempotentNext: false }
const OPEN = { idempotentNext: null }
/** A txn of a life before this checkpoint. */
const OTHERS = { newestTxn: { appId: 'events_copy', version: 9, queryId: 'before' }, earlierLives: 1 }

describe('a batch that waits', () => {
  const rows: [string, string, Partial<QueryStatus>, { idempotentNext: boolean | null }, string[]][] = [
    // it was                written as                 with              next  it is said
    ['not written', 'off -', {}, OPEN, ['before events_copy had its rows', 'Nothing is lost, and nothing is there twice.']],
    ['not written', 'on -', {}, ON, ['Nothing is lost, and nothing is there twice.']],
    ['not written, twice', 'off -, on -', {}, OFF, ['Nothing is lost, and nothing is there twice.']],
    [
      'half written',
      'on -',
      { orphans: 1 },
      ON,
      ['nothing is there twice. 1 data file of events_copy is an orphan: no version names it, and no answer changes.'],
    ],
    ['written elsewhere', 'off -', { batchAttempts: [{ ...attempts('off -')[0], alsoWrote: ['audit'] } as BatchAttempt] }, ON, ['But audit has rows of it']],
    ['written once', 'off W', {}, OPEN, ['events_copy has the 6 rows, the checkpoint does not know', 'Idempotence was off', ': expect 6 duplicates.']],
    ['written once', 'off W', {}, OFF, ['Idempotence was off', ': expect 6 duplicates.']],
    ['written once', 'off W', {}, ON, ['It is on now and will not help, for batch 7 was written without a txn: expect 6 duplicates.']],
    ['written once', 'on T', {}, OPEN, ['The table remembers txn (events_copy, 7): a write with that pair is skipped.']],
    ['written once', 'on T', {}, ON, ['The table remembers txn (events_copy, 7): the next attempt is skipped, and no row is written twice.']],
    ['written once', 'on T', {}, OFF, ['but the next attempt is a plain write, which does not ask: expect 6 duplicates.']],
    ['written by another app id', 'on T', { appId: 'copy2' }, ON, ['asks by another app id: expect 6 duplicates.']],
    ['written without a txn by its function', 'on W', {}, ON, ['written without a txn although idempotence was on', ': expect 6 duplicates.']],
    ['written twice', 'off W, off W', {}, OFF, ['the 6 rows twice', 'expect 6 more duplicates.']],
    ['written twice', 'off W, on T', {}, ON, ['the 6 rows twice', 'the next attempt is skipped']],
    ['written twice', 'off W, on T', {}, OFF, ['does not ask: expect 6 more duplicates.']],
    ['written twice', 'on T, off W', {}, ON, ['the next attempt is skipped']],
    ['written three times', 'off W, off W, on T', {}, ON, ['the 6 rows 3 times', 'the next attempt is skipped']],
    [
      'written, then died before',
      'off W, off -',
      {},
      ON,
      ['in attempt 2 of batch 7, before it wrote it again', 'from attempt 1', 'will not help', 'expect 6 duplicates.'],
    ],
    [
      'written, then skipped',
      'on T, on S',
      {},
      ON,
      ['after events_copy skipped batch 7', 'events_copy has the 6 rows from attempt 1.', 'the next attempt is skipped'],
    ],
    ['linked', 'off W', { step: 'version-linked' }, OPEN, ['before the log had it', 'the next start finds them', 'expect 6 duplicates.']],
    [
      'of another life, not written',
      'on -',
      OTHERS,
      ON,
      ['has txn (events_copy, 9) of an earlier checkpoint', 'the rows of batch 7 are left out. Another app id lets them in.'],
    ],
    ['of another life, not written', 'off -', OTHERS, OFF, ['Nothing is lost, and nothing is there twice.']],
    ['of another life, skipped', 'on L', OTHERS, ON, ['None of the 6 rows came to events_copy.', 'are left out']],
    ['merged', 'on M', ORDERS, OPEN, ['It was a MERGE: the same rows again change nothing.']],
    ['merged', 'on M', ORDERS, ON, ['The next attempt is a MERGE too: the same rows again change nothing.']],
    ['merged', 'on M', ORDERS, OFF, ['It was merged, and the next attempt is a plain insert of the same rows: expect 6 duplicates.']],
    ['inserted', 'off W', ORDERS, ON, ['The next attempt is a MERGE, and every key is there: it adds no row.']],
    ['inserted', 'off W', ORDERS, OFF, ['Idempotence was off', 'expect 6 duplicates.']],
    [
      'inserted, then merged',
      'off W, on U',
      ORDERS,
      OFF,
      ['after a MERGE that changed nothing', 'orders has the 6 rows from attempt 1', 'expect 6 duplicates.'],
    ],
    ['written by Spark', '', {}, OPEN, ['died after it wrote batch 7', 'a plain append writes its rows twice.']],
    ['written by Spark', '', { newestTxn: { appId: 'events_copy', version: 7, queryId: null } }, ON, ['the next attempt is skipped']],
    ['merged by Spark', '', { ...ORDERS, newestOperation: 'MERGE' }, OPEN, ['It was a MERGE: the same rows again change nothing.']],
    ['taken back', 'off W', { state: 'stopped' }, OFF, ['it was taken away', 'expect 6 duplicates.']],
    [
      'failed',
      'off W',
      { state: 'failed' },
      OFF,
      ['events_copy failed.', 'with the same rows. events_copy has the 6 rows from attempt 1.', 'expect 6 duplicates.'],
    ],
    [
      'running again',
      'off W, on -',
      { state: 'running' },
      OFF,
      ['batch 7 runs again with the same rows, in attempt 2.', 'will not help', 'expect 6 duplicates.'],
    ],
    ['running again', 'on T, on -', { state: 'paused' }, OFF, [': this attempt is skipped, and no row is written twice.']],
  ]
  it.each(rows)('%s (%s)', (_, short, more, next, words) => {
    const sentence = sentenceOf(pending(short, more), next) ?? ''
    for (const text of words) expect(sentence).toContain(text)
  })
})

describe('every list of up to three attempts, whatever comes next', () => {
  const one = (kinds: readonly string[]) => ['on', 'off'].flatMap((idempotent) => kinds.map((kind) => `${idempotent} ${kind}`))
  const lists = (kinds: readonly string[]): string[][] => {
    const first = one(kinds).map((attempt) => [attempt])
    const second = first.flatMap((list) => one(kinds).map((attempt) => [...list, attempt]))
    return [...first, ...second, ...second.flatMap((list) => one(kinds).map((attempt) => [...list, attempt]))]
  }

  it('of appends: what is remembered is skipped by whoever asks, all else that is there comes once more', () => {
    for (const list of lists(['write', 'die'])) {
      // The store's rule, played through: `on` asks, and leaves a txn.
      let [copies, isRemembered] = [0, false]
      const short = list.map((attempt) => {
        const isOn = attempt.startsWith('on')
        if (attempt.endsWith('die')) return `${isOn ? 'on' : 'off'} -`
        if (isOn && isRemembered) return 'on S'
        copies++
        isRemembered ||= isOn
        return isOn ? 'on T' : 'off W'
      })
      for (const idempotentNext of [true, false]) {
        const query = pending(short.join(', '))
        const forecast = forecastOf(query, { idempotentNext })
        const kind = copies === 0 ? 'written' : idempotentNext && isRemembered ? 'skipped' : 'duplicated'
        expect([short, idempotentNext, forecast.kind]).toEqual([short, idempotentNext, kind])
        const sentence = sentenceOf(query, { idempotentNext }) ?? ''
        expect(/expect 6 (more )?duplicates/.test(sentence), sentence).toBe(kind === 'duplicated')
        expect(/expect 6 more/.test(sentence), sentence).toBe(kind === 'duplicated' && copies > 1)
      }
    }
  })

  it('of a query that merges when idempotence is on: a MERGE never adds, a plain insert always does', () => {
    for (const list of lists(['write', 'die'])) {
      let isThere = false
      const short = list.map((attempt) => {
        const isOn = attempt.startsWith('on')
        if (attempt.endsWith('die')) return `${isOn ? 'on' : 'off'} -`
        const what = isOn ? (isThere ? 'on U' : 'on M') : 'off W'
        isThere = true
        return what
      })
      const query = pending(short.join(', '), ORDERS)
      expect(forecastOf(query, OFF).kind).toBe(isThere ? 'duplicated' : 'written')
      expect(forecastOf(query, ON).kind).toBe(!isThere ? 'written' : short.includes('off W') ? 'adds-none' : 'unchanged')
    }
  })
})

describe('a batch that is done', () => {
  const bad: Partial<QueryStatus> = { verdict: 'duplicated', rows: 57, duplicates: 6, writtenTwice: 6 }
  const rows: [string, string, Partial<QueryStatus>, string | null][] = [
    ['went straight through', 'off W', {}, null],
    ['died before, ran again', 'off -, off W', {}, 'batch 7 ran again, and its 6 rows are in the table once: the attempt before died before it wrote.'],
    ['written twice', 'off W, off W', bad, 'batch 7 ran again and its 6 rows are in the table twice; nothing failed and nothing warned.'],
    ['written three times', 'off W, off W, off W', bad, 'batch 7 ran again and its 6 rows are in the table 3 times; nothing failed and nothing warned.'],
    ['skipped', 'on T, on S', {}, 'batch 7 ran again, and was skipped: the table remembers txn (events_copy, 7). 0 of 6 rows were written.'],
    [
      'turned on too late',
      'off W, on T',
      bad,
      'batch 7 ran again with idempotence on and its 6 rows are in the table twice all the same: attempt 1 wrote it without a txn, so the table could not know it. Now it does.',
    ],
    [
      'turned off in between',
      'on T, off W',
      bad,
      'batch 7 ran again with idempotence off and its 6 rows are in the table twice: the table remembers txn (events_copy, 7), and a plain write does not ask.',
    ],
    [
      'skipped after it was twice there',
      'off W, on T, on S',
      bad,
      'batch 7 ran again, and was skipped: the table remembers txn (events_copy, 7). 0 of 6 rows were written. They are there twice from the attempts before.',
    ],
    [
      'its function carries no txn',
      'on W, on W',
      bad,
      'batch 7 ran again with idempotence on and its 6 rows are in the table twice all the same: its writes carry no txn.',
    ],
    ['merged again', 'on M, on U', ORDERS, 'batch 7 ran again, and the MERGE changed nothing: orders had the newest row of each key already.'],
    [
      'merged, then inserted',
      'on M, off W',
      { ...ORDERS, ...bad },
      'batch 7 ran again with idempotence off and its 6 rows are in the table twice: merged in attempt 1, inserted in attempt 2.',
    ],
    ['inserted, then merged', 'off W, on M', ORDERS, 'batch 7 ran again and was merged again: no row was added.'],
    [
      'skipped for another life',
      'on L',
      { ...OTHERS, missing: 4, verdict: 'missing' },
      'batch 7 was skipped although this checkpoint never wrote it: the table remembers txn (events_copy, 7) of an earlier one. 0 of 6 rows were written, and events_copy lacks 4 rows of bronze_orders. Another app id lets them in.',
    ],
    [
      'copied from a source with duplicates',
      'off W',
      { duplicates: 3 },
      'events_copy has 3 duplicates that are in bronze_orders already: events_copy wrote each row of it once.',
    ],
    [
      'of a new checkpoint with a new app id',
      'on T',
      { ...bad, idempotent: true, earlierLives: 1 },
      'events_copy has a new checkpoint and read bronze_orders from its beginning: 6 rows that events_copy had from an earlier checkpoint were written once more; with another app id the table could not know them.',
    ],
    [
      'of a new checkpoint on a topic that was made again',
      'on T',
      { ...bad, idempotent: true, earlierLives: 1, duplicates: 0, source: { kind: 'topic', name: 'orders' } },
      'events_copy has a new checkpoint and read orders from its beginning: events_copy has 6 rows of the same offsets from an earlier checkpoint, and no two rows are equal: the topic had other records then.',
    ],
    [
      'behind several that were skipped',
      'on T',
      { ...OTHERS, verdict: 'missing', missing: 12, leftOut: { firstBatchId: 0, lastBatchId: 6, rows: 51 } },
      'batches 0 to 6 were skipped although this checkpoint never wrote them: the table remembers the txns of events_copy from an earlier one. 0 of 51 rows were written, and events_copy lacks 12 rows of bronze_orders. Another app id lets them in.',
    ],
    [
      'behind one that is there twice',
      'off W',
      { ...bad, lastStumble: { batchId: 5, attempts: attempts('off W, off W') } },
      'batch 5 ran again and its 6 rows are in the table twice; nothing failed and nothing warned.',
    ],
  ]
  for (const state of ['running', 'paused', 'idle', 'stopped'] as const) {
    it.each(rows)(`%s (%s), ${state}`, (_, short, more, sentence) => {
      expect(sentenceOf({ ...pending(short), ...DONE, state, ...more })).toBe(sentence)
    })
  }
  it.each(rows)('%s (%s), killed', (_, short, more, sentence) => {
    const told = sentenceOf({ ...pending(short), ...DONE, ...more })
    const start = 'events_copy was killed after it committed batch 7: nothing is half done, and it goes on with batch 8.'.replace(
      'events_copy',
      more.name ?? 'events_copy',
    )
    expect(told).toBe(sentence === null ? start : `${start} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`)
  })
})

describe('a query that cannot go on', () => {
  const error = (code: 'foreach-batch-failed' | 'range-changed' | 'checkpoint-gap', hint: string | null) => ({
    code,
    message: 'this broke',
    hint,
    condition: null,
  })
  it.each<[string, Partial<QueryStatus>, string]>([
    [
      'failed in its function',
      { state: 'failed', step: 'offsets-logged', lastError: error('foreach-batch-failed', 'mend it') },
      'events_copy failed: this broke. Batch 7 runs again at the next start, with the same rows. To do: mend it.',
    ],
    [
      'failed for a reason that stays',
      { state: 'failed', lastError: error('range-changed', 'put it back') },
      'events_copy failed: this broke. It will fail in the same way until that is mended. To do: put it back.',
    ],
    ['would be refused', { lastError: error('checkpoint-gap', 'look first') }, 'events_copy will not start: this broke. To do: look first.'],
    [
      'left a batch behind whose rows are still being counted',
      { step: null, batchAttempts: [] },
      'events_copy died with batch 7 logged and not committed; whether events_copy has its rows is still being counted. It will run batch 7 again with the same rows.',
    ],
    [
      'left a batch behind, and nobody knows its table',
      { step: null, sink: null, batchAttempts: [] },
      'events_copy died with batch 7 logged and not committed; which table it writes is not known. It will run batch 7 again with the same rows.',
    ],
    ['waits for its source', { state: 'waiting', batchId: null, step: null }, 'events_copy waits for table bronze_orders, which is not there yet.'],
  ])('%s', (_, more, sentence) => {
    expect(sentenceOf({ ...PENDING, ...more })).toBe(sentence)
  })
})

describe('a query whose checkpoint was taken away', () => {
  const gone: Partial<QueryStatus> = { id: null, batchId: null, step: null, state: 'idle', offsets: [], commits: [] }
  it.each<[string, Partial<QueryStatus>, { idempotentNext: boolean }, string]>([
    [
      'and whose app id the table knows',
      { newestTxn: { appId: 'events_copy', version: 7 } },
      ON,
      'so every batch up to 7 is skipped, whatever rows it has. Another app id lets them in.',
    ],
    ['and that writes plainly', {}, OFF, 'Idempotence is off, so what it wrote before is written once more.'],
    [
      'and whose app id is its id',
      { mode: 'append', appId: null },
      ON,
      'Its writes have an app id that events_copy has not seen, so what it wrote before is written once more.',
    ],
    ['and that merges', ORDERS, ON, 'A MERGE of what is there changes nothing.'],
  ])('%s', (_, more, next, words) => {
    const sentence = sentenceOf({ ...PENDING, ...gone, ...more }, next) ?? ''
    expect(sentence).toContain('has no checkpoint: it begins with batch 0 and reads table bronze_orders from its beginning')
    expect(sentence).toContain(words)
  })

  it('has nothing to say when its table is empty too', () => {
    expect(sentenceOf({ ...PENDING, ...gone, rows: 0 }, ON)).toBeNull()
  })
})

describe('the verdict of a batch written 0, 1, 2, 3 times', () => {
  const write = (attempt: number, operation: string | null) => ({
    queryId: 'now',
    batchId: 7,
    attempt,
    writeNumber: 1,
    rows: 6,
    appId: null,
    version: attempt,
    operation,
  })
  const verdictOf = (operations: readonly string[], isByKey: boolean) => {
    const writes = operations.map((operation, place) => write(place + 1, operation))
    const copies = writes.filter(({ operation }, place) => place === 0 || operation !== 'MERGE').length
    const plainWrites = writes.filter(({ operation }) => operation !== 'MERGE').length
    const writer = { queryId: 'now', writes: writes.length, plainWrites, rows: 6 * writes.length, firstVersion: 1, newestBatchId: 7, rangeEnd: '' }
    const { verdict, writtenTwice, reasons } = judge({
      query: 'q',
      table: 't',
      holds: isByKey ? { of: 'id', newestBy: 'at' } : 'every-row',
      rows: 6 * copies,
      queryId: 'now',
      comparison: { missing: 0, writtenTwice: 6 * Math.max(0, copies - 1), uncommitted: 0, because: null },
      ledger: {
        repeated: writes.length > 1 ? [writes] : [],
        writers: writes.length > 0 ? [writer] : [],
        otherQueries: [],
        lossySkips: [],
        rowsInDroppedTables: 0,
      },
    })
    return [verdict, writtenTwice, reasons[1] ?? null]
  }
  it.each<[string, string[], [string, number, string | null]]>([
    ['never', [], ['empty', 0, null]],
    ['once', ['WRITE'], ['exactly-once', 0, null]],
    [
      'twice',
      ['WRITE', 'WRITE'],
      ['duplicated', 6, 'batch 7 was written twice, attempt 1 without a txn and attempt 2 without a txn: its 6 rows are there twice'],
    ],
    [
      '3 times',
      ['WRITE', 'WRITE', 'WRITE'],
      [
        'duplicated',
        12,
        'batch 7 was written 3 times, attempt 1 without a txn, attempt 2 without a txn and attempt 3 without a txn: its 6 rows are there 3 times',
      ],
    ],
    [
      'twice and merged',
      ['WRITE', 'WRITE', 'MERGE'],
      ['duplicated', 6, 'batch 7 was written 3 times, attempt 1 without a txn, attempt 2 without a txn and attempt 3 by MERGE: its 6 rows are there twice'],
    ],
    ['merged only', ['MERGE', 'MERGE'], ['exactly-once', 0, null]],
  ])('%s', (_, operations, said) => {
    for (const isByKey of [false, true]) expect(verdictOf(operations, isByKey)).toEqual(said)
  })
})
