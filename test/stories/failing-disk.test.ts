/**
 * Each change of a file in a run fails once: the run ends with an error that says what to do, a sync that failed stops the process before
 * it changes anything else, and the next start finds its way.
 */
import { existsSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { type Effects, onFailedSync, realEffects } from '../../src/effects.js'
import { knownError } from '../../src/errors.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { type DiskErrorCode, failFiles } from '../failing-files.js'
import { expectSound, nineEvents } from '../nine-events.js'
import { type Story, temporaryStories } from './workspace.js'

// Nothing here depends on a sync that works, and in memory it takes no time.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const begin = temporaryStories()
const CODES: readonly DiskErrorCode[] = ['ENOSPC', 'EIO', 'EROFS', 'EACCES']
const NAMED_AS = { ENOSPC: 'disk-full', EIO: 'disk-failed', EROFS: 'not-permitted', EACCES: 'not-permitted' }
const SLOW_MS = 120_000

onFailedSync(() => {})

/** The world of a process that is gone when this one goes on. */
const DYING: Effects = { ...realEffects, processStart: (pid) => (pid === process.pid ? '0' : realEffects.processStart(pid)) }

interface FailedRun {
  /** Null when the run made fewer changes. */
  readonly failed: string | null
  readonly error: unknown
  /** How many changes came between the failure and a SIGKILL of this process; null when there was none. */
  readonly changesUntilKill: number | null
}

/** A run in which the nth change of a file fails. A SIGKILL of this process is taken for its death. */
async function runFailing({ folder }: Story, failing: number, code: DiskErrorCode): Promise<FailedRun> {
  const files = failFiles(folder, failing, code)
  let changesUntilKill: number | null = null
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    expect({ pid, signal }).toEqual({ pid: process.pid, signal: 'SIGKILL' })
    changesUntilKill = files.later.length
    files.die()
    throw new Error('killed')
  })
  try {
    const options = { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false }
    const request = { workspace: folder, definition: bronzeOrders, options, idempotent: null, armed: null, dwellMs: 0, hasUpstream: false, listen: () => {} }
    const ending = await inlineRunner(openEmbeddedTopic, DYING).start(request).ending
    return { failed: files.failed, error: ending.kind === 'failed' ? ending.error : null, changesUntilKill }
  } finally {
    files.restore()
    vi.restoreAllMocks()
  }
}

test('each change of a file fails once', { timeout: SLOW_MS }, async () => {
  const source = begin()
  await source.produce(1, 2, 3, 4)
  let failures = 0
  for (let failing = 1; ; failing++) {
    const story = begin(source)
    const code = CODES[failing % CODES.length] as DiskErrorCode
    const { failed, error, changesUntilKill } = await runFailing(story, failing, code)
    if (failed === null) break
    failures += 1
    const isSync = failed.startsWith('fsyncSync')
    expect({ failed, changesUntilKill }).toEqual({ failed, changesUntilKill: isSync ? 0 : null })
    // Without an error it was something that nobody needs.
    const { code: named, hint } = knownError(error) ?? {}
    if (!isSync && error !== null) expect({ failed, named, hint }).toEqual({ failed, named: NAMED_AS[code], hint: expect.any(String) })
    await story.run(bronzeOrders)
    await expectSound(story, nineEvents())
    story.remove()
  }
  expect(failures).toBeGreaterThan(30)
})
