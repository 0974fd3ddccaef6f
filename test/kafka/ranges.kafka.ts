/** Exact ranges of a real topic: what is read is what lies between two offsets, however it was written. */
import { CompressionCodecs, CompressionTypes } from 'kafkajs'
import { snappyCompress } from 'hysnappy'
import { describe, expect, test } from 'vitest'
import { deleteRecords, hasKafka, numbered, readTexts, until, useCluster } from './cluster.js'

describe.skipIf(!hasKafka)('ranges of a topic', () => {
  const cluster = useCluster()

  test('which topic it is: by its id and that of the cluster', async () => {
    const name = await cluster.topic()
    const identity = await cluster.open(name).identity()
    expect(identity).toEqual({ kind: 'kafka', name, topicId: expect.stringMatching(/^[\w-]{22}$/), clusterId: cluster.broker.clusterId })
    expect(cluster.open(name).description).toBe(`KafkaV2[Subscribe[${name}]]`)
  })

  test('a topic that is not there is not there, and asking does not make it', async () => {
    const topic = cluster.open('nobody-made-me')
    expect(await topic.exists()).toBe(false)
    await expect(topic.endOffsets()).rejects.toMatchObject({ code: 'source-missing', condition: 'UNKNOWN_TOPIC_OR_PARTITION' })
    expect(await cluster.admin.listTopics()).not.toContain('nobody-made-me')
  })

  test('a range that begins and ends inside of batches has its own records and no others', async () => {
    const name = await cluster.topic()
    for (let batch = 0; batch < 5; batch++) await cluster.send(name, numbered(batch * 10, batch * 10 + 10))
    const topic = cluster.open(name)
    expect(await topic.startOffsets()).toEqual(new Map([[0, 0n]]))
    expect(await topic.endOffsets()).toEqual(new Map([[0, 50n]]))
    for (const [start, end] of [
      [0n, 50n],
      [15n, 34n],
      [19n, 20n],
      [20n, 30n],
      [49n, 50n],
      [50n, 50n],
    ] as const) {
      const wanted = numbered(Number(start), Number(end)).map((text, index) => `${Number(start) + index}:${text}`)
      expect(await readTexts(topic, 0, start, end)).toEqual(wanted)
    }
  })

  test('keys, nulls and times as they were sent', async () => {
    const name = await cluster.topic()
    const beforeMs = Date.now()
    await cluster.send(name, [['é', 'x'], ['gone', null], 'keyless'])
    const sentMs = Date.now()
    for await (const { keys, values, timestampsMs } of cluster.open(name).read(0, 0n, 3n)) {
      expect(keys.map((key) => key && Buffer.from(key).toString())).toEqual(['é', 'gone', null])
      expect(values.map((value) => value && Buffer.from(value).toString())).toEqual(['x', null, 'keyless'])
      for (const timestampMs of timestampsMs) expect(Math.min(Math.max(timestampMs, beforeMs), sentMs)).toBe(timestampMs)
    }
  })

  test('several partitions, each by itself', async () => {
    const name = await cluster.topic({ partitions: 3 })
    for (const partition of [0, 2]) await cluster.send(name, numbered(0, 4, `p${partition}-`), partition)
    const topic = cluster.open(name)
    expect(await topic.endOffsets()).toEqual(
      new Map([
        [0, 4n],
        [1, 0n],
        [2, 4n],
      ]),
    )
    expect(await readTexts(topic, 2, 1n, 3n)).toEqual(['1:p2-1', '2:p2-2'])
  })

  test('more than one fetch of records', async () => {
    const name = await cluster.topic()
    const wide = 'x'.repeat(100_000)
    for (let batch = 0; batch < 12; batch++) await cluster.send(name, numbered(0, 9, wide))
    const topic = cluster.open(name)
    let pieces = 0
    let rows = 0
    for await (const { rowCount } of topic.read(0, 0n, 108n)) {
      pieces += 1
      rows += rowCount
    }
    expect(rows).toBe(108)
    expect(pieces).toBeGreaterThan(1)
  })

  test('a record that is larger than a fetch comes whole', async () => {
    const name = await cluster.topic({ config: { 'max.message.bytes': '10000000' } })
    await cluster.send(name, ['before'])
    await cluster.send(name, ['x'.repeat(6_000_000)])
    await cluster.send(name, ['after'])
    expect((await readTexts(cluster.open(name), 0, 0n, 3n)).map((text) => text.length)).toEqual([8, 6_000_002, 7])
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'])('%s, as the broker writes it', async (codec) => {
    const name = await cluster.topic({ config: { 'compression.type': codec } })
    const texts = numbered(0, 500, `${'text that repeats '.repeat(20)}`)
    await cluster.send(name, texts)
    expect(await readTexts(cluster.open(name), 0, 100n, 400n)).toEqual(texts.slice(100, 400).map((text, index) => `${index + 100}:${text}`))
  })

  test('snappy without a frame, as clients in C write it', async () => {
    CompressionCodecs[CompressionTypes.Snappy] = () => ({ compress: async ({ buffer }: { buffer: Buffer }) => Buffer.from(snappyCompress(buffer)) })
    const name = await cluster.topic({ config: { 'compression.type': 'producer' } })
    const texts = numbered(0, 300, 'text that repeats '.repeat(10))
    await cluster.send(name, texts, 0, CompressionTypes.Snappy)
    expect(await readTexts(cluster.open(name), 0, 0n, 300n)).toEqual(texts.map((text, index) => `${index}:${text}`))
  })

  test('who waits is woken by a record, and by the first one of a new partition', async () => {
    const name = await cluster.topic()
    const topic = cluster.open(name)
    const waiting = topic.waitForMore(await topic.endOffsets(), new AbortController().signal)
    await cluster.send(name, ['first'])
    await waiting
    const ends = await topic.endOffsets()
    expect(ends).toEqual(new Map([[0, 1n]]))
    // The open fetch brought it: it is not asked for again, and once only.
    for (let again = 0; again < 2; again++) expect(await readTexts(topic, 0, 0n, 1n)).toEqual(['0:first'])
    const forPartitions = topic.waitForMore(ends, new AbortController().signal)
    await cluster.admin.createPartitions({ topicPartitions: [{ topic: name, count: 2 }] })
    await until('the partition is known', async () => (await topic.endOffsets()).size === 2)
    await cluster.send(name, ['of the new one'], 1)
    await forPartitions
    expect(await topic.endOffsets()).toEqual(new Map([0, 1].map((partition) => [partition, 1n])))
    expect(await readTexts(topic, 1, 0n, 1n)).toEqual(['0:of the new one'])
  })

  test('who waits is let go by the signal, also again and again', async () => {
    const name = await cluster.topic()
    const topic = cluster.open(name)
    const ends = await topic.endOffsets()
    for (let round = 0; round < 3; round++) {
      const signal = new AbortController()
      const waiting = topic.waitForMore(ends, signal.signal)
      signal.abort()
      await waiting
    }
    await cluster.send(name, ['after'])
    await topic.waitForMore(ends, new AbortController().signal)
    expect(await readTexts(topic, 0, 0n, 1n)).toEqual(['0:after'])
  })

  test('a range that is gone is data loss, with its partition', async () => {
    const name = await cluster.topic()
    await cluster.send(name, numbered(0, 10))
    const topic = cluster.open(name)
    await deleteRecords(cluster.admin, name, 6)
    expect(await topic.startOffsets()).toEqual(new Map([[0, 6n]]))
    const gone = { code: 'data-loss', condition: 'KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE', message: expect.stringContaining('partition 0') }
    await expect(readTexts(topic, 0, 3n, 8n)).rejects.toMatchObject(gone)
    await expect(readTexts(topic, 0, 8n, 12n)).rejects.toMatchObject(gone)
    expect(await readTexts(topic, 0, 6n, 10n)).toHaveLength(4)
  })
})
