/** The disk's floor, sampled in a thread of its own while something else is measured. */
import { Worker } from 'node:worker_threads'
import type { BatchBytes } from './batch-floor.js'
import { median } from './figure.js'

export interface SampledFloor {
  /** The median of the samples between two times, milliseconds since the epoch. */
  between(fromMs: number, toMs: number): number
  stop(): Promise<void>
}

export function startSampling(folder: string, bytes: BatchBytes, everyMs: number): SampledFloor {
  const samples: { readonly atMs: number; readonly ms: number }[] = []
  const worker = new Worker(new URL('./floor-worker.mjs', import.meta.url), { workerData: { folder, bytes, everyMs } })
  worker.on('message', (sample: { readonly atMs: number; readonly ms: number }) => samples.push(sample))
  return {
    between: (fromMs, toMs) => median(samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs).map(({ ms }) => ms)),
    stop: async () => void (await worker.terminate()),
  }
}
