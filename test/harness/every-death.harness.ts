/**
 * Every step × every way of writing × the first, a middle and the last batch × idempotence on and off: a real process kills itself there
 * with SIGKILL, the query is started again, and what comes out is what was promised beforehand, for the checker too.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { processRunner } from '../../src/engine/process-runner.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { twoApart, twoTogether } from '../../src/matrix/matrix-queries.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { checkWorkspace, type Promised, type QueryPromise } from '../checker.mjs'
import { BRONZE, COPY, ORDERS, SENT } from '../nine-events.js'
import { newStory, type Story } from '../stories/workspace.js'

// No power is lost here, so nothing depends on a sync, and a file system in memory has none.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const inDist = (name: string) => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url))
const runner = processRunner({ childPath: inDist('child.js') })
const runnerOfTwo = processRunner({ childPath: inDist('child.js'), configFile: inDist('matrix-queries.js') })

/** Of nine events each batch has three. */
const BATCHES = 3
const ROWS_OF_BATCH = 3
/** Two processes that are killed, and one case that is looked at here. */
const CASES_AT_A_TIME = 3

const WRITE_STEPS: readonly Step[] = ['mid-write', 'files-written', 'version-linked', 'table-committed']
const ONE_WRITE = STEPS.map(String)
const TWO_WRITES = STEPS.flatMap((step) => (WRITE_STEPS.includes(step) ? [`${step}:1`, `${step}:2`] : [step]))

/** How often each table has the batch at the end, where nothing makes a table know it. After every other death once. */
const ALONE = { 'version-linked': [2], 'table-committed': [2] }
const TOGETHER = { 'version-linked': [2, 2], 'table-committed': [2, 2] }
const APART = {
  'mid-write:2': [2, 1],
  'files-written:2': [2, 1],
  'version-linked:1': [2, 1],
  'version-linked:2': [2, 2],
  'table-committed:1': [2, 1],
  'table-committed:2': [2, 2],
}

const ONCE: readonly number[] = [1, 1]

interface Way {
  readonly name: string
  readonly definition: QueryDefinition
  readonly isIdempotent: boolean
  readonly deaths: readonly string[]
  readonly again: Readonly<Record<string, readonly number[]>>
  readonly promise: QueryPromise
}

function bothWays(
  names: readonly [on: string, off: string],
  definition: QueryDefinition,
  deaths: readonly string[],
  again: Way['again'],
  promise: QueryPromise,
): Way[] {
  return [
    { name: names[0], definition, isIdempotent: true, deaths, again: {}, promise },
    { name: names[1], definition, isIdempotent: false, deaths, again, promise },
  ]
}

const ofTwo = (name: string): QueryPromise => ({ ...COPY, name: `two_${name}`, table: name, alsoWrites: [{ table: `${name}_audit` }] })

const WAYS: readonly Way[] = [
  ...bothWays(['native sink', 'native sink without txn'], bronzeOrders, ONE_WRITE, ALONE, BRONZE),
  ...bothWays(['append with txn', 'append'], eventsCopy, ONE_WRITE, ALONE, COPY),
  ...bothWays(['MERGE', 'plain insert'], orders, ONE_WRITE, ALONE, ORDERS),
  ...bothWays(['two tables apart with txn', 'two tables apart'], twoApart, TWO_WRITES, APART, ofTwo('apart')),
  ...bothWays(['two tables together with txn', 'two tables together'], twoTogether, ONE_WRITE, TOGETHER, ofTwo('together')),
]

let played = 0
let withBronze: Story
beforeAll(async () => {
  withBronze = newStory()
  await withBronze.produce(1, 2, 3, 4)
  await withBronze.run(bronzeOrders, { sourceOptions: optionsOf(bronzeOrders) })
})
afterAll(() => {
  withBronze.remove()
  console.log(`every death: ${played} real kills, each with its restart, as promised`)
})

describe.each(WAYS)('$name', (way) => {
  test.each(Array.from({ length: BATCHES }, (_, batch) => batch))('killed in batch %i', async (batch) => {
    const before = await withBatchesDone(way, batch)
    const left = [...way.deaths]
    const worker = async () => {
      for (let death = left.shift(); death !== undefined; death = left.shift()) await playDeath(way, batch, death, before)
    }
    const ends = await Promise.allSettled(Array.from({ length: CASES_AT_A_TIME }, worker))
    before.remove()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  })
})

