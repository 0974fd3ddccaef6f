/**
 * A kill during recovery: killed at one step, started, killed at another, started again. What must follow is told by a model that
 * knows of each life only where it ended. `npm test` plays some of the pairs, `npm run test:harness` all of them.
 */
import { expect } from 'vitest'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { apart, together } from '../torture/queries.js'
import type { FurtherPromises } from './promises.js'
import { newStory, type Story } from './workspace.js'

export interface WayOfWriting {
  readonly name: string
  readonly query: QueryDefinition
  readonly idempotent: boolean
  /** Each write of a batch: the rows that it adds to its tables. Tables that are written in one commit are one write. */
  readonly writes: readonly Readonly<Record<string, number>>[]
  /** What the checker is told beside what the runs say. */
  readonly promises?: FurtherPromises
}

const alsoApart = { apart: { alsoWrites: [{ table: 'apart_too' }] } }
const alsoNewest: FurtherPromises = { together: { alsoWrites: [{ table: 'newest', holds: 'newest-of-each-order' }] } }

export const WAYS_OF_WRITING: readonly WayOfWriting[] = [
  { name: 'native sink', query: bronzeOrders, idempotent: true, writes: [{ bronze_orders: 9 }] },
  { name: 'native sink without txn', query: bronzeOrders, idempotent: false, writes: [{ bronze_orders: 9 }] },
  { name: 'append', query: eventsCopy, idempotent: false, writes: [{ events_copy: 9 }] },
  { name: 'append with txn', query: eventsCopy, idempotent: true, writes: [{ events_copy: 9 }] },
  { name: 'MERGE', query: orders, idempotent: true, writes: [{ orders: 8 }] },
  { name: 'plain insert', query: orders, idempotent: false, writes: [{ orders: 8 }] },
  { name: 'two tables apart', query: apart(), idempotent: false, writes: [{ apart: 9 }, { apart_too: 9 }], promises: alsoApart },
  { name: 'two tables apart with txn', query: apart(), idempotent: true, writes: [{ apart: 9 }, { apart_too: 9 }], promises: alsoApart },
  { name: 'two tables together', query: together(), idempotent: true, writes: [{ together: 9, newest: 8 }], promises: alsoNewest },
]

/** The workspaces that stories begin with: one whose topic has nine events, one whose bronze has them too. */
export interface Beginnings {
  of(way: WayOfWriting): Story
  remove(): void
}

export async function beginnings(): Promise<Beginnings> {
  const topicOnly = newStory()
  await topicOnly.produce(1, 2, 3, 4)
  const withBronze = newStory(topicOnly)
  await withBronze.run(bronzeOrders)
  return {
    of: ({ query: definition }) => (definition === bronzeOrders ? topicOnly : withBronze),
    remove() {
      for (const story of [topicOnly, withBronze]) story.remove()
    },
  }
}

/** Plays it, and expects after each life what the model says. */
export async function expectKilledTwice(story: Story, way: WayOfWriting, first: Step, second: Step): Promise<void> {
  const { query: definition, idempotent, writes } = way
  let expected: Outcome = { written: writes.map(() => 0), attempts: 0, isDone: false, isKilled: false }
  for (const killAt of [first, second, null]) {
    expected = afterLife(expected, idempotent, killAt)
    const { ending } = await story.run(definition, { idempotent, ...(killAt ? { killAt } : {}) })
    expect(ending.kind).toBe(expected.isKilled ? 'killed' : 'ended')
    expect(story.list('checkpoints', definition.name, 'commits')).toEqual(expected.isDone ? ['0'] : [])
  }

  expect(expected.isDone).toBe(true)
  for (const [index, tables] of writes.entries())
    for (const [name, rows] of Object.entries(tables)) expect(await story.rows(name), name).toHaveLength((expected.written[index] ?? 0) * rows)
  const ledger = await story.store((store) => store.ledger.rowsOfQuery(definition.name))
  expect([...new Set(ledger.map((row) => row.attempt))]).toEqual(Array.from({ length: expected.attempts }, (_, index) => index + 1))
  const versions = writes.reduce((sum, tables, index) => sum + (expected.written[index] ?? 0) * Object.keys(tables).length, 0)
  expect(ledger.filter((row) => row.outcome === 'committed')).toHaveLength(versions)
  await story.expectSound(way.promises)
}

interface Outcome {
  /** Of each write of the batch: how often its tables have it. */
  readonly written: readonly number[]
  /** Attempts that the ledger knows. */
  readonly attempts: number
  /** Whether the batch is committed. */
  readonly isDone: boolean
  readonly isKilled: boolean
}

const OF_A_WRITE: readonly Step[] = ['mid-write', 'files-written', 'version-linked', 'table-committed']

/** The model: what is on disk after one more life, which ends when a step is first reached or, with null, when there is no work left. */
function afterLife(before: Outcome, sinkKnowsBatch: boolean, killAt: Step | null): Outcome {
  if (before.isDone) return { ...before, isKilled: false }
  const written = [...before.written]
  let attempts = before.attempts
  const reached = STEPS.flatMap((step) => {
    if (!OF_A_WRITE.includes(step)) return [{ step, write: -1 }]
    if (step !== 'mid-write') return []
    return written.flatMap((times, write) => {
      const skips = sinkKnowsBatch && times > 0
      return OF_A_WRITE.filter((moment) => !skips || moment === 'table-committed').map((moment) => ({ step: moment, write }))
    })
  })
  for (const { step, write } of reached) {
    if (step === 'offsets-logged') attempts++
    if (step === 'version-linked') written[write] = (written[write] ?? 0) + 1
    if (step === killAt) return { written, attempts, isDone: step === 'batch-committed', isKilled: true }
  }
  return { written, attempts, isDone: true, isKilled: false }
}
