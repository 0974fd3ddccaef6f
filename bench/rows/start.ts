/** How long people wait before anything happens: the help, and a query's process until the first step of its first batch. */
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { againstFloor, type Bench, type BenchContext, type Figure, median } from '../figure.js'
import { sendOrders } from '../generated-orders.js'
import { CLI, startProcess } from '../query-process.js'
import { timed } from '../timed-process.js'

export const start: Bench = {
  name: 'start',
  async run({ isQuick, folder }: BenchContext): Promise<Figure[]> {
    const workspace = folder()
    await sendOrders(workspace, 100)
    const silent = join(workspace, 'silent.mjs')
    writeFileSync(silent, "process.on('message', () => {})\nprocess.send('here')\n")
    const helps: number[] = []
    const nothings: number[] = []
    const children: number[] = []
    const committed: number[] = []
    const silents: number[] = []
    for (let round = 0; round < (isQuick ? 4 : 12); round++) {
      nothings.push(timed(['-e', '0'], workspace).ms)
      helps.push(timed([CLI, '--help'], workspace).ms)
      silents.push(await forkUntilMessage(silent))
      const own = folder()
      await sendOrders(own, 10)
      const { plannedMs, committedMs } = await untilFirstBatch(own)
      children.push(plannedMs)
      committed.push(committedMs)
    }
    const floorOfFork = { what: 'a forked Node until its first message', value: median(silents) }
    return [
      againstFloor('streamtop --help', { value: median(helps), unit: 'ms' }, { what: 'node -e 0', value: median(nothings) }, null),
      againstFloor('a query: from fork to the first step of its first batch', { value: median(children), unit: 'ms' }, floorOfFork, null),
      againstFloor('a query: from fork to its first batch committed', { value: median(committed), unit: 'ms' }, floorOfFork, null),
    ]
  },
}

async function untilFirstBatch(workspace: string): Promise<{ readonly plannedMs: number; readonly committedMs: number }> {
  const startedMs = performance.now()
  let plannedMs = Number.NaN
  let committedMs = Number.NaN
  const running = startProcess(workspace, bronzeOrders, {
    listen(event, nowMs) {
      if (event.kind !== 'step') return
      if (event.event.step === 'planned') plannedMs = nowMs - startedMs
      if (event.event.step === 'batch-committed') committedMs = nowMs - startedMs
    },
  })
  await running.ending
  return { plannedMs, committedMs }
}

function forkUntilMessage(program: string): Promise<number> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const child = fork(program, [], { stdio: ['ignore', 2, 2, 'ipc'] })
    let ms = Number.NaN
    child.once('message', () => {
      ms = performance.now() - startedMs
      child.disconnect()
    })
    child.once('exit', () => resolve(ms))
  })
}
