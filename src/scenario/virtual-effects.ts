/**
 * A world in which a play is the same each time: time goes on only when everybody waits for it, and what is random comes from a seed.
 * Files are real, and there is one process: what another one takes, this clock does not know.
 */
import { createHash } from 'node:crypto'
import type { Effects } from '../effects.js'

/** 2026-10-01T09:00:00Z, a quarter of an hour before the first of the nine events. */
const BEGIN_MS = 1_790_845_200_000

/** So many times faster than real time, at most, while everybody waits. */
const LEAP = 20
const LONGEST_REST_MS = 5_000
/** A shorter sleep might be lost in a rounding: time would stand still for who sleeps again for what is left. */
const SHORTEST_SLEEP_MS = 0.001

interface Sleeper {
  readonly dueMs: number
  wake(): void
}

/** @param real what files, processes and turns of the event loop are taken from */
export function virtualEffects(seed: string, real: Effects): Effects {
  let passedMs = 0
  let isTurning = false
  /** Ends the rest before a leap: who sleeps is no longer the same. */
  let changed = new AbortController()
  const sleepers = new Set<Sleeper>()
  const random = seededBytes(seed)

  /**
   * Wakes one sleeper after the other. Before each the world may come to rest, and longer before a long leap: what is being loaded by
   * another thread is done by then, and whoever waited for it sleeps too, or needs the time no more.
   */
  async function turn(): Promise<void> {
    isTurning = true
    for (let planned = earliest(); planned !== null; planned = earliest()) {
      changed = new AbortController()
      await real.sleep(Math.min((planned.dueMs - passedMs) / LEAP, LONGEST_REST_MS), changed.signal)
      // Somebody has begun to sleep or sleeps no more: who is next, and how long to rest before, is another question now.
      if (changed.signal.aborted) continue
      passedMs = Math.max(passedMs, planned.dueMs)
      planned.wake()
    }
    isTurning = false
  }

  function earliest(): Sleeper | null {
    let first: Sleeper | null = null
    for (const one of sleepers) if (first === null || one.dueMs < first.dueMs) first = one
    return first
  }

  return {
    ...real,
    nowMs: () => BEGIN_MS + Math.floor(passedMs),
    timeZoneOffsetMinutes: () => 0,
    monotonicMs: () => passedMs,
    randomBytes: random,
    randomUuid: () => uuidOf(random(16)),
    sleep: (durationMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          changed.abort()
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper: Sleeper = { dueMs: passedMs + (durationMs > 0 ? Math.max(SHORTEST_SLEEP_MS, durationMs) : 0), wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake)
        changed.abort()
        if (!isTurning) void turn()
      }),
  }
}

/** Bytes from SHA-256 over the seed and a counter. */
function seededBytes(seed: string): (count: number) => Uint8Array {
  let counter = 0
  return (count) => {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count; at += 32) {
      bytes.set(
        createHash('sha256')
          .update(`${seed} ${counter++}`)
          .digest()
          .subarray(0, count - at),
        at,
      )
    }
    return bytes
  }
}

/** A random UUID (RFC 9562, version 4) of 16 bytes. */
function uuidOf(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
