/**
 * A real Kafka as the topic (`--kafka`): records of 200 bytes into bronze, and a 1-record batch, each beside the same work on the
 * embedded topic in the same run. Topics of its own are made, and deleted at the end.
 */
import { realEffects as fx } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { onTopic, type OpenTopic } from '../../src/engine/open-topic.js'
import type { RunningQuery } from '../../src/engine/runner.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { nextOrders } from '../../src/queries/order-generator.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import type { KafkaChoice } from '../../src/topic/kafka-choice.js'
import { kafkaClient } from '../../src/topic/kafka-connection.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import { type KafkaSettings, readKafkaSettings } from '../../src/topic/kafka-settings.js'
import { openKafkaTopic } from '../../src/topic/kafka-topic.js'
import type { OutgoingRecord, TopicProducer } from '../../src/topic/topic.js'
import { againstFloor, type Bench, type BenchContext, type Figure, plain, quantile, withBudget } from '../figure.js'
import { rate } from './throughput.js'

const RECORD_BYTES = 200
const RECORDS_PER_SEND = 10_000
const ROWS_PER_BATCH = 10_000
const WARM_UP = 50

export const kafka: Bench = {
  name: 'kafka',
  async run(context) {
    const choice = context.kafka
    if (choice === null) throw new Error('the benchmark kafka needs a broker: -- --kafka HOST:PORT')
    const settings = readKafkaSettings(choice, process.env, fx)
    const topic = `streamtop-bench-${fx.randomUuid().slice(0, 8)}`
    const topics = [`${topic}-many`, `${topic}-one`] as const
    try {
      return [...(await manyRecords(context, choice, settings, topics[0])), ...(await oneRecord(context, settings, topics[1]))]
    } finally {
      await deleteTopics(settings, topics)
    }
  },
}

async function manyRecords({ isQuick, say, folder }: BenchContext, choice: KafkaChoice, settings: KafkaSettings, topic: string): Promise<Figure[]> {
  const count = isQuick ? 300_000 : 1_000_000
  const workspaces = { kafka: folder(), embedded: folder() }
  say(`  sending ${count} records of ${RECORD_BYTES} bytes to both topics`)
  const toKafka = await openKafkaProducer(settings, topic, { workspace: workspaces.kafka, partitions: 1 }, fx)
  const sendMs = await sendMany(toKafka, count)
  await sendMany(openEmbeddedProducer(workspaces.embedded, topic, {}, fx), count)
  const query = onTopic(bronzeOrders, topic)
  const option = `maxOffsetsPerTrigger=${ROWS_PER_BATCH}`
  const fromKafka = await rate(workspaces.kafka, query, option, { kafka: choice, topic })
  const embedded = await rate(workspaces.embedded, query, option, { topic })
  return [
    withBudget(
      againstFloor(
        'Kafka → table, records of 200 bytes, 10,000-row batches',
        { value: fromKafka.rowsPerSecond, unit: 'rows/s' },
        { what: 'the same from the embedded topic', value: embedded.rowsPerSecond },
        null,
      ),
      { atLeast: 80_000 },
    ),
    withBudget(plain(`memory of the bronze_orders process on Kafka after ${count.toLocaleString('en-US')} rows, at most`, fromKafka.peakMb, 'MB'), {
      atMost: 250,
    }),
    plain('sending to Kafka, 10,000 records a send', (count * 1_000) / sendMs, 'rows/s'),
  ]
}

/** Milliseconds that the sends took. */
async function sendMany(producer: TopicProducer, count: number): Promise<number> {
  let state: string | null = null
  let ms = 0
  for (let left = count; left > 0; left -= RECORDS_PER_SEND) {
    const made = nextOrders(state, 'bench', Math.min(left, RECORDS_PER_SEND))
    state = made.state
    const records = made.records.map(padded)
    const startedMs = performance.now()
    await producer.send(records)
    ms += performance.now() - startedMs
  }
  await producer.close()
  return ms
}

