/**
 * The same work on streamtop, Spark and delta-rs, one after the other in one run. All three begin with copies of one table and
 * merge the same rows. Kafka is not among it: Spark reads a Delta table where streamtop reads its topic or its table. Spark's
 * local file system and delta-rs do not sync what they write; streamtop syncs all of it.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realEffects as fx } from '../src/effects.js'
import { countTable } from '../src/observe/counts.js'
import { bronzeOrders } from '../src/queries/bronze-orders.js'
import { eventsCopy } from '../src/queries/events-copy.js'
import { orders } from '../src/queries/orders.js'
import { ordersSchema } from '../src/queries/orders-schema.js'
import type { QueryDefinition } from '../src/engine/definition.js'
import { nextOrders } from '../src/queries/order-generator.js'
import { Store } from '../src/store/store.js'
import { BatchFloor } from './batch-floor.js'
import { openEmbeddedProducer } from '../src/topic/embedded-producer.js'
import { type BenchContext, median } from './figure.js'
import { ended, startProcess } from './query-process.js'
import { newerFirst, ordersOf } from './orders-rows.js'
import { amount, drawn } from './table.js'

/** Milliseconds of one piece of work, by who did it; null where somebody has no such thing. */
export interface Comparison {
  readonly what: string
  readonly streamtop: number
  readonly spark: number | null
  readonly deltaRs: number | null
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ROW_COUNT = 1_000_000
const MERGES = 4

/** Compares, draws the table on stdout and gives its figures; none, and one sentence, when Spark is not there. */
export async function comparePeers(context: BenchContext): Promise<readonly Comparison[]> {
  const python = join(ROOT, '.spark', 'venv', 'bin', 'python')
  const jars = join(ROOT, '.spark', 'jars')
  if (!existsSync(join(ROOT, '.spark', 'stamp')) || !existsSync(python)) {
    context.say('Spark and delta-rs are not in .spark/, so there is nothing to compare with: run "npm run test:spark" once, which fetches them')
    return []
  }
  const floor = new BatchFloor(context.folder(), { offsets: 1_400, data: 3_500, version: 1_500, commit: 40, wal: 20_000 })
  const floorMs = () => median(Array.from({ length: 50 }, () => floor.run()))
  const floors = [floorMs()]
  const ours = await ourTimes(context)
  floors.push(floorMs())
  const peers = context.folder()
  const theirs = await timesOfPeers(python, { folder: peers, jars, rounds: context.isQuick ? 4 : 12, ...tablesForPeers(ours.workspace, peers) })
  floors.push(floorMs())
  floor.close()
  const peer = (name: string) => (theirs[name] ? median(theirs[name]) : null)
  const { times } = ours
  const comparisons: Comparison[] = [
    { what: '1-row batch, table → table, alone', streamtop: times.alone, spark: peer('spark alone'), deltaRs: null },
    { what: '1-row batch of bronze_orders, three queries at once', streamtop: times.bronze_orders, spark: peer('spark bronze_orders'), deltaRs: null },
    { what: '1-row batch of events_copy, three queries at once', streamtop: times.events_copy, spark: peer('spark events_copy'), deltaRs: null },
    { what: '1-row batch of orders (MERGE), three queries at once', streamtop: times.orders, spark: peer('spark orders'), deltaRs: null },
    { what: 'append of 1 row to a table', streamtop: times.append1, spark: null, deltaRs: peer('delta-rs append 1') },
    { what: 'append of 10,000 rows to a table', streamtop: times.append10000, spark: null, deltaRs: peer('delta-rs append 10000') },
    { what: 'MERGE of 1,000 spread over 1,000,000', streamtop: times.merge, spark: peer('spark merge'), deltaRs: peer('delta-rs merge') },
    { what: 'rows and distinct of 1,000,000, from the files', streamtop: times.recount, spark: peer('spark count'), deltaRs: null },
    { what: 'the same, when hashes are kept as streamtop does', streamtop: times.count, spark: peer('spark count'), deltaRs: null },
  ]
  process.stdout.write(`\n${tableOfComparisons(comparisons)}`)
  const [before, between, after] = floors.map((ms) => amount(ms, 'ms'))
  process.stdout.write(`The disk alone, 9 syncs: ${before} before streamtop, ${between} between, ${after} after the others, who sync nothing.\n`)
  return comparisons
}

function tableOfComparisons(comparisons: readonly Comparison[]): string {
  const cells = (ours: number, theirs: number | null) => (theirs === null ? ['', ''] : [amount(theirs, 'ms'), `${(theirs / ours).toFixed(1)} ×`])
  const rows = comparisons.map((row) => [row.what, amount(row.streamtop, 'ms'), ...cells(row.streamtop, row.spark), ...cells(row.streamtop, row.deltaRs)])
  return drawn([['the same work, p50', 'streamtop', 'Spark', 'of ours', 'delta-rs', 'of ours'], ...rows], new Set([1, 2, 3, 4, 5]))
}

interface OurTimes {
  readonly workspace: string
  readonly times: Record<'alone' | 'bronze_orders' | 'events_copy' | 'orders' | 'append1' | 'append10000' | 'merge' | 'recount' | 'count', number>
}

async function ourTimes(context: BenchContext): Promise<OurTimes> {
  const { say, folder, isQuick } = context
  const rounds = isQuick ? 30 : 100
  say('streamtop')
  const appends = folder()
  const store = Store.open(appends, fx)
  const append1 = await appendTimes(store, 'one', 1, rounds)
  const append10000 = await appendTimes(store, 'many', 10_000, 30)
  store.close()

  const workspace = folder()
  const big = Store.open(workspace, fx)
  const mergeTimes: number[] = []
  const countTimes: number[] = []
  await big.createTable('orders', ordersSchema)
  for (let start = 0; start < ROW_COUNT; start += 50_000) {
    await big.append('orders', ordersOf(ROW_COUNT + start, 50_000, 1, 0), { kind: 'write' })
    big.tidyUp()
  }
  for (let round = 0; round < MERGES; round++) await big.append(`changes${round}`, changes(round), { kind: 'write' })
  const unmerged = folder()
  cpSync(join(workspace, 'tables'), join(unmerged, 'tables'), { recursive: true, filter: (path) => !path.includes('_log.db') && !path.includes('_counts.db') })
  for (let round = 0; round < 3; round++) countTimes.push(await timedMs(() => countTable(workspace, 'orders', fx)))
  for (let round = 0; round < MERGES; round++) mergeTimes.push(await timedMs(() => big.merge('orders', changes(round), newerFirst)))
  big.close()
  const recountTimes: number[] = []
  for (let round = 0; round < 3; round++) recountTimes.push(await timedMs(() => countTable(unmerged, 'orders', fx)))

  const three = await oneRowRounds(context, [bronzeOrders, eventsCopy, orders], rounds)
  const alone = await oneRowRounds(context, [eventsCopy], rounds)
  const of = (times: Record<string, number[]>, name: string) => median(times[name] ?? [])
  return {
    workspace: unmerged,
    times: {
      alone: of(alone, 'events_copy'),
      bronze_orders: of(three, 'bronze_orders'),
      events_copy: of(three, 'events_copy'),
      orders: of(three, 'orders'),
      append1,
      append10000,
      merge: median(mergeTimes.slice(1)),
      recount: median(recountTimes),
      count: median(countTimes),
    },
  }
}

async function appendTimes(store: Store, table: string, rowCount: number, rounds: number): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const columns = ordersOf(1, rowCount, 1, 0)
    times.push(await timedMs(() => store.append(table, columns, { kind: 'write' })))
    store.tidyUp()
  }
  return median(times.slice(5))
}

