/** A workspace in a temporary folder whose queries read topics of a real broker, with the inline runner. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import type { QueryEvent } from '../../src/engine/events.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import type { Ending } from '../../src/engine/runner.js'
import type { Step } from '../../src/engine/steps.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import { openKafkaTopic } from '../../src/topic/kafka-topic.js'
import type { Topic } from '../../src/topic/topic.js'
import { checkWorkspace, type QueryPromise } from '../checker.mjs'
import { BRONZE, SENT } from '../nine-events.js'
import type { Cluster } from './cluster.js'

export interface KafkaStory {
  readonly folder: string
  /** Sends parts of the nine events. */
  produce(...parts: number[]): Promise<void>
  /** Runs a query until it is caught up or dead; throws what it failed with. */
  run(
    definition: QueryDefinition,
    choices?: {
      readonly killAt?: Step
      /** Which time that step is reached; the first unless given. */
      readonly occurrence?: number
      readonly sourceOptions?: readonly string[]
      readonly idempotent?: boolean
      readonly openTopic?: OpenTopic
    },
  ): Promise<{ readonly ending: Ending; readonly events: readonly QueryEvent[] }>
  list(...parts: string[]): string[]
  read(...parts: string[]): string
  /**
   * Runs the checker on the nine events, as another client read them from the topic.
   * @param promise what differs for bronze_orders @param others the other queries
   */
  expectSound(promise?: Partial<QueryPromise>, ...others: readonly QueryPromise[]): Promise<void>
}

type OpenTopic = (workspace: string, name: string) => Topic

/** `bronze_orders` on a topic of another name. */
export function bronzeOf(topic: string): QueryDefinition {
  return { ...bronzeOrders, source: { ...bronzeOrders.source, name: topic } }
}

/** @param folder of a workspace that is there already; else a new one, removed when the test ends */
export function kafkaStory(cluster: Cluster, topic: string, folder: string = newFolder()): KafkaStory {
  const open: OpenTopic = (_, name) => openKafkaTopic(cluster.settings, name, {}, realEffects)
  return {
    folder,
    async produce(...parts) {
      const producer = await openKafkaProducer(cluster.settings, topic, { workspace: folder }, realEffects)
      for (const part of parts) await producer.send(partRecords(part))
      await producer.close()
    },
    async run(definition, { killAt, occurrence = 1, sourceOptions = [], idempotent, openTopic = open } = {}) {
      const events: QueryEvent[] = []
      const running = inlineRunner(openTopic, realEffects).start({
        workspace: folder,
        definition,
        options: { sourceOptions, appId: null, intervalMs: null, acceptGap: false },
        idempotent: idempotent ?? null,
        armed: killAt === undefined ? null : { step: killAt, occurrence },
        dwellMs: 0,
        hasUpstream: false,
        listen: (event) => events.push(event),
      })
      const ending = await running.ending
      if (ending.kind === 'failed') throw ending.error
      return { ending, events }
    },
    list: (...parts) => (existsSync(join(folder, ...parts)) ? readdirSync(join(folder, ...parts)).sort() : []),
    read: (...parts) => readFileSync(join(folder, ...parts), 'latin1'),
    async expectSound(promise = {}, ...others) {
      await copyTopic(cluster, topic, join(folder, 'topics.db'))
      const queries = [{ ...BRONZE, source: { topic }, ...promise }, ...others]
      expect(await checkWorkspace(folder, { topic, sent: SENT, queries })).toEqual([])
      rmSync(join(folder, 'topics.db'))
    },
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Topics that were read, with how many records they had. */
const copies = new Map<string, { readonly count: number; readonly bytes: Buffer }>()

/** The truth for the checker: the topic's records as kafkajs's consumer reads them, where the checker looks for them. */
async function copyTopic(cluster: Cluster, topic: string, path: string): Promise<void> {
  const ends = await cluster.admin.fetchTopicOffsets(topic)
  const count = ends.reduce((sum, { high }) => sum + Number(high), 0)
  const copied = copies.get(topic)
  if (copied?.count === count) return writeFileSync(path, copied.bytes)
  let missing = count
  const database = new Database(path)
  database.exec(
    'CREATE TABLE topics (number INTEGER, name TEXT); CREATE TABLE records (topic INTEGER, partition INTEGER, "offset" INTEGER, timestamp_ms INTEGER, key BLOB, value BLOB)',
  )
  database.prepare('INSERT INTO topics VALUES (1, ?)').run(topic)
  const insert = database.prepare('INSERT INTO records VALUES (1, ?, ?, ?, ?, ?)')
  const consumer = cluster.client.consumer({ groupId: `copy-${topic}-${process.hrtime.bigint()}` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise<void>((resolve, reject) => {
    const eachMessage = async ({
      partition,
      message,
    }: {
      partition: number
      message: { offset: string; timestamp: string; key: Buffer | null; value: Buffer | null }
    }) => {
      insert.run(partition, BigInt(message.offset), BigInt(message.timestamp), message.key, message.value)
      if (--missing === 0) resolve()
    }
    consumer.run({ eachMessage }).catch(reject)
  })
  await consumer.disconnect()
  database.close()
  copies.set(topic, { count, bytes: readFileSync(path) })
}
