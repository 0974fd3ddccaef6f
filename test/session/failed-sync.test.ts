/** A sync that fails in the workspace's thread is said by the main thread, which has the terminal to give back; the thread waits for it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { onFailedSync, realEffects as fx } from '../../src/effects.js'
import { startWorkspaceThread } from '../../src/session/workspace-client.js'
import { temporaryFolder } from './live.js'

/** Answers the first call with what it found in its number after it had waited. */
const THREAD = `
import { parentPort } from 'node:worker_threads'
parentPort.once('message', ({ number }) => {
  const isSaid = new Int32Array(new SharedArrayBuffer(4))
  parentPort.postMessage({ kind: 'sync-failed', error: { code: 'sync-failed', message: 'a folder could not be synced', hint: 'look at the disk' }, isSaid })
  Atomics.wait(isSaid, 0, 0, 20_000)
  parentPort.postMessage({ number, kind: 'done', result: Atomics.load(isSaid, 0) })
})
`

test('the main thread hears of it, and the thread goes on once it was said', async () => {
  const said: string[] = []
  onTestFinished(onFailedSync((error) => void said.push(`${error.code}: ${error.message}; ${error.hint}`)))
  const threadPath = join(temporaryFolder(), 'thread.mjs')
  writeFileSync(threadPath, THREAD)
  const service = startWorkspaceThread({ threadPath }, fx)
  const answer = await service.look(null, 0)
  expect({ said, answer }).toEqual({ said: ['sync-failed: a folder could not be synced; look at the disk'], answer: 1 })
  await service.close()
})
