/**
 * What reads `bronze_orders` while a real topic feeds it, in every way of writing: killed at every step in its first batch, started
 * again when bronze has gone on meanwhile. The first batch runs again with its range, and what has come since is the second.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { foreachBatch, type QueryDefinition, query, table } from '../../src/engine/definition.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { observe } from '../../src/observe/observe.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import type { QueryPromise } from '../checker.mjs'
import { COPY, ORDERS } from '../nine-events.js'
import { hasKafka, useCluster } from './cluster.js'
import { bronzeOf, type KafkaStory, kafkaStory } from './kafka-story.js'

/** Bronze's first batch of two. */
const FIRST = ['maxOffsetsPerTrigger=5']

const twoTables = (isTogether: boolean): QueryDefinition =>
  query(
    'two',
    table('bronze_orders'),
    foreachBatch(async (batch) => {
      const pair = isTogether ? { txnAppId: 'two', txnVersion: batch.id } : {}
      if (isTogether) {
        await batch.commitTogether([
          { append: 'left', rows: batch.columns, ...pair },
          { append: 'right', rows: batch.columns, ...pair },
        ])
        return
      }
      for (const name of ['left', 'right']) await batch.append(name, batch.columns, pair)
    }),
    { table: 'left', alsoWrites: ['right'] },
  )

const TWO: QueryPromise = { ...COPY, name: 'two', table: 'left', alsoWrites: [{ table: 'right' }] }

/** `rows` in all; `first` of them are the first batch's, and lie there twice when it is written twice. */
const WAYS = [
  { name: 'append', definition: eventsCopy, idempotent: false, promise: { ...COPY, exactlyOnce: false }, rows: 9, first: 5 },
  { name: 'append with txn', definition: eventsCopy, idempotent: true, promise: COPY, rows: 9, first: 0 },
  { name: 'MERGE', definition: orders, idempotent: true, promise: ORDERS, rows: 8, first: 0 },
  { name: 'plain insert', definition: orders, idempotent: false, promise: { ...ORDERS, holds: 'unknown', exactlyOnce: false }, rows: 8, first: 4 },
  { name: 'two tables in one commit', definition: twoTables(true), idempotent: true, promise: TWO, rows: 9, first: 0 },
] as const

/** Where the table has the batch and the checkpoint does not know. */
const WRITTEN: readonly Step[] = ['version-linked', 'table-committed']

describe.skipIf(!hasKafka)('on a Kafka-fed bronze_orders', () => {
  const cluster = useCluster()
  let topic = ''
  let base: KafkaStory | null = null

  /** A workspace in which bronze was killed after its first batch, with nine events in the topic. */
  beforeAll(async () => {
    if (!hasKafka) return
    topic = await cluster.topic()
    base = kafkaStory(cluster, topic, mkdtempSync(join(tmpdir(), 'streamtop-')))
    await base.produce(1, 2, 3, 4)
    await base.run(bronzeOf(topic), { sourceOptions: FIRST, killAt: 'batch-committed' })
  })
  afterAll(() => base && rmSync(base.folder, { recursive: true, force: true }))

  function begin(): KafkaStory {
    const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    cpSync((base as KafkaStory).folder, folder, { recursive: true })
    return kafkaStory(cluster, topic, folder)
  }

  /** Bronze takes what is left, and then the query, which must have nothing to do after it. */
  async function goOn(story: KafkaStory, definition: QueryDefinition, idempotent: boolean, batches = ['0', '1']): Promise<void> {
    await story.run(bronzeOf(topic))
    expect((await story.run(definition, { idempotent })).ending).toEqual({ kind: 'ended' })
    expect(story.list('checkpoints', definition.name, 'commits')).toEqual(batches)
    expect((await story.run(definition, { idempotent })).events.filter(({ kind }) => kind === 'step')).toEqual([])
  }

  async function rowsOf(story: KafkaStory, definition: QueryDefinition): Promise<Record<string, number | null>> {
    const { tables } = await observe(story.folder, [bronzeOf(topic), definition], realEffects)
    return Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
  }

  describe.each(WAYS)('$name', ({ definition, idempotent, promise, rows, first }) => {
    test.each(STEPS)('killed at %s', async (step) => {
      const story = begin()
      const { ending } = await story.run(definition, { idempotent, killAt: step })
      expect(ending).toMatchObject({ kind: 'killed', at: { step, batchId: 0 } })
      const logged = step === 'planned' ? null : story.read('checkpoints', definition.name, 'offsets', '0')
      // A batch that was only planned is planned again, with all that is there by then.
      await goOn(story, definition, idempotent, step === 'planned' ? ['0'] : undefined)
      if (logged !== null) expect(story.read('checkpoints', definition.name, 'offsets', '0')).toBe(logged)
      await story.expectSound({}, promise)
      expect((await rowsOf(story, definition))[definition.table ?? '']).toBe(rows + (WRITTEN.includes(step) ? first : 0))
    })
  })

  describe.each([1, 2])('two tables one after the other without ids, write %i', (occurrence) => {
    test.each(['mid-write', 'files-written', 'version-linked', 'table-committed'] as const)('killed at %s', async (step) => {
      const [story, definition] = [begin(), twoTables(false)]
      const { ending } = await story.run(definition, { killAt: step, occurrence })
      expect(ending).toMatchObject({ kind: 'killed', at: { step, occurrence } })
      await goOn(story, definition, true)
      const isWritten = WRITTEN.includes(step)
      const times = { left: occurrence === 2 || isWritten ? 2 : 1, right: occurrence === 2 && isWritten ? 2 : 1 }
      await story.expectSound({}, { ...TWO, exactlyOnce: times.left === 1, alsoWrites: [{ table: 'right', exactlyOnce: times.right === 1 }] })
      expect(await rowsOf(story, definition)).toMatchObject({ left: times.left * 5 + 4, right: times.right * 5 + 4 })
    })
  })
})