/** One record a round, and the next when every query has committed a batch with it: what Spark is given, too. */
async function oneRowRounds({ folder }: BenchContext, definitions: readonly QueryDefinition[], rounds: number): Promise<Record<string, number[]>> {
  const workspace = folder()
  const producer = openEmbeddedProducer(workspace, 'orders', {}, fx)
  const sendOne = () => producer.sendGenerated((state) => nextOrders(state, 'bench', 1))
  await sendOne()
  // A query that runs alone reads a table that is written by another process all the same; that one is not timed.
  const started = definitions.includes(bronzeOrders) ? definitions : [bronzeOrders, ...definitions]
  const times: Record<string, number[]> = Object.fromEntries(started.map(({ name }) => [name, []]))
  const waitingFor = new Set<string>(started.map(({ name }) => name))
  let done = 0
  const running = started.map((definition) => {
    let startedMs = 0
    let committedMs = 0
    return startProcess(workspace, definition, {
      intervalMs: 0,
      listen(event, nowMs) {
        if (event.kind === 'step' && event.event.step === 'planned') startedMs = nowMs
        if (event.kind === 'step' && event.event.step === 'batch-committed') committedMs = nowMs
        if (event.kind !== 'batch') return
        if (done >= 4) times[definition.name]?.push(committedMs - startedMs + (event.progress.durationMs.latestOffset ?? 0))
        waitingFor.delete(definition.name)
        if (waitingFor.size > 0) return
        done++
        if (done >= rounds) {
          for (const each of running) each.stop()
          return
        }
        for (const { name } of started) waitingFor.add(name)
        void sendOne()
      },
    })
  })
  await Promise.all(running.map(ended))
  await producer.close()
  return times
}

/** Every thousandth order, newer each round. */
function changes(round: number) {
  return ordersOf(ROW_COUNT, 1_000, ROW_COUNT / 1_000, round + 1)
}

interface Task {
  readonly folder: string
  readonly jars: string
  readonly rounds: number
  readonly sparkTable: string
  readonly deltaRsTable: string
  readonly changes: readonly string[]
}

function tablesForPeers(workspace: string, folder: string): Pick<Task, 'sparkTable' | 'deltaRsTable' | 'changes'> {
  const copy = (name: string) => {
    cpSync(join(workspace, 'tables', 'orders'), join(folder, name), { recursive: true })
    return join(folder, name)
  }
  return {
    sparkTable: copy('spark_orders'),
    deltaRsTable: copy('delta_rs_orders'),
    changes: Array.from({ length: MERGES }, (_, round) => join(workspace, 'tables', `changes${round}`)),
  }
}

/** Runs peers.py in a group of its own, so that its JVM goes with it. */
async function timesOfPeers(python: string, task: Task): Promise<Record<string, number[]>> {
  const child = spawn(python, [join(ROOT, 'bench', 'peers.py'), JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // it is gone
    }
  }
  process.once('exit', endGroup)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  endGroup()
  process.removeListener('exit', endGroup)
  if (code !== 0) throw new Error(`bench/peers.py ended with ${code}`)
  return JSON.parse(text) as Record<string, number[]>
}

async function timedMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
