/**
 * Whether batch 10,000 costs what batch 100 does: 10,000 1-row batches, topic to table, in one process, and the same number table
 * to table. A disk's own pace changes by half and more over such a time, so batch 100 is measured right behind the last ones, in a
 * workspace that is new then. Memory, open files and the files of the checkpoint are looked at on the way.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { type Bench, type BenchContext, type Figure, median, plain, withBudget } from '../figure.js'
import { sendOrders } from '../generated-orders.js'
import { ended, processFacts, startProcess } from '../query-process.js'

const WINDOW = 300
/** Batches that a young workspace has before the window. */
const YOUNG_FROM = 50

export const flatness: Bench = {
  name: 'flatness',
  async run(context: BenchContext): Promise<Figure[]> {
    const count = context.isQuick ? 1_500 : 10_000
    const [old, young] = [context.folder(), context.folder()]
    await sendOrders(old, count)
    await sendOrders(young, YOUNG_FROM + WINDOW)
    return [
      ...(await flat(old, young, bronzeOrders, 'maxOffsetsPerTrigger=1', count, context)),
      ...(await flat(old, young, eventsCopy, 'maxFilesPerTrigger=1', count, context)),
    ]
  },
}

async function flat(old: string, young: string, definition: QueryDefinition, option: string, count: number, { say }: BenchContext): Promise<Figure[]> {
  /** Of each half: the first fills the page caches of SQLite, which have an upper limit, and lets the heap find its size. */
  const halves = [
    { residentMb: Number.NaN, mostHandles: 0 },
    { residentMb: Number.NaN, mostHandles: 0 },
  ] satisfies [unknown, unknown]
  const times = await batchTimes(old, definition, option, count, (batchId, pid, times) => {
    if (batchId % 100 !== 99) return
    const facts = processFacts(pid)
    const half = halves[batchId < count / 2 ? 0 : 1]
    if (!facts) return
    half.residentMb = facts.residentMb
    half.mostHandles = Math.max(half.mostHandles, facts.handles)
    if (batchId % 500 !== 499) return
    const p50 = median(times.subarray(batchId - 99, batchId + 1))
    say(`  ${definition.name} batch ${batchId}: p50 ${p50.toFixed(2)} ms, ${facts.residentMb.toFixed(0)} MB, ${facts.handles} files open`)
  })
  const late = median(times.subarray(count - WINDOW))
  const early = median((await batchTimes(young, definition, option, YOUNG_FROM + WINDOW)).subarray(YOUNG_FROM))
  const [firstHalf, secondHalf] = halves
  const files = (log: string) => readdirSync(join(old, 'checkpoints', definition.name, log)).filter((name) => /^\d+$/.test(name)).length
  return [
    {
      what: `${definition.name}: p50 of the last ${WINDOW} of ${count.toLocaleString('en-US')} batches`,
      value: late,
      unit: 'ms',
      floor: { what: `batches ${YOUNG_FROM}-${YOUNG_FROM + WINDOW} of a new workspace, right behind`, value: early, unit: 'ms' },
      ratio: late / early,
      budget: '≤ 1.2 ×',
      isMet: late / early <= 1.2,
    },
    {
      what: `${definition.name}: memory at the end`,
      value: secondHalf.residentMb,
      unit: 'MB',
      floor: { what: `after ${count / 2} batches`, value: firstHalf.residentMb, unit: 'MB' },
      ratio: secondHalf.residentMb / firstHalf.residentMb,
      budget: 'no growth (≤ 1.1 ×)',
      isMet: secondHalf.residentMb <= firstHalf.residentMb * 1.1,
    },
    withBudget(plain(`${definition.name}: files in offsets and in commits, the larger`, Math.max(files('offsets'), files('commits')), 'files'), {
      atMost: 102,
    }),
    {
      // A batch has some files open for a moment, so one look says little.
      ...plain(`${definition.name}: open files in the second half, at most`, secondHalf.mostHandles, 'files'),
      budget: `${firstHalf.mostHandles} as in the first`,
      isMet: secondHalf.mostHandles <= firstHalf.mostHandles,
    },
  ]
}

/** Milliseconds of each batch of a run until it is caught up. `look` is told each batch when it is committed, with the times so far. */
async function batchTimes(
  workspace: string,
  definition: QueryDefinition,
  option: string,
  count: number,
  look: (batchId: number, pid: number | null, times: Float64Array) => void = () => {},
): Promise<Float64Array> {
  const times = new Float64Array(count)
  let startedMs = 0
  let committedMs = 0
  const running = startProcess(workspace, definition, {
    sourceOptions: [option],
    listen(event, nowMs) {
      if (event.kind === 'step' && event.event.step === 'planned') startedMs = nowMs
      if (event.kind === 'step' && event.event.step === 'batch-committed') committedMs = nowMs
      if (event.kind !== 'batch') return
      const { batchId, progress } = event
      times[batchId] = committedMs - startedMs + (progress.durationMs.latestOffset ?? 0)
      look(batchId, running.pid, times)
    },
  })
  await ended(running)
  return times
}
