/** The program of the workspace's thread: answers the calls of `workspace-client.ts`, in their order, until `close` was answered. */
import { parentPort } from 'node:worker_threads'
import { onFailedSync, realEffects as fx } from '../effects.js'
import { errorJson } from '../engine/life.js'
import { openWorkspaceService } from './open-workspace-service.js'
import type { FromThread, ToThread } from './thread-messages.js'

const port = parentPort
const service = openWorkspaceService(fx)

// The main thread has the terminal, and gives it back before it says so; when it is too busy for that, it is said from here.
onFailedSync((error, say) => {
  const isSaid = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  port?.postMessage({ kind: 'sync-failed', error: errorJson(error), isSaid } satisfies FromThread)
  if (Atomics.wait(isSaid, 0, 0, SAID_WITHIN_MS) === 'timed-out') say(error)
})

port?.on('message', (message: ToThread) => void answer(message))

async function answer({ number, call, parameters }: ToThread): Promise<void> {
  const say = (message: FromThread) => port?.postMessage(message)
  try {
    const run = service[call] as (...given: readonly unknown[]) => Promise<unknown>
    say({ number, kind: 'done', result: await run(...parameters) })
  } catch (error) {
    say({ number, kind: 'failed', error: errorJson(error) })
  }
  if (call === 'close') port?.close()
}

const SAID_WITHIN_MS = 1_000