function optionsOf({ source }: QueryDefinition): string[] {
  return [source.kind === 'topic' ? `maxOffsetsPerTrigger=${ROWS_OF_BATCH}` : 'maxFilesPerTrigger=1']
}

/** A workspace in which the batches before this one are committed, and it and those after it are there to read. */
async function withBatchesDone({ definition, isIdempotent }: Way, batch: number): Promise<Story> {
  const story = newStory(definition.source.kind === 'table' ? withBronze : undefined)
  if (definition.source.kind === 'topic') await story.produce(1, 2, 3, 4)
  for (let done = 0; done < batch; done++) {
    await story.run(definition, { idempotent: isIdempotent, sourceOptions: optionsOf(definition), killAt: 'batch-committed' })
  }
  return story
}

async function playDeath(way: Way, batch: number, death: string, before: Story): Promise<void> {
  const { definition, isIdempotent } = way
  const [step, occurrence = '1'] = death.split(':') as [Step, string?]
  const named = `${way.name}, batch ${batch}, ${death}`
  const story = newStory(before)
  try {
    const running = (definition === twoApart || definition === twoTogether ? runnerOfTwo : runner).start({
      workspace: story.folder,
      definition,
      options: { sourceOptions: optionsOf(definition), appId: null, intervalMs: null, acceptGap: false },
      idempotent: isIdempotent,
      armed: { step, occurrence: Number(occurrence) },
      dwellMs: 0,
      hasUpstream: false,
      listen: () => {},
    })
    expect(await running.ending, named).toMatchObject({ kind: 'killed', at: { step, batchId: batch, occurrence: Number(occurrence) } })
    const logged = (log: string) => story.list('checkpoints', definition.name, log).length
    expect([logged('offsets'), logged('commits')], named).toEqual([batch + Number(step !== 'planned'), batch + Number(step === 'batch-committed')])
    const pids = [running.pid ?? 0]
    expect(await checkWorkspace(story.folder, promisedOf(way, ONCE, { caughtUp: false, isUnhealed: true, hasDied: true }, pids)), `${named}, dead`).toEqual([])

    // In this process, which is another one than the dead one, and quick.
    const again = await story.run(definition, { idempotent: isIdempotent, sourceOptions: optionsOf(definition) })
    expect(again.ending, named).toEqual({ kind: 'ended' })
    expect(logged('commits'), named).toBe(BATCHES)

    const times = way.again[death] ?? ONCE
    for (const [index, table] of [way.promise.table, ...(way.promise.alsoWrites ?? []).map((also) => also.table)].entries())
      expect(await story.rows(table), `${named}: ${table}`).toHaveLength(rowsOf(way, times[index] ?? 1))
    expect(await checkWorkspace(story.folder, promisedOf(way, times, {}, pids)), named).toEqual([])
    played += 1
  } finally {
    story.remove()
  }
}

/** Two of the nine events are of one order: a MERGE has one row of it. */
function rowsOf({ promise, isIdempotent }: Way, times: number): number {
  if (promise.holds === 'newest-of-each-order' && isIdempotent) return SENT.length - 1
  return SENT.length + (times - 1) * ROWS_OF_BATCH
}

function promisedOf({ definition, promise, isIdempotent }: Way, times: readonly number[], now: Partial<QueryPromise>, pids: readonly number[]): Promised {
  const [first, second] = times
  const also = promise.alsoWrites?.map((write) => ({ ...write, exactlyOnce: second === 1 }))
  // Plain inserts of the newest rows are no fold of the input.
  const isFold = promise.holds !== 'newest-of-each-order' || isIdempotent
  const holds = isFold ? promise.holds : ('unknown' as const)
  const query = { ...promise, holds, exactlyOnce: isFold && first === 1, ...(also ? { alsoWrites: also } : {}), ...now }
  return { topic: 'orders', sent: SENT, queries: definition.source.kind === 'topic' ? [query] : [BRONZE, query], pids }
}
