/** A Kafka without a broker: an embedded topic in a folder of its own that can go down and come up again. */
import { realEffects as fx } from '../../src/effects.js'
import type { OpenTopic, TopicWatch } from '../../src/engine/open-topic.js'
import { StreamtopError } from '../../src/errors.js'
import { followTopics } from '../../src/observe/followed-topics.js'
import type { TopicAccess } from '../../src/session/topic-access.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import type { TopicProducer } from '../../src/topic/topic.js'
import { temporaryFolder } from './live.js'

export const BROKERS = 'broker:9092'

export class FakeKafka {
  readonly #folder = temporaryFolder()
  #outage: { readonly over: Promise<void>; readonly end: () => void } | null = null
  #fall = new AbortController()
  #hasTopic: boolean

  constructor({ hasTopic = true } = {}) {
    this.#hasTopic = hasTopic
    if (hasTopic) this.makeTopic()
  }

  makeTopic(): void {
    this.#hasTopic = true
    void openEmbeddedProducer(this.#folder, 'orders', {}, fx).close()
  }

  goDown(): void {
    let end: () => void = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#outage = { over, end }
    this.#fall.abort()
  }

  comeUp(): void {
    this.#fall = new AbortController()
    this.#outage?.end()
    this.#outage = null
  }

  /** As a query opens it: what is asked while it is down waits, and says so. */
  readonly openTopic: OpenTopic = (_workspace, name, effects, watch) => {
    const topic = openEmbeddedTopic(this.#folder, name, effects)
    return {
      ...topic,
      exists: async () => {
        await this.#untilUp(watch)
        return topic.exists()
      },
      startOffsets: async () => {
        await this.#untilUp(watch)
        return topic.startOffsets()
      },
      endOffsets: async () => {
        await this.#untilUp(watch)
        return topic.endOffsets()
      },
      waitForMore: async (past, signal) => {
        await topic.waitForMore(past, AbortSignal.any([signal, this.#fall.signal]))
        if (!signal.aborted) await this.#untilUp(watch)
      },
    }
  }

  /** As a session reaches it. */
  readonly access = async (): Promise<TopicAccess> => ({
    elsewhere: followTopics(
      () => ({
        look: async () => {
          this.#demandUp()
          if (!this.#hasTopic) return new Map()
          const topic = openEmbeddedTopic(this.#folder, 'orders', fx)
          try {
            return new Map([['orders', await topic.endOffsets()]])
          } finally {
            await topic.close()
          }
        },
        close: async () => {},
      }),
      BROKERS,
      fx,
    ),
    openProducer: () => this.#openProducer(),
  })

  #openProducer(): TopicProducer {
    this.#demandUp()
    if (!this.#hasTopic) throw new StreamtopError('source-missing', `there is no topic orders on Kafka at ${BROKERS}`)
    const producer = openEmbeddedProducer(this.#folder, 'orders', {}, fx)
    return {
      ...producer,
      send: async (records) => {
        this.#demandUp()
        return producer.send(records)
      },
      sendGenerated: async (make) => {
        this.#demandUp()
        return producer.sendGenerated(make)
      },
    }
  }

  #demandUp(): void {
    if (this.#outage !== null) throw down('does not answer: connect ECONNREFUSED')
  }

  async #untilUp({ signal, onOutage }: TopicWatch): Promise<void> {
    if (this.#outage === null) return
    onOutage(down('does not answer (connect ECONNREFUSED); it is tried again'))
    await Promise.race([this.#outage.over, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))])
    if (signal.aborted) throw Object.assign(new Error('stopped'), { name: 'AbortError' })
    onOutage(null)
  }
}

function down(what: string): StreamtopError {
  return new StreamtopError('source-missing', `Kafka at ${BROKERS} ${what}`, { hint: 'start the broker' })
}
