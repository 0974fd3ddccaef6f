/**
 * The verbs that change what lies on disk beside a batch, and what must hold after each of their deaths: whether the verb is called
 * again or a query just runs, all comes to the same.
 */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { type Effects, realEffects as fx } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { dropTables } from '../../src/engine/drop-table.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { replayNewestBatch, resetQuery } from '../../src/engine/reset.js'
import { checkWorkspace as checkMayWrite } from '../../src/engine/workspace.js'
import type { Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { Store } from '../../src/store/store.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { checkWorkspace } from '../checker.mjs'
import { COPY, nineEvents, ORDERS } from '../nine-events.js'
import { readExpected, sparkWorkspace } from '../spark-fixtures.js'
import { DEAD, type Points } from './deaths.js'
import type { Story } from './workspace.js'

export interface AdminCase {
  readonly verb: string
  /** What lies there before. */
  prepare(story: Story): Promise<void>
  /** The verb, which dies somewhere in it. */
  work(story: Story, points: Points): Promise<void>
  /** What somebody does after the death: calls the verb again, or just runs a query. */
  readonly recoveries: Readonly<Record<string, (story: Story) => Promise<void>>>
  /** What is wrong after that. */
  check(story: Story): Promise<readonly string[]>
}

const ALL = [bronzeOrders, eventsCopy, orders]

/** Runs queries with idempotence on until they are caught up. */
async function runAll(story: Story, queries: readonly QueryDefinition[] = ALL): Promise<void> {
  for (const query of queries) await story.run(query, { idempotent: true })
}

/** The nine events through all three queries, in a version for each part. */
async function workspaceWithWork(story: Story): Promise<void> {
  for (const part of [1, 2, 3, 4]) {
    await story.produce(part)
    await runAll(story)
  }
}

/** A run in another world, killed at a step or not. */
async function runIn(story: Story, definition: QueryDefinition, world: Effects, killAt: Step | null, listen: (step: string) => void = () => {}): Promise<void> {
  const { ending } = inlineRunner(openEmbeddedTopic, world).start({
    workspace: story.folder,
    definition,
    options: { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false },
    idempotent: true,
    armed: killAt && { step: killAt, occurrence: 1 },
    dwellMs: 0,
    hasUpstream: false,
    listen: (event) => event.kind === 'step' && listen(event.event.step),
  })
  const ended = await ending
  if (ended.kind !== (killAt === null ? 'ended' : 'killed')) throw ended.kind === 'failed' ? ended.error : new Error(`${definition.name} ${ended.kind}`)
}

async function withStore<T>(story: Story, world: Effects, use: (store: Store) => Promise<T> | T): Promise<T> {
  const store = Store.open(story.folder, world)
  try {
    return await use(store)
  } finally {
    store.close()
  }
}

const sound = (story: Story) => checkWorkspace(story.folder, nineEvents(COPY, ORDERS))
const remains = (story: Story, folder: string, start: string) => story.list(folder).filter((name) => name.startsWith(start))

const reset: AdminCase = {
  verb: 'reset',
  prepare: workspaceWithWork,
  work: async (story, points) => void (await resetQuery(story.folder, 'orders', points.fx)),
  recoveries: {
    'the verb again': async (story) => {
      await resetQuery(story.folder, 'orders', fx)
      await runAll(story)
    },
    'a query': runAll,
  },
  check: async (story) => [...(await sound(story)), ...remains(story, 'checkpoints', '.')],
}

const drop: AdminCase = {
  verb: 'drop',
  prepare: workspaceWithWork,
  work: async (story, points) => void (await dropTables(story.folder, ['events_copy', 'orders'], BUILT_IN_QUERIES, points.fx)),
  recoveries: {
    'the verb again': async (story) => {
      await dropTables(story.folder, ['events_copy', 'orders'], BUILT_IN_QUERIES, fx)
      for (const { name } of [eventsCopy, orders]) await resetQuery(story.folder, name, fx)
      await runAll(story)
    },
    // A table is there whole or not at all.
    'a query': async (story) => {
      await runAll(story, [bronzeOrders])
      for (const { name, table } of [eventsCopy, orders]) if ((await story.rows(table)).length === 0) await resetQuery(story.folder, name, fx)
      await runAll(story)
    },
  },
  check: async (story) => [...(await sound(story)), ...remains(story, 'tables', '.dropped')],
}

const replay: AdminCase = {
  verb: 'replay',
  prepare: workspaceWithWork,
  work: async (story, points) => void (await replayNewestBatch(story.folder, 'events_copy', points.fx)),
  recoveries: {
    'the verb again': async (story) => {
      const isTaken = !existsSync(story.path('checkpoints', 'events_copy', 'commits', '3'))
      const again = await replayNewestBatch(story.folder, 'events_copy', fx).catch((error: { readonly code?: string }) => error.code)
      if (again !== (isTaken ? 'usage' : 3)) throw new Error(`replay said ${again}`)
      await runAll(story)
    },
    'a query': runAll,
  },
  check: sound,
}

/** Whoever opens the workspace next writes down what nobody has. */
const healing: Pick<AdminCase, 'work' | 'recoveries' | 'check'> = {
  work: (story, points) => withStore(story, points.fx, () => undefined),
  recoveries: {
    'the verb again': async (story) => {
      await withStore(story, fx, () => undefined)
      await runAll(story)
    },
    'a query': runAll,
  },
  check: sound,
}

const heal: AdminCase = {
  verb: 'healing of versions that the log lacks',
  async prepare(story) {
    for (const part of [1, 2, 3]) {
      await story.produce(part)
      await runAll(story)
    }
    await story.produce(4)
    await runAll(story, [bronzeOrders])
    for (const query of [eventsCopy, orders]) await runIn(story, query, DEAD, 'version-linked')
  },
  ...healing,
}

const rebuild: AdminCase = {
  verb: 'healing of a log that was deleted',
  async prepare(story) {
    await workspaceWithWork(story)
    for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
  },
  ...healing,
}

/** Of each table the files that are there and that its newest version does not name. */
async function notLive(story: Story): Promise<string[]> {
  return story.store((store) =>
    ALL.flatMap(({ table }) => {
      const live = store.snapshot(table)?.files.map(({ path }) => path) ?? []
      return story.list('tables', table).filter((name) => name.endsWith('.parquet') && !live.includes(name))
    }),
  )
}

/** A later process clears up all that may be cleared up. Of `bronze_orders` the checker reads each version. */
async function vacuumAll(story: Story, world: Effects): Promise<void> {
  await withStore(story, world, (store) => {
    for (const table of ['events_copy', 'orders']) store.vacuum(table, { olderThanMs: 0, force: true })
  })
}
const LATER: Effects = { ...DEAD, processStart: (pid) => (pid === process.pid ? 'later' : fx.processStart(pid)) }

const vacuum: AdminCase = {
  verb: 'vacuum',
  async prepare(story) {
    await workspaceWithWork(story)
    for (const { name } of [eventsCopy, orders]) await replayNewestBatch(story.folder, name, fx)
    await withStore(story, fx, (store) => store.optimize('events_copy'))
    // Orphans of writers that died, of a batch that is run again here although its table has it.
    await resetQuery(story.folder, 'orders', fx)
    await withStore(story, DEAD, async (store) => {
      for (const table of ['events_copy', 'orders']) await orphan(store, table)
    })
  },
  work: (story, points) => vacuumAll(story, points.fx),
  recoveries: {
    'the verb again': async (story) => {
      await vacuumAll(story, LATER)
      const left = await notLive(story)
      if (left.length > 0) throw new Error(`vacuum left ${left.join(', ')}`)
      await runAll(story)
    },
    'a query': runAll,
  },
  check: sound,
}

/** Leaves data files that no version will name: their writer dies behind them. */
async function orphan(store: Store, table: string): Promise<void> {
  const snapshot = store.snapshot(table)
  if (snapshot === null) throw new Error(`no table ${table}`)
  const columns = await store.read(table, snapshot.schema, snapshot.files)
  const dies = async (moment: string) => {
    if (moment === 'files-written') throw new Error('dead')
  }
  await store.append(table, columns, { kind: 'write' }, { onMoment: dies }).catch(() => undefined)
}

const optimize: AdminCase = {
  verb: 'optimize',
  async prepare(story) {
    for (const part of [1, 2]) {
      await story.produce(part)
      await runAll(story)
    }
    // A stream is in the middle of the table that is put together.
    for (const part of [3, 4]) {
      await story.produce(part)
      await runAll(story, [bronzeOrders, orders])
    }
  },
  work: (story, points) =>
    withStore(story, points.fx, async (store) => {
      for (const { table } of ALL) await store.optimize(table, { onMoment: async (moment) => points.point(`${moment} of ${table}`) })
    }),
  recoveries: {
    'the verb again': async (story) => {
      await withStore(story, fx, async (store) => {
        for (const { table } of ALL) await store.optimize(table)
        for (const { table } of ALL) if (store.snapshot(table)?.files.length !== 1) throw new Error(`${table} is not one file`)
      })
      await runAll(story)
      await vacuumAll(story, LATER)
    },
    'a query': runAll,
  },
  check: sound,
}

/** Spark's folder, taken over by the query that goes on in it. */
function adoption(fixture: string, definition: QueryDefinition): AdminCase {
  const { next } = readExpected(sparkWorkspace(fixture))
  const adopt = async (story: Story, isAdopted: boolean, world: Effects, point: (what: string) => void) => {
    checkMayWrite(story.folder, [definition], { adopt: isAdopted, acceptGap: false }, world)
    await runIn(story, definition, world, null, point)
  }
  const nobody = () => {}
  return {
    verb: `adoption of ${fixture}`,
    async prepare(story) {
      for (const part of ['tables', 'checkpoints']) cpSync(`${sparkWorkspace(fixture)}/${part}`, story.path(part), { recursive: true })
    },
    work: (story, points) => adopt(story, true, points.fx, (step) => points.point(step)),
    recoveries: {
      'the verb again': (story) => adopt(story, true, fx, nobody),
      // Before anything of ours is there it is still Spark's, and is not touched.
      'a query': async (story) => {
        const before = JSON.stringify(story.files())
        await adopt(story, false, fx, nobody).catch(async (error: { readonly code?: string }) => {
          if (error.code !== 'foreign-workspace' || JSON.stringify(story.files()) !== before) throw error
          await adopt(story, true, fx, nobody)
        })
      },
    },
    async check(story) {
      const rows = (await story.rows(definition.table)).map((row) => JSON.stringify(Object.values(row).map(String)))
      const numbers = (log: string) =>
        story
          .list('checkpoints', definition.name, log)
          .filter((name) => /^\d+$/.test(name))
          .map(Number)
          .sort((a, b) => a - b)
      const found = { rows: rows.length, distinct: new Set(rows).size, offsets: numbers('offsets'), commits: numbers('commits') }
      const wanted = { rows: next?.rows, distinct: next?.distinct, offsets: next?.offsets, commits: next?.commits }
      const isAsSpark = JSON.stringify(found) === JSON.stringify(wanted)
      const wrong = (await checkWorkspace(story.folder, { queries: [] })).filter((violation) => !violation.includes(' was written by Apache-Spark'))
      return isAsSpark ? wrong : [`${JSON.stringify(found)}, and Spark came to ${JSON.stringify(wanted)}`, ...wrong]
    },
  }
}

export const ADMIN_CASES: readonly AdminCase[] = [
  reset,
  drop,
  replay,
  heal,
  rebuild,
  vacuum,
  optimize,
  adoption('third-batch-pending', eventsCopy),
  adoption('tagged-append-crashed', eventsCopy),
  adoption('merge-crashed', orders),
]
