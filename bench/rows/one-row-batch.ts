/** A 1-row batch, topic to table, through the real loop, against its nine syncs and bytes alone. Floor and batch take turns. */
import { realEffects as fx } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { nextOrders } from '../../src/queries/order-generator.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { batchBytes, walLength } from '../batch-bytes.js'
import { BatchFloor } from '../batch-floor.js'
import { againstFloor, type Bench, plain, quantile } from '../figure.js'

const WARM_UP = 50

export const oneRowBatch: Bench = {
  name: 'one-row-batch',
  async run({ isQuick, say, folder }) {
    const count = WARM_UP + (isQuick ? 200 : 1_000)
    const workspace = folder()
    const producer = openEmbeddedProducer(workspace, 'orders', {}, fx)
    const sendOne = () => producer.sendGenerated((state) => nextOrders(state, 'bench', 1))
    await sendOne()

    const batches: number[] = []
    const floors: number[] = []
    const stepTimes = new Map<string, number[]>()
    let floor: BatchFloor | null = null
    let triggeredMs = 0
    let stepMs = 0
    let walBefore = 0
    let walBytes = 0
    let done = 0
    // The trigger begins with the look at the topic's end that finds the new record.
    const openTopic: typeof openEmbeddedTopic = (...from) => {
      const topic = openEmbeddedTopic(...from)
      return {
        ...topic,
        endOffsets() {
          triggeredMs = performance.now()
          return topic.endOffsets()
        },
      }
    }
    const next = () => {
      if (done > WARM_UP && floor) floors.push(floor.run())
      if (done === WARM_UP) floor = new BatchFloor(folder(), batchBytes(workspace, 'bronze_orders', 'bronze_orders', walBytes))
      if (done >= count) running.stop()
      else void sendOne()
    }
    const running = inlineRunner(openTopic, fx).start({
      workspace,
      definition: bronzeOrders,
      options: { sourceOptions: [], appId: null, intervalMs: 0, acceptGap: false },
      idempotent: null,
      armed: null,
      dwellMs: 0,
      hasUpstream: false,
      listen(event) {
        const nowMs = performance.now()
        if (event.kind === 'step') {
          const { step } = event.event
          if (step === 'planned') stepMs = triggeredMs
          if (done > WARM_UP) timesOf(stepTimes, step).push(nowMs - stepMs)
          stepMs = nowMs
          // How much the log of SQLite grows is asked for outside of the batches that are measured.
          if (step === 'planned' && done < WARM_UP) walBefore = walLength(workspace)
          if (step === 'batch-committed') {
            if (done > WARM_UP) batches.push(nowMs - triggeredMs)
            else walBytes = Math.max(walLength(workspace) - walBefore, 4_096)
          }
        } else if (event.kind === 'batch') {
          done++
          // After what the loop does between batches.
          setImmediate(next)
        }
      },
    })
    const ending = await running.ending
    if (ending.kind === 'failed') throw ending.error
    await producer.close()
    for (const [step, times] of stepTimes) say(`  until ${step}: p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`)
    const figure = (part: number, mostFloors: number) =>
      againstFloor(
        `1-row batch, topic → table, p${part * 100}`,
        { value: quantile(batches, part), unit: 'ms' },
        { what: 'its 9 syncs and bytes alone', value: quantile(floors, part) },
        mostFloors,
      )
    return [
      figure(0.5, 2),
      figure(0.99, 4),
      { ...plain('the same against Spark, 1.8 s warm', 1_800 / quantile(batches, 0.5), '× faster'), budget: '≥ 150 ×', isMet: quantile(batches, 0.5) <= 12 },
    ]
  },
}

function timesOf(times: Map<string, number[]>, step: string): number[] {
  const known = times.get(step)
  if (known) return known
  const made: number[] = []
  times.set(step, made)
  return made
}