/** An order with blanks behind it, which JSON allows. */
function padded({ key, value }: OutgoingRecord): OutgoingRecord {
  const bytes = Buffer.alloc(RECORD_BYTES, ' ')
  bytes.set(value ?? [])
  return { key, value: bytes }
}

async function oneRecord({ isQuick, folder }: BenchContext, settings: KafkaSettings, topic: string): Promise<Figure[]> {
  const count = isQuick ? 100 : 500
  const workspaces = { kafka: folder(), embedded: folder() }
  const toKafka = await openKafkaProducer(settings, topic, { workspace: workspaces.kafka, partitions: 1 }, fx)
  const onKafka = new Batches(workspaces.kafka, topic, toKafka, (_, name, effects, watch) => openKafkaTopic(settings, name, watch, effects))
  const embedded = new Batches(workspaces.embedded, topic, openEmbeddedProducer(workspaces.embedded, topic, {}, fx), openEmbeddedTopic)
  const times: { readonly kafka: number[]; readonly embedded: number[] } = { kafka: [], embedded: [] }
  for (let round = 0; round < WARM_UP + count; round++) {
    const [kafkaMs, embeddedMs] = [await onKafka.next(), await embedded.next()]
    if (round < WARM_UP) continue
    times.kafka.push(kafkaMs)
    times.embedded.push(embeddedMs)
  }
  await onKafka.end()
  await embedded.end()
  return [0.5, 0.99].map((part) =>
    againstFloor(
      `1-record batch, Kafka → table, p${part * 100}`,
      { value: quantile(times.kafka, part), unit: 'ms' },
      { what: 'the same from the embedded topic', value: quantile(times.embedded, part) },
      part === 0.5 ? 3 : null,
    ),
  )
}

/** Batches of one record, one at a time, so that two topics can take turns. */
class Batches {
  readonly #producer: TopicProducer
  readonly #running: RunningQuery
  #lookedMs = 0
  #took: (ms: number) => void = () => {}

  constructor(workspace: string, topic: string, producer: TopicProducer, openTopic: OpenTopic) {
    this.#producer = producer
    const timed: OpenTopic = (...from) => {
      const opened = openTopic(...from)
      const endOffsets = () => {
        this.#lookedMs = performance.now()
        return opened.endOffsets()
      }
      return { ...opened, endOffsets }
    }
    let tookMs = 0
    this.#running = inlineRunner(timed, fx).start({
      ...{ workspace, definition: onTopic(bronzeOrders, topic), idempotent: null, armed: null, dwellMs: 0, hasUpstream: false },
      options: { sourceOptions: [], appId: null, intervalMs: 0, acceptGap: false },
      listen: (event) => {
        if (event.kind === 'step' && event.event.step === 'batch-committed') tookMs = performance.now() - this.#lookedMs
        // After what the loop does between batches.
        if (event.kind === 'batch') setImmediate(() => this.#took(tookMs))
      },
    })
  }

  /** Sends a record. @returns from the look at the topic's end that finds it to the commit of its batch, in milliseconds */
  async next(): Promise<number> {
    const took = new Promise<number>((resolve) => {
      this.#took = resolve
    })
    const failed = this.#running.ending.then((ending) => {
      throw ending.kind === 'failed' ? ending.error : new Error(`the query was ${ending.kind}`)
    })
    await this.#producer.sendGenerated((state) => nextOrders(state, 'bench', 1))
    return Promise.race([took, failed])
  }

  async end(): Promise<void> {
    this.#running.stop()
    await this.#running.ending
    await this.#producer.close()
  }
}

async function deleteTopics(settings: KafkaSettings, topics: readonly string[]): Promise<void> {
  const admin = kafkaClient(settings).admin()
  await admin.connect()
  const there = await admin.listTopics()
  await admin.deleteTopics({ topics: topics.filter((topic) => there.includes(topic)) })
  await admin.disconnect()
}
