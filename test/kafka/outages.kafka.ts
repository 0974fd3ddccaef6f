/** A broker that is not there, a topic that is not the same: what passes by itself is waited for, what does not is said. */
import { describe, expect, test } from 'vitest'
import type { StreamtopError } from '../../src/errors.js'
import { deleteTopic, hasKafka, makeTopic, numbered, readTexts, until, useCluster } from './cluster.js'

describe.skipIf(!hasKafka)('brokers that go and topics that change', () => {
  const cluster = useCluster()

  test('killed and started again while a range is read: no record twice, none missing', { timeout: 120_000 }, async () => {
    const name = await cluster.topic()
    for (let batch = 0; batch < 60; batch++) await cluster.send(name, numbered(batch * 100, batch * 100 + 100, 'x'.repeat(1_500)))
    const outages: (StreamtopError | null)[] = []
    const topic = cluster.open(name, { onOutage: (error) => outages.push(error) })
    const offsets: bigint[] = []
    let restarted: Promise<void> | null = null
    for await (const batch of topic.read(0, 0n, 6_000n)) {
      offsets.push(...batch.offsets)
      // The first piece is here, the others are on a broker that dies now.
      if (restarted === null) {
        await cluster.broker.kill()
        restarted = until('the outage is noticed', () => outages.length > 0).then(() => cluster.broker.restart())
      }
    }
    await restarted
    expect(offsets).toEqual(Array.from({ length: 6_000 }, (_, offset) => BigInt(offset)))
    expect(outages[0]).toMatchObject({ code: 'source-missing', message: expect.stringMatching(/does not answer \(.+\)/) })
    expect(outages.at(-1)).toBeNull()
  })

  test('down when it is opened, and while it is waited for', { timeout: 120_000 }, async () => {
    const name = await cluster.topic()
    await cluster.send(name, ['first'])
    await cluster.broker.kill()
    const outages: (StreamtopError | null)[] = []
    const topic = cluster.open(name, { onOutage: (error) => outages.push(error) })
    const ends = topic.endOffsets()
    await until('the outage is noticed', () => outages.length > 0)
    await cluster.broker.restart()
    expect(await ends).toEqual(new Map([[0, 1n]]))

    const waiting = topic.waitForMore(await ends, new AbortController().signal)
    await cluster.broker.stop()
    await until('the outage is noticed again', () => outages.at(-1) !== null)
    await cluster.broker.restart()
    await cluster.send(name, ['second'])
    await waiting
    expect(await readTexts(topic, 0, 0n, 2n)).toEqual(['0:first', '1:second'])
  })

  test('a stop ends every wait for a broker', async () => {
    const name = await cluster.topic()
    const stop = new AbortController()
    const topic = cluster.open(name, { signal: stop.signal })
    expect(await topic.exists()).toBe(true)
    await cluster.broker.kill()
    const [asked, waiting] = [topic.endOffsets(), topic.waitForMore(new Map([[0, 0n]]), stop.signal)]
    stop.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await waiting
    await cluster.broker.restart()
  })

  test.each([
    ['shorter', 2],
    ['longer', 9],
  ])('made again, and %s than it was', async (_, count) => {
    const name = await cluster.topic()
    await cluster.send(name, numbered(0, 5))
    const topic = cluster.open(name)
    await topic.identity()
    const ends = await topic.endOffsets()
    await deleteTopic(cluster.admin, name)
    await makeTopic(cluster.admin, name)
    await cluster.send(name, numbered(0, count, 'other'))
    const madeAgain = { code: 'source-changed', message: expect.stringMatching(/deleted and made again.*its id was [\w-]{22} and is [\w-]{22}/) }
    await expect(topic.endOffsets()).rejects.toMatchObject(madeAgain)
    await expect(topic.waitForMore(ends, new AbortController().signal)).rejects.toMatchObject(madeAgain)
    await expect(topic.identity()).rejects.toMatchObject(madeAgain)
  })

  test('deleted while it is read', async () => {
    const name = await cluster.topic()
    await cluster.send(name, numbered(0, 5))
    const topic = cluster.open(name)
    const ends = await topic.endOffsets()
    await deleteTopic(cluster.admin, name)
    const deleted = { code: 'source-missing', condition: 'UNKNOWN_TOPIC_OR_PARTITION', message: expect.stringContaining('was deleted') }
    await expect(topic.waitForMore(ends, new AbortController().signal)).rejects.toMatchObject(deleted)
    await expect(readTexts(topic, 0, 0n, 5n)).rejects.toMatchObject(deleted)
  })
})
