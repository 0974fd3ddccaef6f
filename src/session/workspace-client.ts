/**
 * The workspace service in a thread of its own, for a main thread that draws: nothing here loads SQLite or Parquet. An error
 * crosses with its code, hint and condition.
 */
import { Worker } from 'node:worker_threads'
import { type Effects, tellOfFailedSync } from '../effects.js'
import { errorFrom } from '../engine/messages.js'
import { StreamtopError } from '../errors.js'
import type { FromThread, ServiceCall, ToThread } from './thread-messages.js'
import type { WorkspaceService } from './workspace-service.js'

export interface ThreadOptions {
  /** The thread's program; the one of this build unless given. */
  readonly threadPath?: string | URL
  /** Told what a configuration file prints when it is loaded; nothing of it reaches the terminal. */
  readonly onOutput?: (text: string) => void
}

interface PendingCall {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Starts the thread. It ends with `close`, or with the process. */
export function startWorkspaceThread(options: ThreadOptions, fx: Effects): WorkspaceService {
  const worker = new Worker(options.threadPath ?? new URL('./workspace-thread.js', import.meta.url), { stdout: true, stderr: true })
  const pending = new Map<number, PendingCall>()
  let callCount = 0
  let death: StreamtopError | null = null
  const die = (why: string, cause?: unknown) => {
    death ??= new StreamtopError('internal', `the thread that reads the workspace has ended: ${why}`, { hint: 'start streamtop again', cause })
    for (const { reject } of pending.values()) reject(death)
    pending.clear()
  }
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'sync-failed') {
      tellOfFailedSync(errorFrom(message.error))
      Atomics.store(message.isSaid, 0, 1)
      Atomics.notify(message.isSaid, 0)
      return
    }
    const call = pending.get(message.number)
    pending.delete(message.number)
    if (message.kind === 'done') call?.resolve(message.result)
    else call?.reject(errorFrom(message.error))
  })
  worker.on('error', (error) => die(error.message, error))
  worker.on('messageerror', (error) => die(error.message, error))
  worker.on('exit', (code) => die(`exit code ${code}`))
  for (const stream of [worker.stdout, worker.stderr]) stream.setEncoding('utf8').on('data', (text: string) => options.onOutput?.(text))

  const ask = <Call extends ServiceCall>(call: Call, ...parameters: Parameters<WorkspaceService[Call]>) =>
    new Promise((resolve, reject) => {
      if (death) return reject(death)
      callCount += 1
      pending.set(callCount, { resolve, reject })
      worker.postMessage({ number: callCount, call, parameters } satisfies ToThread)
    }) as ReturnType<WorkspaceService[Call]>

  return {
    open: (request) => ask('open', request),
    look: (query, batchLimit) => ask('look', query, batchLimit),
    rows: (table, limit) => ask('rows', table, limit),
    history: (table, limit) => ask('history', table, limit),
    send: (part) => ask('send', part),
    generate: (records) => ask('generate', records),
    replay: (query) => ask('replay', query),
    reset: (query) => ask('reset', query),
    drop: (query) => ask('drop', query),
    /** Never rejects, and waits no longer than a few seconds: what the thread holds goes with it. */
    async close() {
      const patience = new AbortController()
      try {
        if (death === null) await Promise.race([ask('close'), fx.sleep(LONGEST_CLOSE_MS, patience.signal)])
      } catch {
        // It is ended below all the same.
      } finally {
        patience.abort()
        await worker.terminate()
      }
    },
  }
}

const LONGEST_CLOSE_MS = 3_000
