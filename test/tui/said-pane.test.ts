/** What the dashboard says and advises, at several heights. */
import { expect, test } from 'vitest'
import type { Step } from '../../src/engine/steps.js'
import type { QueryStatus } from '../../src/observe/status.js'
import type { Model } from '../../src/tui/model.js'
import { nextHints } from '../../src/tui/next-hints.js'
import { saidLines } from '../../src/tui/said-pane.js'
import { subjectsOf } from '../../src/tui/subject.js'
import { attemptUpTo, ending, eventAt, writeAttempt } from './model-builder.js'
import { modelWith, duplicated, failed, foreign, killedAt, paused, skipped, viewer, LOOK } from './models.js'

function subject(model: Model) {
  const found = subjectsOf(model).find(({ isSelected }) => isSelected)
  if (!found) throw new Error('nothing is selected')
  return found
}

function hints(model: Model): string[] {
  return nextHints(subject(model), model).map(({ key, text }) => `${key} ${text}`)
}

function said(model: Model, width: number, height: number): string[] {
  return saidLines(subject(model), { model, width, height, glyphs: LOOK.glyphs }).map((line) => line.map(({ text }) => text).join(''))
}

test('after a death: start it, and whether idempotence would still help', () => {
  expect(hints(killedAt('table-committed'))).toEqual(['s start it and see', 'i will not help now: batch 7 was written without a txn'])
  expect(hints(killedAt('table-committed', { idempotent: true }))).toEqual(['s start it and see', 'i off would write its rows again'])
  expect(hints(killedAt('rows-read'))).toEqual(['s start it and see'])
  expect(hints(killedAt('batch-committed'))).toEqual(['s start it again'])
})

test('after that: what there is to try', () => {
  const later = (model: Model) => ({ ...model, state: model.state && { ...model.state, isFirstStart: false } })
  expect(hints(later(modelWith()))).toEqual(['x kill its next batch at table-committed', 'X at another step'])
  expect(hints(duplicated())[0]).toBe('i idempotence on, then kill it and start it again')
  expect(hints(skipped())[0]).toBe('R a new checkpoint: does the table skip that too?')
  expect(hints(leftOut('missing'))).toEqual(['D drop its table and begin anew'])
  expect(hints(leftOut('exactly-once'))).toEqual(['x kill its next batch at table-committed', 'X at another step'])
  expect(hints(paused())).toEqual(['n one step of this one', 'space all go on', 'K kill it right here'])
  expect(hints(failed())).toEqual(['s try it again'])
})

/** A new checkpoint whose first batch was skipped: the table had its number from the one before. */
function leftOut(verdict: QueryStatus['verdict']): Model {
  const skip = writeAttempt({ idempotent: true, outcome: 'already-committed', operation: null, appId: 'events_copy', txnVersion: 7, leftOutRows: 6 })
  return modelWith({ state: { isFirstStart: false }, live: { events_copy: { idempotent: true } }, status: { events_copy: { verdict, batchAttempts: [skip] } } })
}

