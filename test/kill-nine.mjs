/**
 * Kills running queries with SIGKILL from outside, at random moments, runs them again, and has the checker look at what is left.
 *
 *   node test/kill-nine.mjs [--kills 50] [--seed S]
 *
 * Each round sends records and runs one of the three queries in a process group of its own; the query's process is killed, or
 * only its parent. More records arrive while it is down. Exits 1 on a violation, with the workspace kept.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openChecker } from './checker.mjs'

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const PARTITIONS = 3
const ORDERS_OF_ROUND = 300

const QUERIES = [
  {
    name: 'bronze_orders',
    source: { topic: 'orders' },
    table: 'bronze_orders',
    holds: 'every-row',
    exactlyOnce: true,
    line: ['--option', 'maxOffsetsPerTrigger=400'],
  },
  {
    name: 'events_copy',
    source: { table: 'bronze_orders' },
    table: 'events_copy',
    holds: 'every-row',
    exactlyOnce: true,
    line: ['--idempotent', '--option', 'maxFilesPerTrigger=1'],
  },
  {
    name: 'orders',
    source: { table: 'bronze_orders' },
    table: 'orders',
    holds: 'newest-of-each-order',
    exactlyOnce: true,
    line: ['--option', 'maxFilesPerTrigger=1'],
  },
]

const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } } })
const [kills, seed] = [Number(values.kills), Number(values.seed)]
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) throw new Error('usage: node test/kill-nine.mjs [--kills N] [--seed S]')
if (!existsSync(CLI)) throw new Error('dist/cli.js is not built: run "npm run build" first')

const random = mulberry32(seed)
const folder = mkdtempSync(join(tmpdir(), 'streamtop-kill-nine-'))
const checker = await openChecker(folder)
const sent = []
let nextOrderId = 1
/** How long the shortest run of each query took when nobody killed it. */
const runMs = new Map()
const counts = { kills: 0, 'in mid-batch': 0, 'of the parent alone': 0, 'too late': 0, violations: 0 }
const startedMs = performance.now()
/** Children of the newest kill that may still be at work. */
let orphans = []

try {
  produce()
  for (const query of QUERIES) await runUndisturbed(query)
  for (let round = 0; counts.kills < kills; round++) {
    const query = QUERIES[round % QUERIES.length]
    if (query === QUERIES[0]) produce()
    await killOnce(query, round % 2 === 1)
    // While it is down, its source grows.
    if (random() < 0.3) produce()
    if (query !== QUERIES[0] && random() < 0.3) await runUndisturbed(QUERIES[0])
    await runUndisturbed(query)
  }
  produce()
  for (const query of QUERIES) await runUndisturbed(query)
  await check(QUERIES)
} catch (error) {
  counts.violations++
  console.error(error)
}
checker.close()

const told = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
console.log(`seed ${seed}: ${told.join(', ')}; ${sent.length} records, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
if (counts.violations === 0) rmSync(folder, { recursive: true, force: true })
else {
  console.error(`the workspace is kept: ${folder}\nrepeat with: node test/kill-nine.mjs --kills ${kills} --seed ${seed}`)
  process.exitCode = 1
}

/** Sends some orders with their later events, some of them late. */
function produce() {
  const records = []
  for (let index = 0; index < ORDERS_OF_ROUND; index++) {
    const order_id = nextOrderId++
    const amount = (1 + random() * 90).toFixed(2)
    const first = Date.UTC(2026, 9, 1) + order_id * 1000
    const statuses = ['placed', 'paid', 'shipped'].slice(0, 1 + Math.floor(random() * 3))
    for (const [step, status] of statuses.entries()) {
      const eventMs = first + step * 60_000
      const value = JSON.stringify({ order_id, customer_id: `C${order_id % 40}`, status, amount, event_time: new Date(eventMs).toISOString() })
      records.push({ place: random(), order_id, customer_id: `C${order_id % 40}`, status, amount, event_time_us: eventMs * 1000, value })
    }
  }
  records.sort((a, b) => a.place - b.place)
  const input = records.map(({ order_id, value }) => `${order_id}\t${value}\n`).join('')
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'produce', '--from', '-', '--partitions', String(PARTITIONS)], {
    cwd: folder,
    input,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`produce ended with ${status}: ${stderr}`)
  sent.push(...records)
}

/** Starts a query and kills it somewhere in the time that a run takes, then waits until nothing of it runs. */
async function killOnce(query, parentOnly) {
  const { child, ended } = start(query)
  // The first third of a run is Node starting.
  await sleep(runMs.get(query.name) * (0.3 + 0.7 * random()))
  const children = childrenOf(child.pid)
  if (child.exitCode !== null) counts['too late']++
  if (!parentOnly) for (const pid of children) kill(pid)
  kill(-child.pid)
  await ended
  counts.kills++
  if (parentOnly) counts['of the parent alone']++
  if (isInBatch(query)) counts['in mid-batch']++
  // What lost its parent has a moment to end by itself; the next run waits for that too.
  orphans = children
  if (random() < 0.5) await endOfOrphans()
}

/** The checker looks at one file after the other, so nobody may write meanwhile. */
async function endOfOrphans() {
  for (const deadline = performance.now() + 10_000; orphans.some(isRunning); await sleep(10)) {
    if (performance.now() > deadline) throw new Error(`process ${orphans} runs 10 s after its parent was killed`)
  }
}

/** Runs a query to its end and has everything checked. */
async function runUndisturbed(query) {
  const before = performance.now()
  const { ended } = start(query)
  const { exitCode, stdout, stderr } = await ended
  runMs.set(query.name, Math.min(runMs.get(query.name) ?? Number.POSITIVE_INFINITY, performance.now() - before))
  if (exitCode !== 0) throw new Error(`run ${query.name} ended with ${exitCode}: ${stderr}`)
  const [, rows, distinct] = /has (\d+) rows, (\d+) different/.exec(stdout) ?? []
  await check([query], rows === undefined ? [] : [{ table: query.table, rows: Number(rows), distinct: Number(distinct) }])
}

async function check(caughtUp, said = []) {
  await endOfOrphans()
  const queries = QUERIES.map((query) => ({ ...query, caughtUp: caughtUp.includes(query) }))
  const violations = await checker.check({ topic: 'orders', sent, queries, said })
  if (violations.length > 0) throw new Error(`after kill ${counts.kills}:\n${violations.join('\n')}`)
}

function start(query) {
  const child = spawn(process.execPath, [CLI, 'run', query.name, ...query.line], { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => {
    stdout += data
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  // `exit`, not `close`: a child that outlives its parent holds the pipes open.
  return { child, ended: new Promise((resolve) => child.on('exit', (exitCode) => setImmediate(() => resolve({ exitCode, stdout, stderr })))) }
}

function isInBatch({ name }) {
  const newest = (log) => Math.max(-1, ...(existsSync(log) ? readdirSync(log) : []).filter((entry) => /^\d+$/.test(entry)).map(Number))
  return newest(join(folder, 'checkpoints', name, 'offsets')) > newest(join(folder, 'checkpoints', name, 'commits'))
}

function childrenOf(pid) {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child)
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

function isRunning(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}

function sleep(durationMs) {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}

/** A small seeded generator of numbers in [0, 1). */
function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
