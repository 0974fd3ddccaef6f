/**
 * A long life: two queries at full pace, one row a batch, killed with SIGKILL about every hundredth batch and once left alone for the
 * last quarter; then the checker.
 *
 *   node test/long-run.mjs [--batches 10000] [--kill-every 100] [--seed S] [--flat 1.2]
 *
 * Files of the checkpoints, the WAL, open files and memory must stay within bounds. How long a batch takes at the end, as a multiple
 * of the beginning, is printed, and with --flat must not be more. Exits 1 on a violation, with the workspace kept.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checkWorkspace } from './checker.mjs'

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const { values } = parseArgs({
  options: {
    batches: { type: 'string', default: '10000' },
    'kill-every': { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    flat: { type: 'string' },
  },
})
const [batches, killEvery, seed] = [values.batches, values['kill-every'], values.seed].map(Number)
if (!Number.isInteger(batches) || batches < 100 || !Number.isInteger(killEvery) || killEvery < 1)
  throw new Error('usage: node test/long-run.mjs [--batches N] [--kill-every N] [--seed S] [--flat RATIO]')
if (!existsSync(CLI)) throw new Error('dist/cli.js is not built: run "npm run build" first')

const QUERIES = [
  { name: 'bronze_orders', source: { topic: 'orders' }, table: 'bronze_orders', line: ['--option', 'maxOffsetsPerTrigger=1'] },
  { name: 'events_copy', source: { table: 'bronze_orders' }, table: 'events_copy', line: ['--idempotent', '--option', 'maxFilesPerTrigger=1'] },
]

/** The most that may ever be seen. A checkpoint keeps a hundred batches; the WAL is moved at four megabytes and does not shrink. */
const MOST = { 'files of a checkpoint': 230, 'megabytes of WAL': 16, 'open files': 96, 'megabytes of memory': 250 }
/** A query that runs until it is interrupted ends with it. */
const SIGINT_EXIT = 130
const seen = Object.fromEntries(Object.keys(MOST).map((what) => [what, 0]))
const violations = []
const random = mulberry32(seed)
const folder = mkdtempSync(join(tmpdir(), 'streamtop-long-run-'))
const startedMs = performance.now()
let kills = 0
/** What lay in the logs of a checkpoint before it was purged, by path: the checker wants all of it. */
const purged = new Map()
/** Megabytes of each query in its last life, with the batch that it was at. */
const lastLife = new Map(QUERIES.map(({ name }) => [name, []]))

try {
  const sent = produce()
  await Promise.all(QUERIES.map(live))
  for (const { name, table } of QUERIES) tellPace(name, table)
  for (const [path, content] of purged) if (!existsSync(path)) writeFileSync(path, content)
  const queries = QUERIES.map((query) => ({ ...query, holds: 'every-row', exactlyOnce: true, caughtUp: true }))
  violations.push(...(await checkWorkspace(folder, { topic: 'orders', sent, queries })))
  for (const [what, most] of Object.entries(MOST)) if (seen[what] > most) violations.push(`${what}: ${seen[what]}, and at most ${most} are allowed`)
} catch (error) {
  violations.push(error.stack)
}
const told = Object.entries(seen).map(([what, most]) => `${what} ≤ ${Math.round(most * 10) / 10}`)
console.log(`seed ${seed}: ${batches} batches of each of ${QUERIES.length} queries, ${kills} kills, ${told.join(', ')}`)
console.log(`violations ${violations.length}; ${((performance.now() - startedMs) / 1000).toFixed(0)} s, load ${loadavg()[0].toFixed(1)}`)
if (violations.length === 0) rmSync(folder, { recursive: true, force: true })
else {
  console.error(
    `${violations.join('\n')}\nthe workspace is kept: ${folder}\nrepeat with: node test/long-run.mjs --batches ${batches} --kill-every ${killEvery} --seed ${seed}`,
  )
  process.exitCode = 1
}

/** One record for each batch. */
function produce() {
  const records = Array.from({ length: batches }, (_, index) => {
    const order = { order_id: 1000 + (index % 97), customer_id: `C${index % 7}`, status: 'paid', amount: (1 + index / 100).toFixed(2) }
    const eventMs = Date.UTC(2026, 9, 1) + index * 1000
    return { ...order, event_time_us: eventMs * 1000, value: JSON.stringify({ ...order, event_time: new Date(eventMs).toISOString() }) }
  })
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'produce', '--from', '-'], {
    cwd: folder,
    input: records.map(({ value }) => `${value}\n`).join(''),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`produce ended with ${status}: ${stderr}`)
  return records
}