test('where each start would fail in the same way, what ends that', () => {
  const error = { code: 'table-recreated' as const, message: 'made again', hint: null, condition: 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE' }
  const live = { process: 'none' as const, pid: null, ending: ending('failed', { error, by: null }) }
  expect(hints(modelWith({ live: { events_copy: live } }))).toEqual(['R a new checkpoint, then s: it reads the new table from its beginning'])
  const again = { code: 'source-changed' as const, message: 'deleted and made again', hint: null, condition: null }
  const changed = (error: typeof again) => ({ ...live, ending: ending('failed', { error, by: null }) })
  const ofTopic = modelWith({ live: { bronze_orders: changed(again) }, model: { selected: 'bronze_orders' } })
  expect(hints(ofTopic)).toEqual(['R a new checkpoint, then s: it reads the new topic from its beginning'])
  expect(hints(modelWith({ live: { events_copy: changed(again) } }))).toEqual(['s try it again'])
})

test('in an empty workspace the three keys that are enough to begin', () => {
  expect(hints(modelWith())).toEqual(['x kills the next batch of events_copy', 's starts it again', '? for the rest'])
})

test('where nothing can be done nothing is advised', () => {
  expect(hints(viewer())).toEqual([])
  expect(hints(foreign())).toEqual([])
})

test('what does not fit loses its middle before its end, and never the next key', () => {
  const model = killedAt('table-committed')
  expect(said(model, 116, 5).at(-1)).toBe('Next: s start it and see, i will not help now: batch 7 was written without a txn')
  expect(said(model, 78, 4).at(-1)).toBe('that batch 7 is there: expect 6 duplicates.  Next: s start it and see')
  expect(said(model, 58, 5)).toEqual([
    'events_copy was killed after it wrote batch 7 and before',
    'it committed it: events_copy has the 6 rows, the',
    'checkpoint does not know. … Idempotence was off, so',
    'nothing in events_copy says that batch 7 is there: expect',
    '6 duplicates.  Next: s start it and see',
  ])
  expect(said(model, 40, 2)).toEqual(['events_copy was killed after it wrote b…', 'Next: s start it and see'])
  expect(said(model, 40, 1)).toHaveLength(1)
})

test('of a batch that is held while it runs again: its range and the rows it wrote before are on disk at every step', () => {
  const heldAt = (step: Step, batchAttempts: QueryStatus['batchAttempts']) => {
    const live = { isHeld: true, heldAt: eventAt(step, { attempt: 2 }), attempt: attemptUpTo(step, { attempt: 2 }) }
    const status = { batchId: 7, step: 'table-committed' as const, batchAttempts }
    return said(modelWith({ live: { events_copy: live }, status: { events_copy: status } }), 200, 2)[0]?.split('On disk ')[1]
  }
  const written = [writeAttempt(), writeAttempt({ attempt: 2, outcome: 'started' })]
  expect(heldAt('planned', written.slice(0, 1))).toBe('there is its range in the checkpoint, and the table has the rows of attempt 1.')
  expect(heldAt('rows-read', written)).toBe('there is its range in the checkpoint, and the table has the rows of attempt 1.')
  expect(heldAt('mid-write', written)).toBe('there is half of a data file, which no version names, and the table has the rows of attempt 1.')
  expect(heldAt('table-committed', written)).toBe('there are rows in the table that the checkpoint does not know of.')
  expect(heldAt('planned', [writeAttempt({ outcome: 'started' })])).toBe('there is its range in the checkpoint, and no rows.')
  expect(said(paused(), 200, 2)[0]).toContain('On disk there')
})

test("a query of one's own that does not say which table it writes is told how", () => {
  const model = modelWith({ status: { events_copy: { verdict: 'empty', rows: 0, distinct: 0, missing: null, honoursIdempotence: false } } })
  const view = model.view && { ...model.view, status: { ...model.view.status, tables: model.view.status.tables.filter(({ name }) => name !== 'events_copy') } }
  expect(said({ ...model, view }, 200, 2)[0]).toBe(
    'Batch 6 of events_copy is committed, and there is no table events_copy. If events_copy writes another one, { table: NAME } in its config says which.',
  )
  expect(said(model, 200, 2)[0]).toBe('Batch 6 of events_copy is committed.')
})

test('until the disk was looked at after a death nothing is claimed about it', () => {
  const model = killedAt('table-committed')
  const before = { ...model, view: model.view && { ...model.view, takenAtMs: model.nowMs - 5_000 } }
  expect(said(before, 78, 4)[0]).toBe('events_copy is dead: looking at what it left on disk.')
})

test('a process that could not write why it failed has failed all the same', () => {
  const model = failed()
  const error = { code: 'internal', message: 'the process of query events_copy ended with code 7 and said nothing', hint: null, condition: null }
  const queries =
    model.view?.status.queries.map((query) => (query.name === 'events_copy' ? { ...query, state: 'killed' as const, lastError: null } : query)) ?? []
  const state = model.state && {
    ...model.state,
    queries: model.state.queries.map((live) => (live.info.name === 'events_copy' && live.ending ? { ...live, ending: { ...live.ending, error } } : live)),
  }
  const unwritten = { ...model, state, view: model.view && { ...model.view, status: { ...model.view.status, queries } } }
  expect(said(unwritten, 116, 5)[0]).toMatch(/^events_copy failed: the process of query events_copy ended with code 7 and said nothing\./)
})

test('an error is said with what to do about it, and so is one of the workspace', () => {
  expect(said(failed(), 116, 5).join(' ')).toMatch(/^events_copy failed: offsets\/5 is not there.*put the file back/)
  const model = modelWith()
  const errors = [{ code: 'table-damaged' as const, message: '_log.db cannot be read', hint: 'remove it, it is built again', condition: null }]
  const damaged = { ...model, view: model.view && { ...model.view, status: { ...model.view.status, errors } } }
  expect(said(damaged, 116, 5)[0]).toMatch(/^The workspace: _log.db cannot be read. Remove it, it is built again. Each row/)
})
