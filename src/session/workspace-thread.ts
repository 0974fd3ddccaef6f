/** The program of the workspace's thread: answers the calls of `workspace-client.ts`, in their order, until `close` was answered. */
import { parentPort } from 'node:worker_threads'
import { realEffects as fx } from '../effects.js'
import { errorJson } from '../engine/life.js'
import { openWorkspaceService } from './open-workspace-service.js'
import type { FromThread, ToThread } from './thread-messages.js'

const port = parentPort
const service = openWorkspaceService(fx)

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