/** Runs a query again and again until it has made every batch. The last quarter is one life. */
async function live(query) {
  let committed = -1
  while (committed < batches - 1) {
    const isLast = committed >= batches * 0.75
    const killAt = isLast || killEvery === 0 ? Number.POSITIVE_INFINITY : committed + Math.ceil(killEvery * (0.5 + random()))
    await lifeOf(query, killAt)
    committed = newestOf(query, 'commits')
  }
}

/** One life, looked at all the time; it is stopped when all batches are made, or killed in one. */
async function lifeOf(query, killAt) {
  const child = spawn(process.execPath, [CLI, 'run', query.name, '--interval', '1', ...query.line], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  let [isOver, isKilled, isStopped, pid] = [false, false, false, null]
  void ended.then(() => {
    isOver = true
  })
  for (let look = 0; !isOver; look++) {
    keepLogs(query)
    const newest = newestOf(query, 'offsets')
    pid ??= newest >= 0 ? childOf(child.pid) : null
    if (!isKilled && newest >= killAt && pid !== null) {
      kills++
      isKilled = true
      process.kill(pid, 'SIGKILL')
    }
    if (!isStopped && newestOf(query, 'commits') === batches - 1) isStopped = child.kill('SIGINT')
    if (look % 10 === 0) measure(query, isKilled ? null : pid, killAt)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const exitCode = await ended
  if (exitCode !== (isKilled ? 1 : SIGINT_EXIT)) throw new Error(`run ${query.name} ended with ${exitCode}: ${stderr}`)
}

function keepLogs({ name }) {
  for (const log of ['offsets', 'commits']) {
    const logFolder = join(folder, 'checkpoints', name, log)
    for (const entry of list(logFolder)) {
      const path = join(logFolder, entry)
      if (/^\d+$/.test(entry) && !purged.has(path)) purged.set(path, readIfThere(path))
    }
  }
}

function measure({ name }, pid, killAt) {
  const checkpoint = join(folder, 'checkpoints', name)
  most(
    'files of a checkpoint',
    ['offsets', 'commits'].reduce((sum, log) => sum + list(join(checkpoint, log)).length, 0),
  )
  for (const wal of ['tables/_log.db-wal', 'topics.db-wal'])
    most('megabytes of WAL', (statSync(join(folder, wal), { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20)
  if (pid === null) return
  most('open files', list(`/proc/${pid}/fd`).length)
  const memory = /VmRSS:\s+(\d+)/.exec(readIfThere(`/proc/${pid}/status`))
  if (memory === null) return
  const megabytes = Number(memory[1]) / 1024
  most('megabytes of memory', megabytes)
  if (killAt === Number.POSITIVE_INFINITY) lastLife.get(name).push({ batch: newestOf({ name }, 'offsets'), megabytes })
}

function most(what, value) {
  seen[what] = Math.max(seen[what], value)
}

/** Says how long a batch takes in the second tenth and in the last, as its table's versions say when they were made. */
function tellPace(name, table) {
  const log = join(folder, 'tables', table, '_delta_log')
  const times = list(log)
    .filter((file) => /^\d{20}\.json$/.test(file))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(log, file), 'utf8').split('\n')[0]).commitInfo.timestamp)
  const tenth = Math.floor(times.length / 10)
  const [begin, end] = [paceOf(times.slice(tenth, 2 * tenth)), paceOf(times.slice(-tenth))]
  const [early, late] = [
    [0.8, 0.85],
    [0.95, 1],
  ].map(([from, to]) => meanOf(lastLife.get(name).flatMap(({ batch, megabytes }) => (batch >= from * batches && batch < to * batches ? [megabytes] : []))))
  const memory = early && late ? `; ${early.toFixed(0)} MB early in its last life, ${late.toFixed(0)} MB at its end` : ''
  console.log(`${name}: ${begin.toFixed(1)} ms a batch in the second tenth, ${end.toFixed(1)} ms in the last: ${(end / begin).toFixed(2)} ×${memory}`)
  if (values.flat !== undefined && end / begin > Number(values.flat)) violations.push(`${name}: batches have become slower, ${(end / begin).toFixed(2)} ×`)
}

/** The mean time between versions without the longest tenth, where a process was started again or the machine was busy elsewhere. */
function paceOf(times) {
  const gaps = times.slice(1).map((time, index) => time - times[index])
  const usual = gaps.sort((a, b) => a - b).slice(0, Math.ceil(gaps.length * 0.9))
  return meanOf(usual)
}

/** Null of none. */
function meanOf(numbers) {
  return numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

function newestOf({ name }, log) {
  return Math.max(
    -1,
    ...list(join(folder, 'checkpoints', name, log))
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number),
  )
}

function childOf(parent) {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.find(([, ofParent]) => ofParent === parent)?.[0] ?? null
}

function list(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
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
