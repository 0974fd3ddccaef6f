/** Connections on which nothing happens: what they cost, and that one which the broker closes for it is opened again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { StreamtopError } from '../../src/errors.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import { openTerminal } from '../integration/pseudo-terminal.js'
import { hasKafka, readTexts, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

/** The timer that kafkajs sets on each idle connection costs 3 %; the budget, 1 %, is the bench's to judge. */
const PERCENT = 2
const SECONDS = 3

describe.skipIf(!hasKafka)('idle', () => {
  const cluster = useCluster({ 'connections.max.idle.ms': '1000' })

  test.skipIf(process.platform !== 'linux')('a paused dashboard takes next to nothing', { timeout: 120_000 }, async () => {
    const topic = await cluster.topic()
    const at = commandFolder()
    const kafka = `--kafka ${cluster.broker.address} --topic ${topic}`
    at.streamtop(`produce --all ${kafka}`)
    at.streamtop(`run bronze_orders ${kafka}`)
    const dashboard = openTerminal(`--rate 0 ${kafka}`, { folder: at.folder, columns: 120, rows: 40, program: join(inject('kafkaDist'), 'cli.js') })
    await dashboard.shows(/bronze_orders +topic .* 9 +9 +0 +0 /)
    dashboard.press(' ')
    await dashboard.shows('PAUSED')
    // What was under way settles; a timer that is set again and again does not.
    await until(`it takes less than ${PERCENT} % of a core`, async () => {
      const before = processorSeconds(dashboard.pid)
      await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000))
      return ((processorSeconds(dashboard.pid) - before) / SECONDS) * 100 < PERCENT
    })
    dashboard.press('q')
    await dashboard.ended
  })

  test('a connection that the broker closed is opened again, and nobody hears of it', async () => {
    const topic = await cluster.topic()
    const outages: (StreamtopError | null)[] = []
    const read = cluster.open(topic, { onOutage: (error) => outages.push(error) })
    const producer = await openKafkaProducer(cluster.settings, topic, { workspace: cluster.broker.folder }, realEffects)
    for (const value of ['first', 'second']) {
      await producer.send([{ key: null, value: Buffer.from(value) }])
      await read.endOffsets()
      await until('every connection is closed', () => !process.getActiveResourcesInfo().includes('TCPSocketWrap'))
    }
    expect(await read.endOffsets()).toEqual(new Map([[0, 2n]]))
    expect(await readTexts(read, 0, 0n, 2n)).toEqual(['0:first', '1:second'])
    expect(outages).toEqual([])
    await producer.close()
  })
})

/** Of a process, all its threads. */
function processorSeconds(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? []
  return (Number(user) + Number(system)) / 100
}
