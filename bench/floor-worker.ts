/** A thread that measures the disk's floor a few times a second, beside whatever runs, and posts when and how long. */
import { parentPort, workerData } from 'node:worker_threads'
import { BatchFloor, type BatchBytes } from './batch-floor.js'

const { folder, bytes, everyMs } = workerData as { readonly folder: string; readonly bytes: BatchBytes; readonly everyMs: number }
const floor = new BatchFloor(folder, bytes)
setInterval(() => {
  const ms = floor.run()
  // Threads count from their own start, so the time goes out as milliseconds since the epoch.
  parentPort?.postMessage({ atMs: performance.timeOrigin + performance.now(), ms })
}, everyMs)
