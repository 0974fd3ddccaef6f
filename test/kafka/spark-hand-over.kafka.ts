/**
 * `bronze_orders` on a real topic, handed over to Spark's own Kafka source and back, in the same checkpoint and table: what one has
 * logged and not done the other does, and no record is there twice. And a checkpoint that Spark began, taken over with `--adopt`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OtherEngine } from '../checker.mjs'
import { fetchSpark } from '../spark/fetch.js'
import { readVersions } from '../spark/found-on-disk.js'
import { SparkWorker } from '../spark/spark-worker.js'
import { deleteTopic, hasKafka, makeTopic, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'
import { bronzeOf, kafkaStory } from './kafka-story.js'

const fetched = hasKafka ? await fetchSpark((line) => console.log(line)) : 'without Kafka there is nothing to hand over'
if (typeof fetched === 'string' && process.env['CI']) throw new Error(fetched)

describe.skipIf(typeof fetched === 'string')('Spark’s Kafka source', () => {
  const cluster = useCluster()
  let sparks: SparkWorker[] = []

  beforeAll(() => {
    // The second is for after the kill of the first; both start while the broker does.
    if (typeof fetched !== 'string') sparks = [new SparkWorker(fetched), new SparkWorker(fetched)]
  })
  afterAll(() => Promise.all(sparks.map((spark) => spark.stop())))

  /** Runs bronze_orders in a workspace until it is caught up. */
  const sparkRuns = (spark: SparkWorker | undefined, workspace: string, topic: string, die: 'after-write' | null = null) =>
    (spark as SparkWorker).stream({
      ...{ workspace, query: 'append', name: 'bronze_orders', sink: 'bronze_orders', die },
      ...{ source: topic, kafka: cluster.broker.address },
    })

  test('goes on from our checkpoint, dies, is started again, and gives it back', { timeout: 300_000 }, async () => {
    const topic = await cluster.topic({ partitions: 2 })
    const story = kafkaStory(cluster, topic)
    await story.produce(1)
    await story.run(bronzeOf(topic))
    await story.produce(2)
    expect((await story.run(bronzeOf(topic), { killAt: 'offsets-logged' })).ending).toMatchObject({ kind: 'killed' })
    const ours = new Map(offsetsOf(story.folder))

    // Batch 1 is ours, and Spark has not run it yet when it logs batch 2: there it dies.
    await story.produce(3)
    const killed = sparkRuns(sparks[0], story.folder, topic).catch((error: Error) => error.message)
    await until('batch 2 is logged', () => story.list('checkpoints', 'bronze_orders', 'offsets').includes('2'), 240_000)
    await sparks[0]?.stop()
    expect(await killed).toContain('SIGKILL')
    expect(story.list('checkpoints', 'bronze_orders', 'commits').filter((name) => !name.endsWith('.crc'))).toEqual(['0', '1'])

    await story.produce(4)
    expect(await sparkRuns(sparks[1], story.folder, topic)).toEqual({ died: false, error: null })
    expect(offsetsOf(story.folder).get(1)).toBe(ours.get(1))
    expect([...offsetsOf(story.folder).keys()]).toEqual([0, 1, 2, 3])

    // Back: what Spark has done is known, and the next batch is ours.
    const other = otherEngine(story.folder)
    expect([...other.versions.values()].sort()).toEqual([1, 2, 3])
    expect((await story.run(bronzeOf(topic))).events.filter(({ kind }) => kind === 'step')).toEqual([])
    await story.expectSound({ other: { ...other, commits: [1, 2, 3] } })
    const producer = await cluster.client.producer()
    await producer.connect()
    await producer.send({
      topic,
      messages: [{ key: '9', value: '{"order_id":9,"customer_id":"C09","status":"placed","amount":1,"event_time":"2026-10-01T13:00:00Z"}' }],
    })
    await producer.disconnect()
    await story.run(bronzeOf(topic))
    expect(story.list('checkpoints', 'bronze_orders', 'commits').filter((name) => !name.startsWith('.'))).toEqual(['0', '1', '2', '3', '4'])
    expect(total(offsetsOf(story.folder).get(4))).toBe(10)
  })

  test('begins a checkpoint, which is adopted where its offsets lie in the topic, and refused elsewhere before anything is written', {
    timeout: 300_000,
  }, async () => {
    const topic = await cluster.topic()
    const [at, beside] = [commandFolder(), kafkaStory(cluster, topic)]
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    await beside.produce(1, 2)
    await sparkRuns(sparks[1], at.folder, topic)
    await beside.produce(3)
    // The table has batch 1 and the checkpoint does not know.
    expect(await sparkRuns(sparks[1], at.folder, topic, 'after-write')).toEqual({ died: true, error: null })
    const other = otherEngine(at.folder)
    const before = at.list()

    expect(at.streamtop(`run bronze_orders ${kafka}`)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('made by another tool') })
    expect(at.streamtop('run bronze_orders --adopt')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('most likely Spark counted them') })
    const short = await cluster.topic()
    expect(at.streamtop(`run bronze_orders --adopt --kafka ${cluster.broker.address} --topic ${short}`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/counts the offsets of \S+, and this query reads topic/),
    })
    expect(at.streamtop('run bronze_orders --adopt --kafka 127.0.0.1:1')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not answer') })
    expect(at.list()).toEqual(before)
    const { queries } = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
    expect(queries[0]).toMatchObject({ name: 'bronze_orders', rows: 7, distinct: 7, inFlight: true, missing: 0 })
    expect(at.list()).toEqual(before)

    // Batch 1 again: the table has its txn.
    const adopted = at.streamtop(`run bronze_orders --adopt ${kafka}`)
    expect(adopted).toMatchObject({ exitCode: 0, stdout: 'bronze_orders has 7 rows, 7 different\n' })
    expect(JSON.parse(at.read('checkpoints', 'bronze_orders', 'sources', '0', 'streamtop.json'))).toEqual({
      ...(await cluster.open(topic).identity()),
      isolation: 'read_uncommitted',
    })
    await beside.produce(4)
    expect(at.streamtop(`run bronze_orders ${kafka}`).stdout).toBe('bronze_orders has 9 rows, 9 different\n')
    await kafkaStory(cluster, topic, at.folder).expectSound({ other: { ...other, commits: [0] } })
  })

  test('a topic that was made again, and is shorter than Spark had read: not adopted, and nothing is written', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const [at, beside] = [commandFolder(), kafkaStory(cluster, topic)]
    await beside.produce(1, 2)
    await sparkRuns(sparks[1], at.folder, topic)
    const before = at.list()
    await deleteTopic(cluster.admin, topic)
    await makeTopic(cluster.admin, topic)
    await beside.produce(1)
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    for (const line of [`run bronze_orders --adopt ${kafka}`, `--plain --seconds 1 --adopt ${kafka}`]) {
      expect(at.streamtop(line)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/was read up to offset 5 of partition 0, which topic .* has from 0 to 3/),
      })
      expect(at.list()).toEqual(before)
    }
  })
})

/** What Spark has done so far. */
function otherEngine(workspace: string): OtherEngine {
  const versions = readVersions(workspace, 'bronze_orders').flatMap(({ engine, txns }, version) =>
    engine === 'spark' ? [[version, txns[0]?.version ?? null] as const] : [],
  )
  return { versions: new Map(versions), commits: [] }
}

/** The last lines of the offsets files by batch. */
function offsetsOf(workspace: string): Map<number, string> {
  const folder = join(workspace, 'checkpoints', 'bronze_orders', 'offsets')
  const batches = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []
  const lineOf = (batch: string) => readFileSync(join(folder, batch), 'utf8').split('\n').at(-1) ?? ''
  return new Map(batches.map((batch) => [Number(batch), lineOf(batch)] as const).sort(([a], [b]) => a - b))
}

function total(offsets: string | undefined): number {
  const [ends = {}] = Object.values(JSON.parse(offsets ?? '{}') as Record<string, Record<string, number>>)
  return Object.values(ends).reduce((sum, end) => sum + end, 0)
}
