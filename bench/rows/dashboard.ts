/**
 * The dashboard as it is shipped, in a pseudo-terminal of 120×40 cells: how soon it shows something, how soon a key kills, and what it
 * costs while the three queries run and while they are paused.
 */
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf, DashboardProcess, isDead, processorMs, waitFor } from '../dashboard-process.js'
import { againstFloor, type Bench, type BenchContext, type Figure, median, plain, quantile, withBudget } from '../figure.js'
import { processFacts } from '../query-process.js'
import { timed } from '../timed-process.js'

/** DESIGN's budgets. */
const FIRST_FRAME_FLOORS = 3
const KILL_MS = 50
const BUSY_PERCENT = 15
const PAUSED_PERCENT = 1
const DASHBOARD_MB = 200
const QUERY_MB = 250
/** Of the resident memory from the first minute's end on; a collector's ups and downs are no growth. */
const GROWTH_PERCENT = 10

export const dashboard: Bench = {
  name: 'dashboard',
  async run(context) {
    return [await firstFrame(context), await keyToDeath(context), ...(await costs(context))]
  },
}

async function firstFrame({ isQuick, folder }: BenchContext): Promise<Figure> {
  const frames: number[] = []
  const nothings: number[] = []
  for (let round = 0; round < (isQuick ? 5 : 20); round++) {
    const workspace = folder()
    nothings.push(timed(['-e', '0'], workspace).ms)
    const startedMs = performance.now()
    const shown = new DashboardProcess(workspace, ['--read-only'])
    await waitFor('a frame', () => shown.text().includes('Opening'), true)
    frames.push(performance.now() - startedMs)
    await shown.quit()
  }
  const floor = { what: 'node -e 0', value: median(nothings) }
  return againstFloor('the dashboard: from start to its first frame', { value: median(frames), unit: 'ms' }, floor, FIRST_FRAME_FLOORS)
}

async function keyToDeath({ isQuick, folder }: BenchContext): Promise<Figure> {
  const workspace = folder()
  const idle = join(workspace, 'idle.mjs')
  writeFileSync(idle, "setInterval(() => {}, 1_000)\nprocess.send('here')\n")
  const shown = new DashboardProcess(folder())
  await shown.shows(/running +orders/)
  shown.press('1')
  await shown.shows(/─ bronze_orders: batch/)
  const deaths: number[] = []
  const floors: number[] = []
  let before = 0
  for (let round = 0; round < (isQuick ? 10 : 100); round++) {
    await waitFor('the query runs', () => /1 +● running +bronze_orders/.test(shown.text()) && shownPid(shown) !== before)
    const pid = shownPid(shown)
    before = pid
    const pressedMs = performance.now()
    shown.press('K')
    await waitFor(`process ${pid} is dead`, () => isDead(pid), true)
    deaths.push(performance.now() - pressedMs)
    await shown.shows(/1 +✕ KILLED +bronze_orders/)
    shown.press('s')
    floors.push(await killAlone(idle))
  }
  await shown.quit()
  const floor = { what: 'a signal alone, p99', value: quantile(floors, 0.99) }
  return withBudget(againstFloor('from the key K to a dead process, p99', { value: quantile(deaths, 0.99), unit: 'ms' }, floor, null), { atMost: KILL_MS })
}

/** The process of the selected query, as its pane says it; 0 for none. */
function shownPid(shown: DashboardProcess): number {
  return Number(/─ pid (\d+)/.exec(shown.text())?.[1] ?? 0)
}

async function killAlone(program: string): Promise<number> {
  const child = fork(program, [], { stdio: ['ignore', 2, 2, 'ipc'] })
  await new Promise((resolve) => child.once('message', resolve))
  const startedMs = performance.now()
  child.kill('SIGKILL')
  await waitFor('the child is dead', () => isDead(child.pid ?? 0), true)
  return performance.now() - startedMs
}

async function costs({ isQuick, isLong, folder, say }: BenchContext): Promise<Figure[]> {
  const shown = new DashboardProcess(folder())
  await shown.shows(/running +orders/)
  // The first look at everything, and what is compiled while it runs, are not what it costs to run.
  await elapsed(isQuick ? 5_000 : 15_000)
  const seconds = isQuick ? 10 : 60
  const running = await spent(shown, seconds)
  const memory = isLong ? await longMemory(shown, say) : []
  const queryMb = Math.max(...childrenOf(shown.pid).map((child) => processFacts(child)?.peakMb ?? Number.NaN))
  shown.press(' ')
  await shown.shows(/paused/i)
  await elapsed(3_000)
  const paused = await spent(shown, seconds)
  const peakMb = processFacts(shown.pid)?.peakMb ?? Number.NaN
  await shown.quit()
  return [
    withBudget(plain('the dashboard with three running queries', running.percent, '% of a core'), { atMost: BUSY_PERCENT }),
    plain('the same, what it draws', running.bytes / 1_000, 'kB/s'),
    withBudget(plain('the dashboard while all is paused', paused.percent, '% of a core'), { atMost: PAUSED_PERCENT }),
    withBudget(plain('the same, what it draws', paused.bytes, 'bytes/s'), { atMost: 0 }),
    withBudget(plain('the dashboard, resident at most', peakMb, 'MB'), { atMost: DASHBOARD_MB }),
    withBudget(plain('a query process of it, resident at most', queryMb, 'MB'), { atMost: QUERY_MB }),
    ...memory,
  ]
}

async function spent(shown: DashboardProcess, seconds: number): Promise<{ readonly percent: number; readonly bytes: number }> {
  const [ms, bytes] = [processorMs(shown.pid), shown.byteCount]
  await elapsed(seconds * 1_000)
  return { percent: (processorMs(shown.pid) - ms) / (seconds * 10), bytes: (shown.byteCount - bytes) / seconds }
}

/** Ten minutes at full speed: how much more it holds at the end than after the first minute. */
async function longMemory(shown: DashboardProcess, say: (text: string) => void): Promise<Figure[]> {
  const minutes: number[] = []
  for (let turn = 0; turn < 3; turn++) shown.press(']')
  for (let minute = 1; minute <= 10; minute++) {
    await elapsed(60_000)
    minutes.push(processFacts(shown.pid)?.residentMb ?? Number.NaN)
    say(`minute ${minute}: the dashboard holds ${minutes.at(-1)?.toFixed(1)} MB`)
  }
  const [first = Number.NaN, ...rest] = minutes
  const growth = (Math.min(...rest.slice(-3)) / first - 1) * 100
  return [withBudget(plain('the dashboard at full speed, growth in ten minutes', growth, '%'), { atMost: GROWTH_PERCENT })]
}

function elapsed(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}
