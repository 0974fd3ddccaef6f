/** Scenarios played on a real topic: real processes, the same expectations and the same transcript. The topic is made for the play, and gone after it. */
import { afterEach, describe, expect, test } from 'vitest'
import { hasKafka, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

describe.skipIf(!hasKafka)('play --kafka', () => {
  const cluster = useCluster()
  const topics = async () => (await cluster.admin.listTopics()).filter((name) => name.startsWith('orders-'))
  // A broker that has deleted a topic may have it in its list for a moment.
  afterEach(() => until('its topic is gone', async () => (await topics()).length === 0))

  // The topic itself, records that are no orders in a batch that runs again, and a query that goes on and on.
  test.each(['01', '13', '15'])('scenario %s: as on the embedded topic, line by line', { timeout: 120_000 }, async (scenario) => {
    const at = commandFolder()
    const onKafka = at.streamtop(`play ${scenario} --plain --kafka ${cluster.broker.address}`)
    expect(onKafka).toEqual({ exitCode: 0, stdout: at.streamtop(`play ${scenario} --plain --virtual`).stdout, stderr: '' })
    expect(at.list()).toEqual([])
  })

  test('ctrl-c removes the topic too', { timeout: 60_000 }, async () => {
    const at = commandFolder()
    // Slow enough not to be over before that is seen.
    const { child, ended } = at.start(`play 01 --plain --speed 1 --kafka ${cluster.broker.address}`)
    await until('the topic is there', async () => (await topics()).length > 0)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130 })
  })

  test('what cannot be is refused: no broker, and a virtual world', async () => {
    const at = commandFolder()
    expect(at.streamtop('play 01 --plain --kafka 127.0.0.1:1')).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('error source-missing') })
    expect(at.streamtop('play 01 --virtual --kafka 127.0.0.1:1')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--virtual has no Kafka') })
  })
})
