/** Sends generated orders at a steady rate, for a time or until somebody says stop, going on where the topic's generator was. */
import type { Effects } from '../effects.js'
import type { TopicProducer } from '../topic/topic.js'
import { nextOrders } from './order-generator.js'

export interface GenerateOptions {
  readonly seed: number | string
  /** Records a second, above 0; a fraction is fine. */
  readonly ratePerSecond: number
  /** `Infinity` for no end. In all rate × seconds records are sent, rounded down; fewer when sending is slower than the rate. */
  readonly seconds: number
  /** Ends it after the send that is under way. */
  readonly signal: AbortSignal
  /** Called after each send with the records of this run so far. */
  readonly onSent?: (sent: number) => void
}

/** Resolves to the number of records sent. */
export async function generateOrders(producer: TopicProducer, options: GenerateOptions, fx: Effects): Promise<number> {
  const { seed, ratePerSecond, signal } = options
  const durationMs = options.seconds * 1_000
  const startMs = fx.monotonicMs()
  let sent = 0
  while (!signal.aborted) {
    const elapsedMs = Math.min(fx.monotonicMs() - startMs, durationMs)
    // A hair more, so that 0.1 s at 10 a second is one record however the fraction is rounded.
    const due = Math.floor((elapsedMs / 1_000) * ratePerSecond + 1e-6) - sent
    const count = Math.min(due, RECORDS_OF_SEND)
    if (count > 0) {
      await producer.sendGenerated((state) => nextOrders(state, seed, count))
      sent += count
      options.onSent?.(sent)
    }
    if (elapsedMs >= durationMs) break
    const nextMs = ((sent + 1) / ratePerSecond) * 1_000
    const pauseMs = due > count ? 0 : Math.max(SHORTEST_PAUSE_MS, nextMs - elapsedMs)
    await fx.sleep(Math.min(pauseMs, durationMs - elapsedMs, LONGEST_PAUSE_MS), signal)
  }
  return sent
}

const RECORDS_OF_SEND = 5_000
/** Records that are due within this time go in one send. */
const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 60_000
