/** The walk-through of the README with `--kafka`, and a broker that dies under a running command: real processes. */
import { describe, expect, test } from 'vitest'
import { ORDERS_SHOWN } from '../orders-shown.js'
import { hasKafka, makeTopic, until, untilServed, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

const KILLED = 'the stream failed: stopped after writing batch 0, before it was committed\n'
const NINE = 'events_copy has 9 rows, 9 different\n'

describe.skipIf(!hasKafka)('commands', () => {
  const cluster = useCluster()

  test('the walk-through', { timeout: 120_000 }, async () => {
    await makeTopic(cluster.admin, 'orders')
    const at = commandFolder()
    const lines: readonly (readonly [line: string, stdout: string])[] = [
      ['produce --all', ''],
      ['run bronze_orders', 'bronze_orders has 9 rows, 9 different\n'],
      ['run events_copy --crash', KILLED + NINE],
      ['run events_copy', 'events_copy has 18 rows, 9 different\n'],
      ['reset events_copy', ''],
      ['drop events_copy', ''],
      ['run events_copy --idempotent --crash', KILLED + NINE],
      ['run events_copy --idempotent', NINE],
      ['run orders --crash', `the stream failed: stopped after merging\n${ORDERS_SHOWN}`],
      ['run orders', ORDERS_SHOWN],
    ]
    for (const [line, stdout] of lines) {
      expect({ line, ...at.streamtop(`${line} --kafka ${cluster.broker.address}`) }).toEqual({ line, exitCode: 0, stdout, stderr: '' })
    }
    expect(at.list('checkpoints', 'bronze_orders', 'offsets')).toEqual(['0'])
    expect(at.read('checkpoints', 'bronze_orders', 'offsets', '0').split('\n').at(-1)).toBe('{"orders":{"0":9}}')
    expect(at.read('checkpoints', 'bronze_orders', 'sources', '0', '0')).toBe('\0v1\n{"orders":{"0":0}}')
    expect(at.list()).not.toContain('topics.db')

    const status = JSON.parse(at.streamtop(`status --json --kafka ${cluster.broker.address}`).stdout)
    expect(status.topics).toEqual([{ name: 'orders', kind: 'kafka', partitions: 1, endOffsets: { 0: '9' } }])
    expect(status.queries[0]).toMatchObject({ name: 'bronze_orders', lag: 0, verdict: 'exactly-once' })
    // Without --kafka the checkpoint is another topic's.
    at.streamtop('produce --part 1')
    expect(at.streamtop('run bronze_orders')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('counts the offsets of topic orders (on Kafka cluster'),
    })
  })

  test('a topic is made only when asked, and has the partitions that were asked for', () => {
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic asked-for`
    expect(at.streamtop(`produce --all ${kafka}`)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--partitions N') })
    expect(at.streamtop(`run bronze_orders ${kafka}`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no topic asked-for on Kafka at'),
    })
    expect(at.streamtop(`produce --all --partitions 3 --json ${kafka}`)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"partitions":3') })
    expect(at.streamtop(`produce --all --partitions 2 ${kafka}`)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has 3 partitions, not 2') })
    expect(at.streamtop(`run bronze_orders ${kafka}`).stdout).toBe('bronze_orders has 9 rows, 9 different\n')
  })

  test('the generator never makes a record twice, over several runs', () => {
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic generated`
    at.streamtop(`produce --rate 2000 --seconds 0.5 --partitions 1 ${kafka}`)
    const sent = JSON.parse(at.streamtop(`produce --rate 2000 --seconds 0.5 --json ${kafka}`).stdout)
    const rows = Number(sent.endOffsets[0])
    expect(rows).toBeGreaterThan(sent.sent)
    expect(at.streamtop(`run bronze_orders ${kafka}`).stdout).toBe(`bronze_orders has ${rows} rows, ${rows} different\n`)
  })

  test('the broker dies under a running query: it says so, lives, and goes on by itself', { timeout: 120_000 }, async () => {
    const name = await cluster.topic()
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${name}`
    at.streamtop(`produce --part 1 ${kafka}`)
    const running = at.start(`run bronze_orders --interval 0 ${kafka}`)
    await until('batch 0 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('0'))

    await cluster.broker.kill()
    await until('the outage is told', () => running.said.stderr.includes('does not answer'))
    const status = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
    expect(status.queries[0]).toMatchObject({ state: 'waiting', lastError: { code: 'source-missing', message: expect.stringContaining('does not answer') } })
    expect(status.errors).toMatchObject([{ code: 'source-missing' }])

    await cluster.broker.restart()
    await untilServed(cluster.admin, name)
    at.streamtop(`produce --part 2 ${kafka}`)
    await until('batch 1 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('1'))
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ exitCode: 130, stdout: 'bronze_orders has 5 rows, 5 different\n' })
  })

  test('no broker at all: produce fails at once, a query waits until it is stopped', async () => {
    const at = commandFolder()
    expect(at.streamtop('produce --all --kafka 127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^streamtop: Kafka at 127.0.0.1:1 does not answer: .*\n.+\n$/),
    })
    const running = at.start('run bronze_orders --kafka 127.0.0.1:1')
    await until('it is told', () => running.said.stderr.includes('does not answer'))
    running.child.kill('SIGINT')
    expect((await running.ended).exitCode).toBe(130)
  })
})
