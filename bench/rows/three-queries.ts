/** The three queries at once in three processes, a backlog of 1-row batches before each: every one is always in a batch. */
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { BatchFloor } from '../batch-floor.js'
import { type Bench, type Figure, median } from '../figure.js'
import { sendOrders } from '../generated-orders.js'
import { ended, startProcess } from '../query-process.js'

/** Seconds that Spark took for such a batch with the three running, on a machine like this (reference measurements). */
const SPARK_SECONDS = { bronze_orders: 2.9, events_copy: 3.5, orders: 5.1 }
const SPARK_SHARE = 150

export const threeQueries: Bench = {
  name: 'three-queries',
  async run({ isQuick, folder }) {
    const workspace = folder()
    const count = isQuick ? 150 : 600
    await sendOrders(workspace, count + 30)
    // What the two others read first lies there, so that all three begin at once.
    await ended(startProcess(workspace, bronzeOrders, { sourceOptions: ['maxOffsetsPerTrigger=1'], listen: () => {} }))
    await sendOrders(workspace, count)

    const floor = new BatchFloor(folder(), { offsets: 1_400, data: 3_500, version: 1_500, commit: 40, wal: 20_000 })
    const floors = Array.from({ length: 100 }, () => floor.run())
    const times: Record<string, number[]> = { bronze_orders: [], events_copy: [], orders: [] }
    let isOver = false
    const running = [bronzeOrders, eventsCopy, orders].map((definition) => {
      let startedMs = 0
      const option = definition === bronzeOrders ? 'maxOffsetsPerTrigger=1' : 'maxFilesPerTrigger=1'
      const query = startProcess(workspace, definition, {
        sourceOptions: [option],
        intervalMs: 0,
        listen(event, nowMs) {
          if (event.kind === 'step' && event.event.step === 'planned') startedMs = nowMs
          // The part before the first step comes from the query's own clock.
          if (event.kind === 'step' && event.event.step === 'batch-committed' && event.event.batchId > 10) times[definition.name]?.push(nowMs - startedMs)
          if (event.kind === 'batch') {
            const own = times[definition.name]
            if (own && own.length > 0) own[own.length - 1] = (own.at(-1) ?? 0) + (event.progress.durationMs.latestOffset ?? 0)
            if ((own?.length ?? 0) >= count) isOver = true
          }
          if (isOver) for (const each of running) each.stop()
        },
      })
      return query
    })
    await Promise.all(running.map(ended))
    floors.push(...Array.from({ length: 100 }, () => floor.run()))
    floor.close()
    return Object.entries(SPARK_SECONDS).map(([name, seconds]): Figure => {
      const value = median(times[name] ?? [])
      const limitMs = (seconds * 1_000) / SPARK_SHARE
      return {
        what: `${name}, 1-row batch, all three at once, p50`,
        value,
        unit: 'ms',
        floor: { what: '9 syncs, alone', value: median(floors), unit: 'ms' },
        ratio: value / median(floors),
        budget: `≤ ${limitMs.toFixed(0)} ms (1/${SPARK_SHARE} of Spark's ${seconds} s)`,
        isMet: value <= limitMs,
      }
    })
  },
}
