/** Sending to a real topic: where keys land, what is refused, and what a broker that dies does to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import type { TopicProducer } from '../../src/topic/topic.js'
import { hasKafka, numbered, readTexts, untilServed, useCluster } from './cluster.js'

describe.skipIf(!hasKafka)('producing', () => {
  const cluster = useCluster()

  async function open(topic: string, partitions?: number): Promise<TopicProducer> {
    const workspace = mkdtempSync(join(tmpdir(), 'streamtop-'))
    const producer = await openKafkaProducer(cluster.settings, topic, { workspace, ...(partitions === undefined ? {} : { partitions }) }, realEffects)
    onTestFinished(async () => {
      await producer.close()
      rmSync(workspace, { recursive: true })
    })
    return producer
  }

  const record = (value: string, key: string | null = null) => ({ key: key === null ? null : Buffer.from(key), value: Buffer.from(value) })

  test('a key lands where another client would put it', async () => {
    const [ours, theirs] = [await cluster.topic({ partitions: 5 }), await cluster.topic({ partitions: 5 })]
    const keys = [...numbered(0, 200, ''), 'ключ', 'a'.repeat(300)]
    await (await open(ours)).send(keys.map((key) => record(key, key)))
    const producer = cluster.client.producer()
    await producer.connect()
    await producer.send({ topic: theirs, messages: keys.map((key) => ({ key, value: key })) })
    await producer.disconnect()
    for (let partition = 0; partition < 5; partition++) {
      const read = async (name: string) => {
        const topic = cluster.open(name)
        return readTexts(topic, partition, 0n, (await topic.endOffsets()).get(partition) ?? 0n)
      }
      expect(await read(ours)).toEqual(await read(theirs))
    }
  })

  test('in order, in as many requests as it takes; ends are told', async () => {
    const name = await cluster.topic()
    const producer = await open(name)
    const wide = numbered(0, 30, 'x'.repeat(100_000))
    expect(await producer.send(wide.map((value) => record(value)))).toEqual(new Map([[0, 30n]]))
    expect(await producer.endOffsets()).toEqual(new Map([[0, 30n]]))
    expect(await readTexts(cluster.open(name), 0, 0n, 30n)).toEqual(wide.map((text, offset) => `${offset}:${text}`))
  })

  test('records without a key go to one partition after the other', async () => {
    const producer = await open(await cluster.topic({ partitions: 3 }))
    expect(await producer.send(numbered(0, 7).map((value) => record(value)))).toEqual(
      new Map([
        [0, 3n],
        [1, 2n],
        [2, 2n],
      ]),
    )
    await expect(producer.send([{ ...record('x'), partition: 3 }])).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('no partition 3') })
  })

  test('a record that is too large is refused by name, and the next one is sent', async () => {
    const producer = await open(await cluster.topic({ config: { 'max.message.bytes': '2000' } }))
    await expect(producer.send([record('x'.repeat(5_000))])).rejects.toMatchObject({ code: 'bad-value', condition: 'MESSAGE_TOO_LARGE' })
    expect(await producer.send([record('fits')])).toEqual(new Map([[0, 1n]]))
  })

  test('a topic is made once', async () => {
    await expect(open('made')).rejects.toMatchObject({ code: 'source-missing' })
    expect((await open('made', 4)).partitions).toBe(4)
    expect((await open('made', 4)).partitions).toBe(4)
    expect((await open('made')).partitions).toBe(4)
    await expect(open('made', 2)).rejects.toMatchObject({ code: 'usage' })
  })

  test('a broker that dies and comes back in between: every record once', { timeout: 90_000 }, async () => {
    const name = await cluster.topic()
    const producer = await open(name)
    await producer.send([record('before')])
    await cluster.broker.kill()
    const restarted = cluster.broker.restart()
    const sent = await producer.send([record('meanwhile')]).catch((error: unknown) => error)
    await restarted
    await untilServed(cluster.admin, name)
    // It may have given up; then nothing of it is there, and a new send goes through.
    if (sent instanceof Error) expect(sent).toMatchObject({ code: 'source-missing' })
    await producer.send([record('after')])
    const topic = cluster.open(name)
    const texts = await readTexts(topic, 0, 0n, (await topic.endOffsets()).get(0) ?? 0n)
    expect(texts.map((text) => text.split(':')[1])).toEqual(sent instanceof Error ? ['before', 'after'] : ['before', 'meanwhile', 'after'])
  })
})
