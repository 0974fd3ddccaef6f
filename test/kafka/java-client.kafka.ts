/** Kafka's own client beside ours: what one writes the other reads, and a key lands in the same partition. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import { hasKafka, numbered, useCluster } from './cluster.js'

const CLIENT = fileURLToPath(new URL('JavaClient.java', import.meta.url))
const PARTITIONS = 4
const RECORDS = [...numbered(0, 300, ''), 'ключ', 'a'.repeat(500), ' '].map((key) => ({ key, value: `value of ${key} `.repeat(20) }))

/** Runs a program of the JDK; gives what it printed. */
function jdk(program: 'java' | 'javac', words: readonly string[], input = ''): string {
  const command = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin', program) : program
  const { status, stdout, stderr } = spawnSync(command, words, { input, encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
  return stdout
}

describe.skipIf(!hasKafka)('Java’s client', () => {
  const cluster = useCluster()
  const classes = mkdtempSync(join(tmpdir(), 'streamtop-kafka-'))
  beforeAll(() => {
    if (hasKafka) jdk('javac', ['-d', classes, '-cp', join(inject('kafkaJars'), '*'), CLIENT])
    return () => rmSync(classes, { recursive: true, force: true })
  })

  /** Runs Java's client; gives its lines, sorted: partition, offset, key, value. */
  function java(words: readonly string[], input = ''): string[] {
    const quick = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
    const options = [
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
      '-Dfile.encoding=UTF-8',
      '-cp',
      [classes, join(inject('kafkaJars'), '*')].join(delimiter),
    ]
    return jdk('java', [...quick, ...options, 'JavaClient', ...words], input)
      .split('\n')
      .slice(0, -1)
      .sort()
  }

  /** The same lines as we read them. */
  async function readLines(name: string): Promise<string[]> {
    const topic = cluster.open(name)
    const lines: string[] = []
    for (const [partition, end] of await topic.endOffsets()) {
      for await (const { keys, values, offsets } of topic.read(partition, 0n, end)) {
        for (const [row, offset] of offsets.entries()) lines.push([partition, offset, text(keys[row]), text(values[row])].join('\t'))
      }
    }
    return lines.sort()
  }

  test.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'])('writes with %s, and we read it', async (codec) => {
    const name = await cluster.topic({ partitions: PARTITIONS })
    const input = RECORDS.map(({ key, value }) => `${key}\t${value}\n`).join('')
    const written = java(['produce', cluster.broker.address, name, codec], input)
    expect(written).toHaveLength(RECORDS.length)
    expect(await readLines(name)).toEqual(written)
  })

  test('reads what we write, and each key lies where it would have put it', async () => {
    const [ours, theirs] = [await cluster.topic({ partitions: PARTITIONS }), await cluster.topic({ partitions: PARTITIONS })]
    const producer = await openKafkaProducer(cluster.settings, ours, { workspace: cluster.broker.folder }, realEffects)
    await producer.send(RECORDS.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) })))
    await producer.close()
    const read = java(['consume', cluster.broker.address, ours, String(RECORDS.length)])
    expect(read).toEqual(await readLines(ours))
    expect(read).toEqual(java(['produce', cluster.broker.address, theirs, 'none'], RECORDS.map(({ key, value }) => `${key}\t${value}\n`).join('')))
  })
})

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8')
}
