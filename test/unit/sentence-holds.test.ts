/**
 * What the sentence says is what happens: lives of queries are drawn at random, and before each attempt the sentence is taken, the
 * attempt is made in a copy of the workspace, and the numbers are compared. STREAMTOP_SEED draws other lives, and
 * SENTENCE_RUNS more of them.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { foreachBatch, query, table, type QueryDefinition } from '../../src/engine/definition.js'
import { resetQuery } from '../../src/engine/reset.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { observe } from '../../src/observe/observe.js'
import { sentenceOf } from '../../src/observe/sentence.js'
import type { QueryStatus } from '../../src/observe/status.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { newStory, type Story } from '../stories/workspace.js'

/** Functions that write in one way whatever is asked. */
const alwaysTagged = query(
  'tagged_copy',
  table('bronze_orders'),
  foreachBatch(async (batch) => void (await batch.append('tagged_copy', batch.columns, { txnAppId: 'tagged_copy', txnVersion: batch.id }))),
  { holds: 'every-row' },
)
const neverTagged = query(
  'plain_copy',
  table('bronze_orders'),
  foreachBatch(async (batch) => void (await batch.append('plain_copy', batch.columns))),
  {
    holds: 'every-row',
  },
)

type Deed = { readonly kind: 'attempt'; readonly idempotent: boolean; readonly dies: Step | null } | { readonly kind: 'reset' } | { readonly kind: 'more-rows' }

const attempt = fc.record({
  kind: fc.constant('attempt' as const),
  idempotent: fc.boolean(),
  dies: fc.option(fc.oneof(fc.constant('table-committed' as const), fc.constantFrom(...STEPS)), { freq: 3 }),
})
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 6, arbitrary: attempt },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'more-rows' as const }) },
)
interface Life {
  readonly definition: QueryDefinition
  readonly hasInheritedDuplicates: boolean
  readonly deeds: readonly Deed[]
}

const life: fc.Arbitrary<Life> = fc.record({
  definition: fc.constantFrom(eventsCopy, orders, bronzeOrders, alwaysTagged, neverTagged),
  hasInheritedDuplicates: fc.boolean(),
  deeds: fc.array(deed, { minLength: 2, maxLength: 6 }),
})

async function look(story: Story, definition: QueryDefinition): Promise<QueryStatus> {
  const queries = [definition, ...[bronzeOrders].filter((one) => one !== definition)]
  const found = (await observe(story.folder, queries, fx)).queries.find(({ name }) => name === definition.name)
  if (!found) throw new Error('the query is not seen')
  return found
}

/** What a sentence promises for the next attempt; exactly one of these stands in each sentence on a batch that waits. */
const PROMISES: ReadonlyArray<{ readonly says: RegExp; readonly holds: (before: QueryStatus, after: QueryStatus, said: RegExpExecArray) => void }> = [
  {
    says: /[Ee]xpect (\d+) (?:more )?duplicates?/,
    holds: (before, after, said) => expect([grown(before, after, 'rows'), grown(before, after, 'writtenTwice')]).toEqual([Number(said[1]), Number(said[1])]),
  },
  {
    says: /no row is written twice/,
    holds: (before, after) => expect(changed(before, after)).toEqual({ rows: 0, distinct: 0, writtenTwice: 0, missing: 0, skips: 1 }),
  },
  {
    says: /attempt is skipped, and the rows of batch \d+ are left out/,
    holds: (before, after) => {
      expect(changed(before, after)).toMatchObject({ rows: 0, distinct: 0, writtenTwice: 0, skips: 1 })
      // A batch that was skipped once already, and never committed, is among them as it stands.
      const wasLeftOut = before.leftOut?.lastBatchId === after.leftOut?.lastBatchId
      expect(after.leftOut?.rows ?? 0).toBeGreaterThan(wasLeftOut ? 0 : (before.leftOut?.rows ?? 0))
      if (wasLeftOut) expect(after.leftOut).toEqual(before.leftOut)
    },
  },
  // Of a function of which nobody knows what it does, a condition is all that can be said.
  {
    says: /a write with that (pair|app id) is skipped/,
    holds: (before, after) =>
      expect([
        { rows: 0, skips: 1 },
        { rows: after.batchAttempts.at(-1)?.rows, skips: 0 },
      ]).toContainEqual({ rows: grown(before, after, 'rows'), skips: grown(before, after, 'skips') }),
  },
  { says: /change nothing\./, holds: (before, after) => expect(changed(before, after)).toMatchObject({ rows: 0, distinct: 0, writtenTwice: 0, missing: 0 }) },
  { says: /it adds no row/, holds: (before, after) => expect(changed(before, after)).toMatchObject({ rows: 0, writtenTwice: 0, missing: 0 }) },
  {
    says: /Nothing is lost, and nothing is there twice/,
    holds: (before, after) => expect(changed(before, after)).toMatchObject({ writtenTwice: before.earlierLives ? expect.any(Number) : 0, skips: 0 }),
  },
]

