/** Transactions and compaction: records that are not there to be read, and offsets that nothing stands at. */
import { describe, expect, test } from 'vitest'
import type { Isolation, Topic } from '../../src/topic/topic.js'
import { hasKafka, messageOf, numbered, readTexts, until, useCluster } from './cluster.js'

describe.skipIf(!hasKafka)('what is not to be read', () => {
  const cluster = useCluster({ 'log.cleaner.backoff.ms': '100', 'log.initial.task.delay.ms': '500' })

  function openWith(name: string, isolation: Isolation): Topic {
    const topic = cluster.open(name)
    topic.setIsolation(isolation)
    return topic
  }

  /** A broker answers before the marker of a transaction is written: what is sent then may come to lie in front of it. */
  async function untilMarked(name: string): Promise<void> {
    const [committed, uncommitted] = [openWith(name, 'read_committed'), openWith(name, 'read_uncommitted')]
    await until('no transaction is open', async () => (await committed.endOffsets()).get(0) === (await uncommitted.endOffsets()).get(0))
  }

  /** Transactions of a producer, in order; the last may stay open. */
  async function transactions(
    name: string,
    id: string,
    ...all: readonly (readonly [records: readonly string[], how: 'commit' | 'abort' | 'open'])[]
  ): Promise<() => Promise<void>> {
    const producer = cluster.client.producer({ transactionalId: `${name}-${id}`, idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    for (const [records, how] of all) {
      const transaction = await producer.transaction()
      await transaction.send({ topic: name, messages: records.map((record) => messageOf(record, 0)) })
      if (how === 'commit') await transaction.commit()
      if (how === 'abort') await transaction.abort()
      if (how === 'open') {
        return async () => {
          await transaction.abort()
          await producer.disconnect()
        }
      }
    }
    await producer.disconnect()
    await untilMarked(name)
    return async () => {}
  }

  test('committed and aborted transactions, and markers at the end of the range', async () => {
    const name = await cluster.topic()
    await transactions(name, 'a', [['a0', 'a1'], 'commit'], [['b0', 'b1'], 'abort'], [['c0'], 'commit'])
    await cluster.send(name, ['plain'])
    await transactions(name, 'b', [['d0'], 'abort'])

    const committed = openWith(name, 'read_committed')
    const [end] = [...(await committed.endOffsets()).values()] as [bigint]
    expect(await readTexts(committed, 0, 0n, end)).toEqual(['0:a0', '1:a1', '6:c0', '8:plain'])
    expect(await readTexts(committed, 0, 3n, 6n)).toEqual([])
    expect(await readTexts(committed, 0, 4n, 7n)).toEqual(['6:c0'])
    expect(await readTexts(openWith(name, 'read_uncommitted'), 0, 0n, end)).toEqual(['0:a0', '1:a1', '3:b0', '4:b1', '6:c0', '8:plain', '9:d0'])
  })

  test('transactions that were begun before the range, of several producers, all aborted', async () => {
    const name = await cluster.topic()
    const abort1 = await transactions(name, 'one', [['x0', 'x1'], 'open'])
    const abort2 = await transactions(name, 'two', [['y0', 'y1'], 'open'])
    await cluster.send(name, ['plain'])
    await abort1()
    await abort2()
    const topic = openWith(name, 'read_committed')
    await until('both are over', async () => (await topic.endOffsets()).get(0) === 7n)
    for (let start = 0n; start < 7n; start++) expect(await readTexts(topic, 0, start, 7n)).toEqual(start <= 4n ? ['4:plain'] : [])
  })

  test('a committed reader does not go past an open transaction, and is woken when it is over', async () => {
    const name = await cluster.topic()
    await cluster.send(name, ['first'])
    const abort = await transactions(name, 'a', [['open'], 'open'])
    await cluster.send(name, ['behind'])
    const [committed, uncommitted] = [openWith(name, 'read_committed'), openWith(name, 'read_uncommitted')]
    const stable = await committed.endOffsets()
    expect(stable).toEqual(new Map([[0, 1n]]))
    expect(await uncommitted.endOffsets()).toEqual(new Map([[0, 3n]]))
    const waiting = committed.waitForMore(stable, new AbortController().signal)
    await abort()
    await waiting
    await until('the marker is counted', async () => (await committed.endOffsets()).get(0) === 4n)
    expect(await readTexts(committed, 0, 1n, 4n)).toEqual(['2:behind'])
  })

  test('compaction: holes, and batches in which nothing is left', async () => {
    const name = await cluster.topic({
      config: {
        'cleanup.policy': 'compact',
        'min.cleanable.dirty.ratio': '0.01',
        'segment.ms': '200',
        'delete.retention.ms': '100',
        'min.compaction.lag.ms': '0',
      },
    })
    const producer = cluster.client.producer({ idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    const send = (records: readonly (readonly [string, string])[]) => producer.send({ topic: name, messages: records.map((record) => messageOf(record, 0)) })
    // The first two batches are overwritten whole by the third; of the fourth one record stays.
    await send(numbered(0, 5, 'k').map((key) => [key, 'old']))
    await send(numbered(0, 5, 'k').map((key) => [key, 'older']))
    await send(numbered(0, 5, 'k').map((key) => [key, 'kept']))
    await send([
      ['l', 'old'],
      ['m', 'kept'],
      ['l', 'new'],
    ])
    const reader = cluster.open(name)
    // A segment that nothing is added to stays open: a record now and then closes it, and the cleaner comes. The four need not lie in one.
    await until('the cleaner has come', async () => {
      await send([['tick', 'tock']])
      return (await readTexts(reader, 0, 0n, 10n)).length === 0 && (await readTexts(reader, 0, 15n, 16n)).length === 0
    })
    const [end] = [...(await reader.endOffsets()).values()] as [bigint]
    const texts = await readTexts(reader, 0, 0n, end)
    expect(texts.slice(0, 5)).toEqual(numbered(10, 15, '').map((offset) => `${offset}:kept`))
    expect(texts).toContain('16:kept')
    expect(texts).not.toContain('15:old')
    for (let start = 0n; start < 18n; start++) expect((await readTexts(reader, 0, start, start + 1n)).length).toBeLessThanOrEqual(1)
    await producer.disconnect()
  })
})
