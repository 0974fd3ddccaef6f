/**
 * Going on by itself when a broker is down: what fails for a while is tried again, later and later, and whoever watches hears of it.
 */
import type { Effects } from '../effects.js'
import type { StreamtopError } from '../errors.js'
import { finalError, KafkaSilenceError, waitingFor } from './kafka-errors.js'
import type { KafkaSettings } from './kafka-settings.js'

export interface Patience {
  /**
   * Does it, again and again until it succeeds.
   * @param onFailure called before it is tried again
   * @throws a StreamtopError that does not pass by itself, or an AbortError when the signal fires
   */
  until<Result>(work: () => Promise<Result>, signal?: AbortSignal, onFailure?: () => void): Promise<Result>
  /** Waits for something once. @throws what it throws, or an AbortError when the stop comes first */
  unlessStopped<Result>(work: Promise<Result>): Promise<Result>
}

export interface PatienceOptions {
  readonly settings: KafkaSettings
  /** Ends every wait. */
  readonly signal: AbortSignal
  /** Told why it waits, again with each new reason, and null when it goes on. */
  readonly onOutage: (error: StreamtopError | null) => void
}

export function createPatience({ settings, signal: stop, onOutage }: PatienceOptions, fx: Effects): Patience {
  let said: string | null = null
  const say = (error: StreamtopError | null): void => {
    const sentence = error?.message ?? null
    if (sentence === said) return
    said = sentence
    onOutage(error)
  }
  return {
    async until(work, signal, onFailure) {
      const isEnded = () => stop.aborted || signal?.aborted === true
      for (let attempt = 0; ; attempt++) {
        if (isEnded()) throw stopped()
        try {
          const result = await unlessStopped(work(), signal ? [stop, signal] : [stop])
          say(null)
          return result
        } catch (error) {
          if (isEnded()) throw stopped()
          const final = finalError(error, settings)
          if (final) throw final
          onFailure?.()
          // A leader that moves is back within the first two; nobody need hear of it.
          if (attempt >= FAILURES_UNSAID || error instanceof KafkaSilenceError) say(waitingFor(error, settings))
          await fx.sleep(pauseMs(attempt, fx), signal ? AbortSignal.any([stop, signal]) : stop)
        }
      }
    },
    unlessStopped: (work) => unlessStopped(work, [stop]),
  }
}

/** A broker that hangs must not keep anybody from a stop: what it answers later is nobody's. */
async function unlessStopped<Result>(work: Promise<Result>, signals: readonly AbortSignal[]): Promise<Result> {
  const done = new AbortController()
  const stop = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      if (signal.aborted) reject(stopped())
      signal.addEventListener('abort', () => reject(stopped()), { signal: done.signal })
    }
  })
  try {
    return await Promise.race([work, stop])
  } finally {
    done.abort()
  }
}

const FAILURES_UNSAID = 2
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000

/** Twice as long each time, and not all clients at the same moment. */
function pauseMs(attempt: number, fx: Effects): number {
  const [byte = 0] = fx.randomBytes(1)
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.75 + byte / 512)
}

/** Thrown where a wait was ended on purpose. */
export function stopped(): Error {
  return Object.assign(new Error('stopped while Kafka was waited for'), { name: 'AbortError' })
}

export function isStopped(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