function grown(before: QueryStatus, after: QueryStatus, what: 'rows' | 'distinct' | 'writtenTwice' | 'missing' | 'skips'): number {
  return (after[what] ?? 0) - (before[what] ?? 0)
}

function changed(before: QueryStatus, after: QueryStatus) {
  return {
    rows: grown(before, after, 'rows'),
    distinct: grown(before, after, 'distinct'),
    writtenTwice: grown(before, after, 'writtenTwice'),
    missing: grown(before, after, 'missing'),
    skips: grown(before, after, 'skips'),
  }
}

/** What is said of a batch that waits is what its next attempt comes to, however that is made. */
async function promiseHolds(story: Story, definition: QueryDefinition, before: QueryStatus, idempotent: boolean): Promise<void> {
  const sentence = sentenceOf(before, { idempotentNext: idempotent }) ?? ''
  const kept = PROMISES.filter(({ says }) => says.test(sentence))
  expect(kept, sentence).toHaveLength(1)
  const copy = newStory(story)
  try {
    await copy.run(definition, { idempotent })
    const after = await look(copy, definition)
    try {
      for (const { says, holds } of kept) holds(before, after, says.exec(sentence) as RegExpExecArray)
      toldIsTrue(after, before)
    } catch (error) {
      throw new Error(`${sentence}\nwith idempotence ${idempotent ? 'on' : 'off'} became\n${sentenceOf(after)}\n${(error as Error).message}`)
    }
  } finally {
    copy.remove()
  }
}

/** What is said of a batch that is done agrees with the numbers. */
function toldIsTrue(after: QueryStatus, before: QueryStatus): void {
  const sentence = sentenceOf(after)
  if (after.verdict === 'duplicated' || after.verdict === 'missing') expect(sentence, 'a bad verdict without a word').not.toBeNull()
  const told = sentence ?? ''
  if (/0 of \d+ rows? (were|was) written/.test(told)) expect(grown(before, after, 'rows')).toBe(0)
  const lacks = /lacks (\d+) row/.exec(told)?.[1]
  if (lacks !== undefined) expect(after.missing).toBe(Number(lacks))
  if (/in the table once/.test(told)) expect(grown(before, after, 'writtenTwice')).toBeLessThanOrEqual(before.earlierLives ? Infinity : 0)
  const copies = /its (\d+) rows? (?:is|are) in the table (twice|(\d+) times)/.exec(told)
  if (copies) expect(after.writtenTwice ?? 0).toBeGreaterThanOrEqual(Number(copies[1]) * (copies[2] === 'twice' ? 1 : Number(copies[3]) - 1))
}

async function live(story: Story, { definition, hasInheritedDuplicates, deeds }: Life): Promise<void> {
  let part = 1
  const moreRows = async () => {
    if (part > 4) return
    await story.produce(part++)
    if (definition !== bronzeOrders) await story.run(bronzeOrders)
  }
  await moreRows()
  if (hasInheritedDuplicates && definition !== bronzeOrders) {
    await resetQuery(story.folder, 'bronze_orders', fx)
    await story.run(bronzeOrders)
  }
  for (const one of deeds) {
    const status = await look(story, definition)
    const isPending = status.step !== null && status.step !== 'batch-committed'
    if (isPending) for (const idempotent of [true, false]) await promiseHolds(story, definition, status, idempotent)
    // New rows would be read by a batch of their own behind the one that waits.
    if (one.kind === 'more-rows' && !isPending) await moreRows()
    if (one.kind === 'reset') await resetQuery(story.folder, definition.name, fx)
    if (one.kind === 'attempt') await story.run(definition, { idempotent: one.idempotent, ...(one.dies === null ? {} : { killAt: one.dies }) })
  }
}

it('what the sentence says is what happens', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(life, async (drawn) => {
      const story = newStory()
      try {
        await live(story, drawn)
      } finally {
        story.remove()
      }
    }),
    { numRuns: Number(process.env['SENTENCE_RUNS'] ?? 10), interruptAfterTimeLimit: 500_000 },
  )
})
