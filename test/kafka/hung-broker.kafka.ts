/** A broker that hangs (SIGSTOP): it takes connections and answers nothing. Who waits says so soon, who does not gives up, and a stop is at once. */
import { describe, expect, test } from 'vitest'
import { hasKafka, until, untilServed, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

/** An answer is waited for by kafkajs for 30 seconds; nobody here does. */
const SOON_MS = 15_000

describe.skipIf(!hasKafka)('a broker that hangs', () => {
  const cluster = useCluster()
  const hang = () => process.kill(cluster.broker.pid, 'SIGSTOP')
  const wake = () => process.kill(cluster.broker.pid, 'SIGCONT')

  test('a running query says so and goes on by itself; status and produce do not wait', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --part 1 ${kafka}`)
    const running = at.start(`run bronze_orders --interval 0 ${kafka}`)
    await until('batch 0 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('0'))

    hang()
    try {
      await until(
        'it is told',
        () => /bronze_orders: Kafka at \S+ does not answer \(nothing came for \d+ s\); it is tried again/.test(running.said.stderr),
        SOON_MS,
      )
      const beganMs = performance.now()
      const status = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
      expect(performance.now() - beganMs).toBeLessThan(SOON_MS)
      expect(status.queries[0]).toMatchObject({ state: 'waiting', lastError: { message: expect.stringContaining('nothing came for') } })
      expect(status.errors).toMatchObject([{ message: expect.stringMatching(/^Kafka at \S+ does not answer|^Kafka at \S+ has not answered for 2 s/) }])
      const produced = at.streamtop(`produce --part 2 ${kafka}`)
      expect(produced).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^streamtop: Kafka at \S+ does not answer: nothing came for 3 s\n/) })
    } finally {
      wake()
    }

    await untilServed(cluster.admin, topic)
    at.streamtop(`produce --part 3 ${kafka}`)
    await until('batch 1 is committed', () => at.list('checkpoints', 'bronze_orders', 'commits').includes('1'))
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ exitCode: 130, stdout: 'bronze_orders has 5 rows, 5 different\n' })
  })

  test('a query and a dashboard that sends end at once', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const [at, beside] = [commandFolder(), commandFolder()]
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    const query = beside.start(`run bronze_orders --interval 0 ${kafka}`)
    const dashboard = at.start(`--plain --seconds 100 --pace full --rate 50 ${kafka}`)
    await until('generated orders are copied', () => /events_copy batch \d+ committed/.test(dashboard.said.stdout))
    hang()
    try {
      await until('the broker is down', () => /topic Kafka at \S+ (does not answer|has not answered)/.test(dashboard.said.stdout), SOON_MS)
      await until('the query waits', () => dashboard.said.stdout.includes('bronze_orders waits: Kafka at'), SOON_MS)
      const beganMs = performance.now()
      dashboard.child.kill('SIGINT')
      query.child.kill('SIGINT')
      expect([(await dashboard.ended).exitCode, (await query.ended).exitCode]).toEqual([130, 130])
      expect(performance.now() - beganMs).toBeLessThan(SOON_MS)
    } finally {
      wake()
    }
  })
})
