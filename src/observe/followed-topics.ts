/**
 * Topics on Kafka for a look that must not wait: they are asked for in the background, within a time, and a look gets what was known
 * last. A broker that is down makes it older, and never slower.
 */
import type { Effects } from '../effects.js'
import { asStreamtopError } from '../errors.js'
import type { KafkaTopicEnds } from '../topic/kafka-topic-ends.js'
import { kafkaTopicStatus, type KafkaTopics, type TopicsElsewhere } from './kafka-topics.js'
import { lookInTime } from './look-in-time.js'
import { statusErrorOf } from './status-error.js'
import type { KafkaStatus, TopicStatus } from './status.js'

/** How long a look waits for brokers that answered the time before, so that what it tells is of this look. */
const PATIENCE_MS = 25

/**
 * @param open makes the connection, anew after each failure: one that hangs is given up
 * @param brokers what it is called on screens
 */
export function followTopics(open: () => KafkaTopicEnds, brokers: string, fx: Effects): KafkaTopics {
  const closing = new AbortController()
  let ends = open()
  let asking: Promise<void> | null = null
  let topics: readonly TopicStatus[] = []
  let answeredMs: number | null = null
  let kafka: KafkaStatus = { brokers, state: 'connecting', sinceMs: fx.nowMs(), topicsOfMs: null, lastError: null }

  async function ask(): Promise<void> {
    try {
      const found = await lookInTime(ends, brokers, closing.signal, fx)
      topics = kafkaTopicStatus(found)
      answeredMs = fx.nowMs()
      if (kafka.state !== 'connected') kafka = { brokers, state: 'connected', sinceMs: answeredMs, topicsOfMs: null, lastError: null }
    } catch (error) {
      if (closing.signal.aborted) return
      const sinceMs = kafka.state === 'down' ? kafka.sinceMs : fx.nowMs()
      kafka = { brokers, state: 'down', sinceMs, topicsOfMs: answeredMs, lastError: statusErrorOf(asStreamtopError(error)) }
      ends.close().catch(() => {})
      ends = open()
    }
  }

  return {
    async look(): Promise<TopicsElsewhere> {
      asking ??= ask().finally(() => {
        asking = null
      })
      if (kafka.state === 'connected') {
        const patience = new AbortController()
        await Promise.race([asking, fx.sleep(PATIENCE_MS, patience.signal)])
        patience.abort()
      }
      return { topics, errors: [], kafka }
    },
    async close() {
      closing.abort()
      await ends.close()
    },
  }
}
