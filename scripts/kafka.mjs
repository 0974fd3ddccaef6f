/**
 * `npm run kafka`: a real Apache Kafka 4.4.0 with the topic `orders` (one partition), until ctrl-c. Its address goes to stdout. It
 * lies in a temporary folder, which is removed at the end: what was in its topics is gone then. A folder that is named stays, and a
 * broker that is started in it again goes on, on the same port: to kill it and start it again before an audience.
 *
 *   npm run kafka -- [--port N] [--topic NAME] [--partitions N] [--folder DIR]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import kafkajs from 'kafkajs'
import { fetchKafka, startBroker } from './kafka-broker.mjs'

const values = readWords()

const fetched = await fetchKafka((line) => console.error(line))
if (typeof fetched === 'string') {
  console.error(fetched)
  console.error('with Docker instead: docker run --rm -p 9092:9092 apache/kafka:4.4.0')
  process.exit(1)
}

const SERVED_WITHIN_TRIES = 200

const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'streamtop-kafka-')) : resolve(values.folder)
if (values.folder === undefined) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let isStopping = false
let broker = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    // A second one does not wait.
    if (isStopping || broker === null) process.exit(1)
    isStopping = true
    console.error('stopping Kafka')
    await broker.stop()
    process.exit(0)
  })
}

try {
  broker = await startBroker({ jars: fetched.jars, folder, ...(values.port === undefined ? {} : { port: Number(values.port) }) })
  const admin = new kafkajs.Kafka({ brokers: [broker.address], logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 30, initialRetryTime: 100 } }).admin()
  await admin.connect()
  // kafkajs's own waiting fails when the broker has not heard of the topic yet.
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic: values.topic, numPartitions: Number(values.partitions) }] })
  for (let tries = 1; !(await isServed(admin)); tries++) {
    if (tries === SERVED_WITHIN_TRIES) throw new Error(`topic ${values.topic} was made, and the broker does not serve it`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await admin.disconnect()
  console.log(broker.address)
  console.error(`Kafka 4.4.0 with topic ${values.topic}, until ctrl-c. In another terminal:`)
  console.error(`  streamtop produce --all --kafka ${broker.address}`)
  console.error(`  streamtop run bronze_orders --kafka ${broker.address}`)
  void broker.ended.then(() => {
    if (isStopping) return
    console.error(`Kafka has ended: ${broker.logText().slice(-2_000)}`)
    process.exit(1)
  })
} catch (error) {
  console.error(error.message)
  await broker?.stop()
  process.exit(1)
}

/** What was asked for; ends the process when it cannot be. */
function readWords() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string' },
        topic: { type: 'string', default: 'orders' },
        partitions: { type: 'string', default: '1' },
        folder: { type: 'string' },
      },
    })
    for (const [name, greatest] of [
      ['port', 65_535],
      ['partitions', 1_000],
    ]) {
      const text = values[name]
      if (text !== undefined && !(/^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= greatest)) {
        throw new Error(`--${name} takes a whole number from 1 to ${greatest}, not ${JSON.stringify(text)}`)
      }
    }
    return values
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

async function isServed(admin) {
  try {
    return (await admin.fetchTopicOffsets(values.topic)).length > 0
  } catch {
    return false
  }
}
