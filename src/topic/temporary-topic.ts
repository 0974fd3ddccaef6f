/** A topic for one play or one matrix: made with its first record, and removed in the end whatever became of it. */
import type { Effects } from '../effects.js'
import type { KafkaSettings } from './kafka-settings.js'
import type { OutgoingRecord, TopicProducer } from './topic.js'

export interface TemporaryTopic {
  /** @throws what making it and sending to it throw; the next call makes it again when it could not be made, and fails once it is removed */
  send(records: readonly OutgoingRecord[]): Promise<void>
  /** @throws what closing and removing it throw */
  remove(): Promise<void>
}

export interface TopicMaker {
  /** @param onAsked called before the broker is asked to make it: from then on it may be there */
  open(onAsked: () => void): Promise<TopicProducer>
  remove(): Promise<void>
}

export function temporaryTopic(maker: TopicMaker): TemporaryTopic {
  let opening: Promise<TopicProducer> | null = null
  let isOver = false

  async function made(): Promise<TopicProducer> {
    let isAsked = false
    try {
      return await maker.open(() => {
        isAsked = true
      })
    } catch (error) {
      opening = null
      // What went wrong is worth more than a topic that stays.
      if (isAsked) await maker.remove().catch(() => {})
      throw error
    }
  }

  return {
    async send(records) {
      // Of a line of a play that is ended, and goes on with its next records: they would make the topic anew.
      if (isOver) throw new Error('the topic was removed')
      opening ??= made()
      const producer = await opening
      await producer.send(records)
    },
    async remove() {
      isOver = true
      // A play that is ended waits for nothing, and what it had begun goes on: the topic may come to be there only now.
      const producer = await opening?.catch(() => null)
      if (!producer) return
      opening = null
      try {
        await producer.close()
      } finally {
        await maker.remove()
      }
    },
  }
}

/** A temporary topic on Kafka with one partition and a name that nobody has, which begins with `prefix`. */
export async function temporaryKafkaTopic(settings: KafkaSettings, prefix: string, fx: Effects): Promise<TemporaryTopic & { readonly name: string }> {
  const { deleteKafkaTopic, openKafkaProducer } = await import('./kafka-producer.js')
  const name = `${prefix}-${fx.randomUuid().slice(0, 8)}`
  const topic = temporaryTopic({
    // Nothing is generated, so that no workspace is written to.
    open: (onAsked) => openKafkaProducer(settings, name, { partitions: 1, workspace: '.', onAsked }, fx),
    remove: () => deleteKafkaTopic(settings, name),
  })
  return { name, ...topic }
}
