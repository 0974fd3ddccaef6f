/**
 * Whether batch 10,000 costs what batch 100 does: 10,000 1-row batches, topic to table, in one process, and the same number
 * table to table. Memory, open files and the files of the checkpoint are looked at on the way. The disk's own pace changes
 * over such a time, so the floor is sampled beside it all the while, and its change taken out.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { type Bench, type BenchContext, type Figure, median, plain, withBudget } from '../figure.js'
import { sendOrders } from '../generated-orders.js'
import { ended, processFacts, startProcess } from '../query-process.js'
import { startSampling } from '../sampled-floor.js'

const WINDOW = 300

export const flatness: Bench = {
  name: 'flatness',
  async run(context: BenchContext): Promise<Figure[]> {
    const count = context.isQuick ? 1_500 : 10_000
    const workspace = context.folder()
    await sendOrders(workspace, count)
    return [
      ...(await flat(workspace, bronzeOrders, 'maxOffsetsPerTrigger=1', count, context)),
      ...(await flat(workspace, eventsCopy, 'maxFilesPerTrigger=1', count, context)),
    ]
  },
}

async function flat(workspace: string, definition: QueryDefinition, option: string, count: number, { say, folder }: BenchContext): Promise<Figure[]> {
  const floor = startSampling(folder(), { offsets: 1_400, data: 3_500, version: 1_500, commit: 40, wal: 20_000 }, 25)
  const endsMs = new Float64Array(count)
  const times = new Float64Array(count)
  let memoryEarly = Number.NaN
  let memoryLate = Number.NaN
  let handlesEarly = Number.NaN
  let handlesLate = Number.NaN
  let startedMs = 0
  let committedMs = 0
  const running = startProcess(workspace, definition, {
    sourceOptions: [option],
    listen(event, nowMs) {
      if (event.kind === 'step' && event.event.step === 'planned') startedMs = nowMs
      if (event.kind === 'step' && event.event.step === 'batch-committed') committedMs = nowMs
      if (event.kind !== 'batch') return
      const { batchId, progress } = event
      endsMs[batchId] = performance.timeOrigin + nowMs
      times[batchId] = committedMs - startedMs + (progress.durationMs.latestOffset ?? 0)
      if (batchId % 500 !== 499 && batchId !== count - 1) return
      const facts = processFacts(running.pid)
      if (!facts) return
      // The first half fills the page caches of SQLite, which have an upper limit, and lets the heap find its size.
      if (Number.isNaN(memoryEarly) && batchId >= count / 2 - 1) [memoryEarly, handlesEarly] = [facts.residentMb, facts.handles]
      ;[memoryLate, handlesLate] = [facts.residentMb, facts.handles]
      const p50 = median(times.subarray(Math.max(0, batchId - 99), batchId + 1))
      say(`  ${definition.name} batch ${batchId}: p50 ${p50.toFixed(2)} ms, ${facts.residentMb.toFixed(0)} MB, ${facts.handles} files open`)
    },
  })
  await ended(running)
  await floor.stop()

  // Both windows are wide enough for some tens of samples of the disk.
  const early = median(times.subarray(50, 50 + WINDOW))
  const late = median(times.subarray(count - WINDOW))
  const drift = floor.between(endsMs[count - WINDOW] ?? 0, endsMs[count - 1] ?? 0) / floor.between(endsMs[50] ?? 0, endsMs[50 + WINDOW] ?? 0)
  const files = (log: string) => readdirSync(join(workspace, 'checkpoints', definition.name, log)).filter((name) => /^\d+$/.test(name)).length
  const ratio = late / early / drift
  const figures: Figure[] = [
    {
      what: `${definition.name}: p50 of the last ${WINDOW} of ${count.toLocaleString('en-US')} batches`,
      value: late,
      unit: 'ms',
      floor: { what: `batches 50-${50 + WINDOW}; the disk went ${drift.toFixed(2)} × meanwhile, taken out`, value: early, unit: 'ms' },
      ratio,
      budget: '≤ 1.2 ×',
      isMet: ratio <= 1.2,
    },
    {
      what: `${definition.name}: memory at the end`,
      value: memoryLate,
      unit: 'MB',
      floor: { what: `after ${count / 2} batches`, value: memoryEarly, unit: 'MB' },
      ratio: memoryLate / memoryEarly,
      budget: 'no growth (≤ 1.1 ×)',
      isMet: memoryLate <= memoryEarly * 1.1,
    },
    withBudget(plain(`${definition.name}: files in offsets and in commits, the larger`, Math.max(files('offsets'), files('commits')), 'files'), {
      atMost: 102,
    }),
    {
      ...plain(`${definition.name}: open files at the end`, handlesLate, 'files'),
      budget: `${handlesEarly} as half-way`,
      isMet: handlesLate <= handlesEarly,
    },
  ]
  return figures
}
