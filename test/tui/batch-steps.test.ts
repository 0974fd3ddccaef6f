/** The eight steps of a batch as they are shown: what a process told, and what the disk tells. */
import { expect, test } from 'vitest'
import { STEPS, type Step } from '../../src/engine/steps.js'
import type { Model } from '../../src/tui/model.js'
import { batchStepsOf } from '../../src/tui/batch-steps.js'
import { subjectsOf } from '../../src/tui/subject.js'
import { NOW_MS } from './model-builder.js'
import { pictureOf } from './picture-of.js'
import { attemptUpTo, ending, eventAt, modelWith, duplicated, killedAt, skipped, twoPartitions, viewer } from './models.js'

/** A letter for each step: Reached, Held, Died, Armed, Unreached, Passed. */
function shapes(model: Model): string {
  const { steps } = batchStepsOf(subject(model))
  return STEPS.map((step) => steps[step].shape.charAt(0)).join('')
}

function subject(model: Model) {
  const found = subjectsOf(model)[1]
  if (!found) throw new Error('no second query')
  return found
}

test('a death is shown at the step at which it happened', () => {
  const all = STEPS.map((step) => shapes(killedAt(step)))
  expect(all).toEqual(['duuuuuuu', 'rduuuuuu', 'rrduuuuu', 'rrrduuuu', 'rrrrduuu', 'rrrrrduu', 'rrrrrrdu', 'rrrrrrrd'])
})

test('held and armed steps are marked while a batch is under way', () => {
  const live = { attempt: attemptUpTo('rows-read'), heldAt: eventAt('rows-read'), armed: { step: 'table-committed' as Step, occurrence: 1 } }
  expect(shapes(modelWith({ live: { events_copy: live } }))).toBe('rrhuuuau')
})

test('of two tables the writing steps are those of the second, once it is being written', () => {
  const model = twoPartitions()
  expect(shapes(model)).toBe('rrrrhuuu')
  expect(batchStepsOf(subject(model)).write).toEqual({ number: 2, table: 'events_large' })
})

test('a first write is numbered while another may follow: not by a query that appends, nor once the batch is committed', () => {
  const bronze = { name: 'events_copy', source: { kind: 'topic' as const, name: 'orders' }, idempotentByDefault: true, table: 'plain' }
  const writes = ['plain', 'plain_audit']
  const writeAt = (step: Step, mode: 'append' | 'foreachBatch') => {
    const live = { info: { ...bronze, writes, mode }, attempt: attemptUpTo(step, { table: 'plain' }) }
    return batchStepsOf(subject(modelWith({ live: { events_copy: live } }))).write
  }
  expect(STEPS.filter((step) => writeAt(step, 'append') !== null)).toEqual([])
  expect(STEPS.filter((step) => writeAt(step, 'foreachBatch') !== null)).toEqual(['mid-write', 'files-written', 'version-linked', 'table-committed'])
  expect(writeAt('table-committed', 'foreachBatch')).toEqual({ number: 1, table: 'plain' })
})

test('a write that was skipped has passed the steps that it did not need', () => {
  expect(shapes(skipped())).toBe('rrrppprr')
})

test('what another process runs is told by the disk', () => {
  expect(shapes(viewer())).toBe('rrrrrrru')
  expect(batchStepsOf(subject(viewer())).isSeenLive).toBe(false)
})

test('of a batch whose rows are not counted yet it is shown that it is logged, and no death', () => {
  const left = modelWith({
    live: { events_copy: { process: 'none', pid: null, ending: null, attempt: null } },
    status: { events_copy: { state: 'killed', pid: null, batchId: 7, step: null } },
  })
  expect(shapes(left)).toBe('rruuuuuu')
})

test('a commit that was taken away is not shown any more', () => {
  const model = modelWith({
    live: { events_copy: { process: 'none', pid: null, ending: ending('stopped'), attempt: attemptUpTo('batch-committed', { batchId: 6 }) } },
    status: { events_copy: { state: 'stopped', pid: null, batchId: 6, step: 'table-committed' } },
  })
  expect(shapes(model)).toBe('rrrrrrru')
})

test('a look from before its process ended takes nothing away from what that process told', () => {
  const committed = attemptUpTo('batch-committed', { batchId: 6 })
  const model = modelWith({
    live: { events_copy: { process: 'none', pid: null, ending: ending('stopped', { atMs: NOW_MS + 50 }), attempt: committed } },
    status: { events_copy: { state: 'running', batchId: 6, step: 'version-linked', inFlight: true } },
  })
  expect(subject(model).isNewerThanView).toBe(true)
  expect(shapes(model)).toBe('rrrrrrrr')
  expect(
    pictureOf(model, 80, 24)
      .split('\n')
      .find((line) => line.includes('▶2')),
  ).not.toContain('~')
})

test('the times are those of the attempt, and their sum', () => {
  const batch = batchStepsOf(subject(duplicated()))
  expect(batch.steps['mid-write'].tookMs).toBe(1.2)
  expect(batch.tookMs).toBeCloseTo(9.1)
  expect(batch.attempt).toBe(2)
})
