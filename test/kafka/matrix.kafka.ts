/** `streamtop matrix --kafka`: the native sink killed at each step on a real topic, which is made for it and gone afterwards. */
import { describe, expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { hasKafka, until, useCluster } from './cluster.js'
import { commandFolder } from './kafka-command.js'

describe.skipIf(!hasKafka)('the matrix', () => {
  const cluster = useCluster()
  const topics = async () => (await cluster.admin.listTopics()).filter((name) => name.startsWith('streamtop-matrix-'))
  /** A broker that has deleted a topic may have it in its list for a moment. */
  const gone = () => until('its topic is gone', async () => (await topics()).length === 0)

  test('every death of the native sink, from a topic of its own', { timeout: 120_000 }, async () => {
    const at = commandFolder()
    const { exitCode, stdout, stderr } = at.streamtop(`matrix --json --kafka ${cluster.broker.address}`, { TMPDIR: at.folder })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const { kafka, deaths } = JSON.parse(stdout)
    expect(kafka).toEqual({ brokers: cluster.broker.address, topic: expect.stringMatching(/^streamtop-matrix-[0-9a-f]{8}$/) })
    const expected = STEPS.map((step) => ({ way: 'native', step, isRight: true, found: { tables: [{ rows: 9, distinct: 9, verdict: 'exactly-once' }] } }))
    expect(deaths).toMatchObject(expected)
    await gone()
    expect(at.list()).toEqual([])
  })

  test('ctrl-c removes the topic too', { timeout: 60_000 }, async () => {
    const at = commandFolder()
    const { child, ended } = at.start(`matrix --kafka ${cluster.broker.address}`)
    await until('the topic is there', async () => (await topics()).length > 0)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' })
    await gone()
  })
})
