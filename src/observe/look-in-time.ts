/** One look at topics on Kafka that does not wait long: brokers that hang count as down. */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { KafkaTopicEnds } from '../topic/kafka-topic-ends.js'

/** How long the brokers may take. */
const LONGEST_ANSWER_MS = 2_000

/**
 * @param brokers what they are called on screens
 * @param closing ends the wait, with an error
 * @throws source-missing when they take longer, and what the look throws
 */
export async function lookInTime(ends: KafkaTopicEnds, brokers: string, closing: AbortSignal | null, fx: Effects): ReturnType<KafkaTopicEnds['look']> {
  const answered = new AbortController()
  const tooLate = async (): Promise<never> => {
    await fx.sleep(LONGEST_ANSWER_MS, closing === null ? answered.signal : AbortSignal.any([answered.signal, closing]))
    throw new StreamtopError('source-missing', `Kafka at ${brokers} has not answered for ${LONGEST_ANSWER_MS / 1_000} s`, {
      hint: 'is the broker running, and is it reached by this address?',
    })
  }
  try {
    return await Promise.race([ends.look(), tooLate()])
  } finally {
    answered.abort()
  }
}
