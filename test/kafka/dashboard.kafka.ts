/** The dashboard without a screen on a real broker: it dies and comes back, and a topic is not what it was; real processes throughout. */
import { describe, expect, test } from 'vitest'
import { deleteTopic, hasKafka, makeTopic, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

describe.skipIf(!hasKafka)('the dashboard', () => {
  const cluster = useCluster()

  test('the broker is killed: queries say so and wait; started again: all go on; nothing is there twice, nothing is missing', {
    timeout: 120_000,
  }, async () => {
    const topic = await cluster.topic({ partitions: 3 })
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --all ${kafka}`)
    const dashboard = at.start(`--plain --seconds 100 --pace full --rate 20 ${kafka}`)
    const says = (what: string, text: string | RegExp) => until(what, () => dashboard.said.stdout.search(text) >= 0)
    await says('generated orders are copied', /events_copy batch [1-9]\d* committed/)

    await cluster.broker.kill()
    await says('the query waits', /bronze_orders waits: Kafka at 127\.0\.0\.1:\d+ does not answer \(.+\); it is tried again/)
    await says('the broker is down', /topic Kafka at 127\.0\.0\.1:\d+ (does not answer|has not answered)/)
    await says('the generator waits', 'topic the generator waits: Kafka at')

    await cluster.broker.restart()
    await says('the broker is up', /topic Kafka at 127\.0\.0\.1:\d+ answers again/)
    await says('the generator goes on', 'topic the generator goes on')
    await says('the copies go on', /bronze_orders goes on(.|\n)*events_copy batch \d+ committed/)
    dashboard.child.kill('SIGINT')
    const { exitCode, stdout, stderr } = await dashboard.ended
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })

    // What came after the last batch is read to its end, and then nothing is left.
    for (const query of ['bronze_orders', 'events_copy']) expect(at.streamtop(`run ${query} ${kafka}`)).toMatchObject({ exitCode: 0, stderr: '' })
    const { queries } = JSON.parse(at.streamtop(`status --json ${kafka}`).stdout)
    for (const name of ['bronze_orders', 'events_copy']) {
      expect(stdout).toMatch(new RegExp(`${name} has (\\d+) rows, \\1 different, 0 duplicates, 0 missing: exactly-once`))
      expect(queries.find((query: { name: string }) => query.name === name)).toMatchObject({ lag: 0, duplicates: 0, missing: 0 })
    }
    expect(queries[0].rows).toBe((await cluster.admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0))
    expect(at.list()).not.toContain('topics.db')
  })

  test('the topic is deleted and made again, longer: the query stops and says why', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --part 1 ${kafka}`)
    const dashboard = at.start(`--plain --seconds 100 --pace full --rate 0 ${kafka}`)
    await until('the rows are there', () => dashboard.said.stdout.includes('bronze_orders batch 0 committed: +3 rows'))
    await deleteTopic(cluster.admin, topic)
    await makeTopic(cluster.admin, topic)
    at.streamtop(`produce --all ${kafka}`)
    await until('it has failed', () => /bronze_orders failed: topic \S+ was deleted/.test(dashboard.said.stdout))
    dashboard.child.kill('SIGINT')
    expect((await dashboard.ended).stdout).toMatch(/bronze_orders has 3 rows, 3 different, 0 duplicates, 0 missing/)
  })

  test('a frame: the broker and each partition; of one that is down that it is', async () => {
    const topic = await cluster.topic({ partitions: 2 })
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --all ${kafka}`)
    at.streamtop(`run bronze_orders ${kafka} --option maxOffsetsPerTrigger=5`)
    const { exitCode, stdout } = at.streamtop(`frame --columns 120 --rows 40 --query bronze_orders ${kafka}`)
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`kafka ${cluster.broker.address} connected`)
    expect(stdout).toContain(`topic ${topic}, 2 partitions`)
    expect(stdout).toMatch(/0: end \d, all read +1: end \d, all read/)
    expect(at.streamtop('frame --kafka 127.0.0.1:1').stdout).toMatch(/kafka( 127\.0\.0\.1:1)? down since/)
    expect(at.streamtop('frame --kafka broker:port')).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('no broker, a topic that is not there, and a choice that is wrong', async () => {
    const at = commandFolder()
    expect(at.streamtop('--plain --seconds 1 --kafka broker:port')).toMatchObject({ exitCode: 2, stdout: '' })
    const nobody = at.start('--plain --seconds 100 --kafka 127.0.0.1:1')
    await until('the query waits', () => /bronze_orders waits: Kafka at 127.0.0.1:1 does not answer/.test(nobody.said.stdout))
    nobody.child.kill('SIGINT')
    expect((await nobody.ended).exitCode).toBe(130)

    const missing = at.start(`--plain --seconds 100 --kafka ${cluster.broker.address} --topic not-made`)
    await until('it is said', () => /topic there is no topic not-made on Kafka at \S+; make it: streamtop produce/.test(missing.said.stdout))
    await until('the query waits', () => missing.said.stdout.includes('bronze_orders waits for topic not-made'))
    missing.child.kill('SIGINT')
    await missing.ended
    expect(await cluster.admin.listTopics()).not.toContain('not-made')
  })
})
