/**
 * The world of a schedule: a clock that goes on by being looked at, random numbers from a seed, real files. Nothing waits. Each life
 * in it has a pid of its own, which the bundle reads where src says `process.pid`, so that a dead one is known to be dead.
 */
import { type Effects, realEffects } from '../../src/effects.js'
import type { Random } from './random.js'

/** Later than any file's own time, which is not of this world: to a vacuum all are old. */
const BEGIN_MS = Date.UTC(2050, 0)

/** More than any system gives to a process. */
const FIRST_PID = 10_000_000

declare global {
  var pidOfLife: number
}
globalThis.pidOfLife = FIRST_PID

/** The life that was is dead; what is done next is another's. */
export function nextLife(): void {
  globalThis.pidOfLife++
}

/** The pids begin anew, so that each schedule has the same ones. */
export function firstLife(): void {
  globalThis.pidOfLife = FIRST_PID
}

export function tortureEffects(random: Random): Effects {
  let passedMs = 0
  const after = (ms: number): number => {
    passedMs += ms
    return passedMs
  }
  return {
    ...realEffects,
    nowMs: () => BEGIN_MS + Math.floor(after(3)),
    kill: (pid) => pid < FIRST_PID || pid === globalThis.pidOfLife,
    processStart: (pid) => (pid < FIRST_PID || pid === globalThis.pidOfLife ? 'torture' : null),
    timeZoneOffsetMinutes: () => 0,
    monotonicMs: () => after(0.25),
    randomBytes: (count) => random.bytes(count),
    randomUuid: () => {
      const bytes = random.bytes(16)
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
      return Buffer.from(bytes)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    },
    async sleep(durationMs) {
      after(durationMs)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
