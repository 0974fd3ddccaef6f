/**
 * Every system call with which a run changes what lies on disk, hit by strace: the process is killed there with SIGKILL, or the call fails
 * with EIO or ENOSPC. An error says what to do, a sync that failed is the last thing a process does, and the next start goes on rightly.
 * Needs strace (Linux). STREAMTOP_SYSTEM_CALLS=N hits N of each way of writing instead of a few dozen.
 */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WAYS_OF_WRITING } from '../power-loss/batches.js'
import { recordBatches } from '../power-loss/lose-power.js'
import { SEED } from '../seed.js'
import { newStory, type Story } from '../stories/workspace.js'
import { syncsRecorded, syncsSeen } from '../system-calls/compare-syncs.js'
import { callsOf, hitCall } from '../system-calls/hit-calls.js'
import { FULL_DISK_CALLS, type Injection, type SystemCall, whyNoStrace } from '../system-calls/strace.js'
import { seededRandom } from '../tui/seeded-random.js'

// No power is lost here, so nothing depends on a sync that works.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const MOST = Number(process.env['STREAMTOP_SYSTEM_CALLS'] ?? 60)
const AT_A_TIME = 3
/** Those that need no queries of a user's own: their watchdog looks for a direct parent, which is strace here. */
const WAYS = WAYS_OF_WRITING.filter(({ name }) => name !== 'two tables in one commit')

const whyNot = whyNoStrace()
if (whyNot !== null) console.warn(`system calls are not hit: ${whyNot}`)

interface Case {
  readonly call: SystemCall
  readonly what: Injection['what']
}

/** Of calls of one kind on one file that follow each other the first, the middle and the last one; each is hit in up to three ways. */
function casesOf(calls: readonly SystemCall[]): Case[] {
  const runs: SystemCall[][] = []
  for (const call of calls) {
    const before = runs.at(-1)?.[0]
    if (before?.name === call.name && before.path === call.path) runs.at(-1)?.push(call)
    else runs.push([call])
  }
  const picked = runs.flatMap((run) => [...new Set([run[0], run[run.length >> 1], run.at(-1)])] as SystemCall[])
  return picked.flatMap((call) =>
    (FULL_DISK_CALLS.has(call.name) ? (['KILL', 'EIO', 'ENOSPC'] as const) : (['KILL', 'EIO'] as const)).map((what) => ({ call, what })),
  )
}

describe.skipIf(whyNot !== null).each(WAYS)('$name', (way) => {
  let source: Story
  beforeAll(async () => {
    source = newStory()
    await way.prepare(source)
  })
  afterAll(() => source.remove())

  let calls: readonly SystemCall[]

  test('what is recorded for losses of power is what is synced', async () => {
    calls = await callsOf(way, source)
    expect(syncsRecorded(await recordBatches(way))).toEqual(syncsSeen(calls))
  })

  test('every call that changes something, killed or failed', async () => {
    const all = casesOf(calls)
    const { next } = seededRandom(SEED)
    const left = [...all]
    const drawn: Case[] = []
    while (drawn.length < MOST && left.length > 0) drawn.push(...left.splice(next(left.length), 1))
    const queue = [...drawn]
    const counts = { KILL: 0, EIO: 0, ENOSPC: 0, 'not reached': 0 }
    const violations: string[] = []
    const worker = async () => {
      for (let one = queue.shift(); one; one = queue.shift()) {
        const { isHit, wrong } = await hitCall(way, source, one.call, one.what)
        counts[isHit ? one.what : 'not reached'] += 1
        for (const sentence of wrong) console.error(sentence)
        violations.push(...wrong)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, worker))
    const told = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
    console.log(
      `${way.name}: ${drawn.length} of ${all.length} cases at ${calls.length} calls (${told.join(', ')}), ${violations.length} violations (seed ${SEED})`,
    )
    expect(violations).toEqual([])
    // Which call comes when differs a little from run to run; most are met.
    expect(counts['not reached']).toBeLessThan(drawn.length / 4)
  })
})
