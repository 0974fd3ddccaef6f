/** `bronze_orders` on a real topic: killed at every step and started again, and refused where its checkpoint is not this topic's. */
import { readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { observe } from '../../src/observe/observe.js'
import { openKafkaTopic } from '../../src/topic/kafka-topic.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { deleteRecords, deleteTopic, hasKafka, makeTopic, useCluster } from './cluster.js'
import { bronzeOf, kafkaStory } from './kafka-story.js'

/** Where the table has the batch and the checkpoint does not know. */
const WRITTEN: readonly Step[] = ['version-linked', 'table-committed']

describe.skipIf(!hasKafka)('bronze_orders on Kafka', () => {
  const cluster = useCluster()

  describe.each([
    { name: 'native sink', idempotent: true, twice: 9 },
    { name: 'native sink without txn', idempotent: false, twice: 18 },
  ])('$name', ({ idempotent, twice }) => {
    test.each(STEPS)('killed at %s', async (step) => {
      const topic = await cluster.topic({ partitions: 2 })
      const story = kafkaStory(cluster, topic)
      const bronze = bronzeOf(topic)
      await story.produce(1, 2, 3, 4)

      const { ending } = await story.run(bronze, { idempotent, killAt: step })
      expect(ending).toMatchObject({ kind: 'killed', at: { step, batchId: 0 } })
      expect(story.list('checkpoints', 'bronze_orders', 'offsets')).toEqual(step === 'planned' ? [] : ['0'])

      expect((await story.run(bronze, { idempotent })).ending).toEqual({ kind: 'ended' })
      expect(story.list('checkpoints', 'bronze_orders', 'commits')).toEqual(['0'])
      expect((await story.run(bronze, { idempotent })).events.filter(({ kind }) => kind === 'step')).toEqual([])
      await story.expectSound({ exactlyOnce: idempotent })
      const added = await rowsAdded(story.folder)
      expect(added).toBe(WRITTEN.includes(step) ? twice : 9)
    })
  })

  test('the checkpoint is what Spark would write, and says of which topic it is', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1, 2)
    await story.run(bronzeOf(topic))
    await story.produce(3, 4)
    await story.run(bronzeOf(topic), { sourceOptions: ['maxOffsetsPerTrigger=3'] })
    const at = (...parts: string[]) => story.read('checkpoints', 'bronze_orders', ...parts)
    expect(at('sources', '0', '0')).toBe(`\0v1\n{"${topic}":{"0":0}}`)
    expect([0, 1, 2].map((batch) => at('offsets', String(batch)).split('\n').at(-1))).toEqual([5, 8, 9].map((end) => `{"${topic}":{"0":${end}}}`))
    const identity = await cluster.open(topic).identity()
    expect(JSON.parse(at('sources', '0', 'streamtop.json'))).toEqual({ ...identity, isolation: 'read_uncommitted' })
    await story.expectSound()
  })

  test('records that aged out: stops and says where and how many, or goes on and counts them', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1)
    await story.run(bronzeOf(topic))
    await story.produce(2, 3, 4)
    await deleteRecords(cluster.admin, topic, 5)
    await expect(story.run(bronzeOf(topic))).rejects.toMatchObject({
      code: 'data-loss',
      condition: 'KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE',
      message: 'partition 0 was read up to offset 3 and now begins at 5: 2 offsets between are gone',
    })
    const { events } = await story.run(bronzeOf(topic), { sourceOptions: ['failOnDataLoss=false'] })
    expect(events).toContainEqual({ kind: 'note', batchId: 1, text: `2 offsets of topic ${topic}, partition 0, were gone and are left out` })
    expect(await rowsAdded(story.folder)).toBe(7)
    const { queries } = await observe(story.folder, [bronzeOf(topic)], realEffects)
    expect(queries[0]).toMatchObject({ lostOffsets: 2 })
  })

  test('a broker that lost the end of its log: stops and says where; the topic is the same, so it goes on when told to', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    for (const part of [1, 2, 3, 4]) await story.produce(part)
    await story.run(bronzeOf(topic))
    await cluster.broker.kill()
    // The last batch, which has two records, is cut in its middle: the broker drops what is left of it.
    const log = join(cluster.broker.folder, 'data', `${topic}-0`, '00000000000000000000.log')
    truncateSync(log, statSync(log).size - 50)
    await cluster.broker.restart()
    expect(await cluster.open(topic).endOffsets()).toEqual(new Map([[0, 7n]]))
    await expect(story.run(bronzeOf(topic))).rejects.toMatchObject({
      code: 'data-loss',
      message: expect.stringMatching(/partition 0 was read up to offset 9 and now ends at 7/),
    })
    await story.produce(1)
    await story.run(bronzeOf(topic), { sourceOptions: ['failOnDataLoss=false'] })
    expect(await rowsAdded(story.folder)).toBeGreaterThanOrEqual(9)
  })

  test('records of a logged batch that aged out before it ran again', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1, 2, 3, 4)
    await story.run(bronzeOf(topic), { killAt: 'offsets-logged' })
    await deleteRecords(cluster.admin, topic, 4)
    await expect(story.run(bronzeOf(topic))).rejects.toMatchObject({ code: 'data-loss', message: expect.stringContaining('4 offsets') })
    await story.run(bronzeOf(topic), { sourceOptions: ['failOnDataLoss=false'] })
    expect(await rowsAdded(story.folder)).toBe(5)
  })

  test.each([[[1]], [[1, 2, 3, 4, 1]]])('a topic that was made again, with parts %j of the events', async (parts) => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1, 2)
    await story.run(bronzeOf(topic))
    await deleteTopic(cluster.admin, topic)
    await makeTopic(cluster.admin, topic)
    await story.produce(...parts)
    await expect(story.run(bronzeOf(topic))).rejects.toMatchObject({
      code: 'checkpoint-foreign',
      message: expect.stringMatching(/^topic [\w-]+ was deleted and made again: its id was/),
    })
    expect(await rowsAdded(story.folder)).toBe(5)
  })

  test('made again between the plan and the read of a batch: nothing of it is written', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1, 2)
    const openTopic = (_: string, name: string) => {
      const opened = openKafkaTopic(cluster.settings, name, {}, realEffects)
      const read: typeof opened.read = async function* (partition, start, end) {
        await deleteTopic(cluster.admin, topic)
        await makeTopic(cluster.admin, topic)
        await story.produce(3, 4, 1)
        yield* opened.read(partition, start, end)
      }
      return { ...opened, read }
    }
    await expect(story.run(bronzeOf(topic), { openTopic })).rejects.toMatchObject({ code: 'source-changed' })
    expect(story.list('tables', 'bronze_orders')).toEqual([])
  })

  test('a checkpoint of the embedded topic is refused on Kafka, and the other way round', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1)
    await story.run(bronzeOf(topic))
    const producer = openEmbeddedProducer(story.folder, topic, {}, realEffects)
    await producer.send(partRecords(1))
    await producer.close()
    const openEmbedded = (workspace: string, name: string) => openEmbeddedTopic(workspace, name, realEffects)
    const refused = { code: 'checkpoint-foreign', message: expect.stringMatching(/counts the offsets of topic .*, and this query reads topic/) }
    await expect(story.run(bronzeOf(topic), { openTopic: openEmbedded })).rejects.toMatchObject(refused)

    const other = kafkaStory(cluster, topic)
    const embedded = openEmbeddedProducer(other.folder, topic, {}, realEffects)
    await embedded.send(partRecords(1))
    await embedded.close()
    await other.run(bronzeOf(topic), { openTopic: (_, name) => openEmbeddedTopic(other.folder, name, realEffects) })
    await expect(other.run(bronzeOf(topic))).rejects.toMatchObject(refused)
  })

  test('a checkpoint that says of no topic, as Spark leaves it: taken where its offsets lie in the topic, and refused elsewhere', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1, 2)
    await story.run(bronzeOf(topic))
    const identity = join(story.folder, 'checkpoints', 'bronze_orders', 'sources', '0', 'streamtop.json')
    rmSync(identity)
    await story.produce(3, 4)
    await story.run(bronzeOf(topic))
    expect(JSON.parse(readFileSync(identity, 'utf8'))).toEqual({ ...(await cluster.open(topic).identity()), isolation: 'read_uncommitted' })
    await story.expectSound()

    rmSync(identity)
    await deleteTopic(cluster.admin, topic)
    await makeTopic(cluster.admin, topic)
    await story.produce(1)
    await expect(story.run(bronzeOf(topic))).rejects.toMatchObject({
      code: 'checkpoint-foreign',
      message: expect.stringMatching(/was read up to offset 9 of partition 0, which topic .* has from 0 to 3: it was made on another topic/),
    })
  })

  test('how transactions are read is settled with the checkpoint', async () => {
    const topic = await cluster.topic()
    const story = kafkaStory(cluster, topic)
    await story.produce(1)
    await story.run(bronzeOf(topic), { sourceOptions: ['kafka.isolation.level=read_committed'] })
    expect(story.read('checkpoints', 'bronze_orders', 'sources', '0', 'streamtop.json')).toContain('"isolation":"read_committed"')
    const other = story.run(bronzeOf(topic), { sourceOptions: ['kafka.isolation.level=read_uncommitted'] })
    await expect(other).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('read_committed') })
    await story.run(bronzeOf(topic))
  })
})

/** Rows in the live files of bronze_orders, by its log. */
async function rowsAdded(folder: string): Promise<number> {
  const { Store } = await import('../../src/store/store.js')
  const store = Store.open(folder, realEffects)
  try {
    const snapshot = store.snapshot('bronze_orders')
    return snapshot ? (await store.read('bronze_orders', snapshot.schema, snapshot.files)).rowCount : 0
  } finally {
    store.close()
  }
}
