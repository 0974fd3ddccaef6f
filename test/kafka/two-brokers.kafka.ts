/** Two brokers, each with all records: the leader dies or hangs, the other takes over, and queries go on; nothing is there twice, nothing is missing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Broker, startBroker } from '../../scripts/kafka-broker.mjs'
import { realEffects } from '../../src/effects.js'
import { openKafkaConnection } from '../../src/topic/kafka-connection.js'
import { metadataRequest } from '../../src/topic/kafka-requests.js'
import { hasKafka, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

describe.skipIf(!hasKafka)('two brokers', () => {
  const cluster = useCluster()
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-kafka-'))
  let second: Broker

  beforeAll(async () => {
    if (!hasKafka) return
    second = await startBroker({ jars: inject('kafkaJars'), folder, joins: cluster.broker })
    await until('both are there', async () => (await cluster.admin.describeCluster()).brokers.length === 2)
  })
  afterAll(async () => {
    await second?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Makes a topic on both, led by the second. */
  async function topicOnBoth(name: string): Promise<string> {
    const assignment = [0, 1].map((partition) => ({ partition, replicas: [2, 1] }))
    await cluster.admin.createTopics({ topics: [{ topic: name, replicaAssignment: assignment }] })
    await until('the second leads it', async () => (await placeOf(name)).every(({ leader, isr }) => leader === 2 && isr.length === 2))
    return name
  }

  /** What the first broker says: kafkajs's own client may wait for the one that hangs. */
  async function leadersOf(name: string): Promise<number[]> {
    const connection = openKafkaConnection(cluster.settings, {}, realEffects)
    const { partitions } = await connection.send(null, metadataRequest(name))
    await connection.close()
    return partitions.map(({ leader }) => leader)
  }

  async function placeOf(name: string) {
    const { topics } = await cluster.admin.fetchTopicMetadata({ topics: [name] }).catch(() => ({ topics: [] }))
    return topics[0]?.partitions ?? [{ leader: -1, isr: [] }]
  }

  test('the leader is killed under a dashboard that sends, and started again', { timeout: 180_000 }, async () => {
    const topic = await topicOnBoth('killed')
    const at = commandFolder()
    const kafka = `--kafka ${second.address},${cluster.broker.address} --topic ${topic}`
    const dashboard = at.start(`--plain --seconds 150 --pace full --rate 20 ${kafka}`)
    const commits = () => Number([...dashboard.said.stdout.matchAll(/events_copy batch (\d+) committed/g)].at(-1)?.[1] ?? -1)
    const copiesGoOn = async (when: string) => {
      const before = commits()
      await until(`copies go on ${when}`, () => commits() > before + 2, 60_000)
    }
    await copiesGoOn('at first')
    await second.kill()
    await until('the other leads', async () => (await leadersOf(topic)).every((leader) => leader === 1), 60_000)
    await copiesGoOn('with one broker')
    await second.restart()
    await until('both have everything again', async () => (await placeOf(topic)).every(({ isr }) => isr.length === 2), 60_000)
    await copiesGoOn('with both')
    dashboard.child.kill('SIGINT')
    expect(await dashboard.ended).toMatchObject({ exitCode: 130, stderr: '' })

    for (const query of ['bronze_orders', 'events_copy']) expect(at.streamtop(`run ${query} ${kafka}`)).toMatchObject({ exitCode: 0, stderr: '' })
    const { queries } = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
    const sent = (await cluster.admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0)
    for (const name of ['bronze_orders', 'events_copy']) {
      expect(queries.find((query: { name: string }) => query.name === name)).toMatchObject({ rows: sent, distinct: sent, lag: 0, missing: 0 })
    }
  })

  test('the leader hangs, and is the first that --kafka names: the query goes on with the other, and status answers', { timeout: 120_000 }, async () => {
    const topic = await topicOnBoth('hung')
    const at = commandFolder()
    const kafka = `--kafka ${second.address},${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --part 1 ${kafka}`)
    const running = at.start(`run bronze_orders --interval 0 ${kafka}`)
    await until('batch 0 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('0'))
    process.kill(second.pid, 'SIGSTOP')
    try {
      await until('the other leads', async () => (await leadersOf(topic)).every((leader) => leader === 1), 60_000)
      expect(at.streamtop(`produce --part 2 ${kafka}`)).toMatchObject({ exitCode: 0, stderr: '' })
      await until('batch 1 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('1'), 60_000)
      const status = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
      expect(status).toMatchObject({ errors: [], topics: [{ name: topic, partitions: 2 }] })
    } finally {
      process.kill(second.pid, 'SIGCONT')
    }
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ exitCode: 130, stdout: 'bronze_orders has 5 rows, 5 different\n' })
  })
})
