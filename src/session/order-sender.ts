/** What a session sends to its topic: the four parts, and generated orders. The producer is opened with the first record. */
import { StreamtopError } from '../errors.js'
import { nextOrders } from '../queries/order-generator.js'
import { ORDER_PARTS, partRecords } from '../queries/order-parts.js'
import type { TopicProducer } from '../topic/topic.js'
import type { Sent } from './workspace-service.js'

/** What the generator makes its orders from; `produce --rate` uses the same unless told otherwise. */
const SEED = '1'
/** What is sent when the four parts are there. */
const ORDERS_OF_SEND = 6

export class OrderSender {
  readonly #open: () => TopicProducer | Promise<TopicProducer>
  #producer: TopicProducer | null = null

  constructor(open: () => TopicProducer | Promise<TopicProducer>) {
    this.#open = open
  }

  /** Sends a part; null for what is next. What the four parts leave in the topic tells which of them that is; anything else was sent by others. */
  async send(part: number | null): Promise<Sent> {
    if (part !== null && ORDER_PARTS[part - 1] === undefined) {
      throw new StreamtopError('usage', `there is no part ${part}`, { hint: `the parts are numbered 1 to ${ORDER_PARTS.length}` })
    }
    return this.#with(async (producer) => {
      const next = part ?? nextPart(await producer.endOffsets())
      if (next === null) return generate(producer, ORDERS_OF_SEND)
      const records = partRecords(next)
      await producer.send(records)
      return { records: records.length, part: next }
    })
  }

  generate(records: number): Promise<Sent> {
    return this.#with((producer) => generate(producer, records))
  }

  async close(): Promise<void> {
    const producer = this.#producer
    this.#producer = null
    await producer?.close()
  }

  /** After a failure the next one is opened anew, and when its file is not there any more: the topic may be another by then. */
  async #with(work: (producer: TopicProducer) => Promise<Sent>): Promise<Sent> {
    try {
      if (this.#producer?.isMoved?.()) await this.close()
      this.#producer ??= await this.#open()
      return await work(this.#producer)
    } catch (error) {
      await this.close().catch(() => {})
      throw error
    }
  }
}

function nextPart(ends: ReadonlyMap<number, bigint>): number | null {
  const there = Number([...ends.values()].reduce((sum, end) => sum + end, 0n))
  let before = 0
  for (const [index, { length }] of ORDER_PARTS.entries()) {
    if (there === before) return index + 1
    before += length
  }
  return null
}

async function generate(producer: TopicProducer, records: number): Promise<Sent> {
  await producer.sendGenerated((state) => nextOrders(state, SEED, records))
  return { records, part: null }
}
