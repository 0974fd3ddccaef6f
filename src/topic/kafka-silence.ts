/**
 * A broker that hangs takes connections and requests and answers none. What tells it from a slow one is that nothing comes, not that
 * the answer is not whole: an answer of megabytes may take its time.
 */
import type { Effects } from '../effects.js'
import { KafkaSilenceError } from './kafka-errors.js'

export interface Silence {
  readonly silenceMs: number
  /** How many bytes have come from the broker. */
  bytesRead(): number
  /** Ends the wait. */
  readonly closing: AbortSignal
}

/** @throws KafkaSilenceError when no byte comes for that long, and what the work throws */
export async function unlessSilent<Result>(work: Promise<Result>, { silenceMs, bytesRead, closing }: Silence, fx: Effects): Promise<Result> {
  const isOver = new AbortController()
  const silence = async (): Promise<never> => {
    for (let before = -1; ; ) {
      const now = bytesRead()
      if (now === before) throw new KafkaSilenceError(silenceMs)
      before = now
      await fx.sleep(silenceMs, isOver.signal)
      // Where this process was held up itself, what has come meanwhile is read in the turn after the one in which the time is up.
      await fx.sleep(0, isOver.signal)
      if (isOver.signal.aborted) throw new Error('closed')
    }
  }
  const end = () => isOver.abort()
  closing.addEventListener('abort', end)
  if (closing.aborted) end()
  try {
    return await Promise.race([work, silence()])
  } finally {
    closing.removeEventListener('abort', end)
    end()
  }
}
