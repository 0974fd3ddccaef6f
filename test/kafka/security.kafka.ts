/** TLS and SASL against a broker that asks for both; and a secret that must not be anywhere. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Broker, freePort, startBroker } from '../../scripts/kafka-broker.mjs'
import { hasKafka } from './cluster.js'
import { commandFolder } from './kafka-command.js'

const SECRET = 'canary-Zq7c0ffee'
const WRONG = 'canary-wr0ng'
/** Two queries of the topic whose code fails, where it is caught and where it is not. */
const OWN_QUERIES = `
import { query, topic, foreachBatch } from 'streamtop'
export default [
  query('throws', topic('orders'), foreachBatch(async () => { throw new Error('thrown in foreachBatch') })),
  query('throws_outside', topic('orders'), foreachBatch(async () => {
    setTimeout(() => { throw new Error('thrown in a timer') }, 0)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
  })),
]
`
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

describe.skipIf(!hasKafka)('TLS and SASL', () => {
  let folder: string
  let broker: Broker
  let address: string

  beforeAll(async () => {
    if (!hasKafka) return
    folder = mkdtempSync(join(tmpdir(), 'streamtop-kafka-'))
    keytool('-genkeypair', '-keyalg', 'RSA', '-dname', 'CN=localhost', '-ext', 'SAN=dns:localhost,ip:127.0.0.1', '-validity', '30', '-storetype', 'PKCS12')
    keytool('-exportcert', '-rfc', '-file', join(folder, 'ca.pem'))
    const port = await freePort()
    address = `localhost:${port}`
    const login = 'org.apache.kafka.common.security'
    broker = await startBroker({
      jars: inject('kafkaJars'),
      folder: join(folder, 'broker'),
      listeners: [{ protocol: 'SASL_SSL', port }],
      formatWords: MECHANISMS.slice(1).flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=alice,password=${SECRET}]`]),
      settings: {
        'ssl.keystore.location': join(folder, 'store'),
        'ssl.keystore.password': 'store-password',
        'sasl.enabled.mechanisms': MECHANISMS.join(','),
        'listener.name.sasl_ssl.plain.sasl.jaas.config': `${login}.plain.PlainLoginModule required user_alice="${SECRET}";`,
        'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': `${login}.scram.ScramLoginModule required;`,
        'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': `${login}.scram.ScramLoginModule required;`,
      },
    })
  })

  afterAll(async () => {
    await broker?.kill()
    if (hasKafka) rmSync(folder, { recursive: true, force: true })
  })

  function keytool(...words: string[]): void {
    const command = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin', 'keytool') : 'keytool'
    const { status, stdout, stderr } = spawnSync(command, [...words, '-alias', 'broker', '-keystore', join(folder, 'store'), '-storepass', 'store-password'])
    if (status !== 0) throw new Error(`keytool: ${stdout}${stderr}`)
  }

  /** Writes a properties file; gives the words that name it. */
  function properties(lines: readonly string[]): string {
    const path = join(folder, 'client.properties')
    rmSync(path, { force: true })
    writeFileSync(path, lines.join('\n'), { mode: 0o600 })
    return `--kafka ${address} --kafka-properties ${path}`
  }

  const TRUST = ['security.protocol=SASL_SSL', 'ssl.truststore.type=PEM', 'ssl.truststore.location=ca.pem']
  const jaas = (module: string, password: string) =>
    `sasl.jaas.config=org.apache.kafka.common.security.${module} required username="alice" password="${password}";`

  test.each(MECHANISMS)('%s over TLS: produce, run, status', (mechanism) => {
    const module = mechanism === 'PLAIN' ? 'plain.PlainLoginModule' : 'scram.ScramLoginModule'
    const kafka = `${properties([...TRUST, `sasl.mechanism=${mechanism}`, jaas(module, SECRET)])} --topic ${mechanism.toLowerCase()}`
    const at = commandFolder()
    expect(at.streamtop(`produce --all --partitions 1 ${kafka}`)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(at.streamtop(`run bronze_orders ${kafka}`)).toEqual({ exitCode: 0, stdout: 'bronze_orders has 9 rows, 9 different\n', stderr: '' })
    expect(at.streamtop(`status ${kafka}`).stdout).toContain('exactly-once')
    expect(filesWith(at.folder, 'canary')).toEqual([])
  })

  test('a kill, a crash of somebody’s own code, a dashboard and a picture of it: the secret is nowhere', () => {
    const kafka = `${properties([...TRUST, 'sasl.mechanism=PLAIN', jaas('plain.PlainLoginModule', SECRET)])} --topic crashes`
    const at = commandFolder()
    writeFileSync(join(at.folder, 'streamtop.config.mjs'), OWN_QUERIES)
    const debug = { STREAMTOP_DEBUG: '1', KAFKAJS_LOG_LEVEL: 'DEBUG', KAFKAJS_DEBUG_PROTOCOL_BUFFERS: '1' }
    const lines = [
      ['produce --all --partitions 1', 0],
      ['run bronze_orders --crash', 0],
      ['run throws', 1],
      ['run throws_outside', 1],
      ['--plain --seconds 2', 0],
      ['frame --svg picture.svg', 0],
      ['status --json', 0],
    ] as const
    for (const [line, exitCode] of lines) {
      const said = at.streamtop(`${line} ${kafka}`, debug)
      expect({ line, ...said }).toMatchObject({ line, exitCode })
      expect(said.stdout + said.stderr).not.toContain('canary')
    }
    expect(filesWith(at.folder, 'canary')).toEqual([])
  })

  test('a properties file that others may read is refused by its name', () => {
    const kafka = properties([...TRUST, 'sasl.mechanism=PLAIN', jaas('plain.PlainLoginModule', SECRET)])
    chmodSync(join(folder, 'client.properties'), 0o644)
    const said = commandFolder().streamtop(`produce --all ${kafka}`)
    expect(said).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/client\.properties has sasl\.jaas\.config in it, and others .* \(mode 0644\)\n.*chmod 600/),
    })
    expect(said.stderr).not.toContain('canary')
  })

  test('the password from the environment', () => {
    const kafka = `${properties([...TRUST, 'sasl.mechanism=PLAIN', 'sasl.username=alice'])} --topic from-environment`
    const at = commandFolder()
    const environment = { STREAMTOP_KAFKA_SASL_PASSWORD: SECRET }
    expect(at.streamtop(`produce --all --partitions 1 ${kafka}`, environment)).toMatchObject({ exitCode: 0, stderr: '' })
    // The query's process has it from there too.
    expect(at.streamtop(`run bronze_orders ${kafka}`, environment).stdout).toBe('bronze_orders has 9 rows, 9 different\n')
  })

  test.each([
    ['a wrong password', [...TRUST, 'sasl.mechanism=PLAIN', jaas('plain.PlainLoginModule', WRONG)], /refused who we are/],
    ['a wrong password by SCRAM', [...TRUST, 'sasl.mechanism=SCRAM-SHA-512', jaas('scram.ScramLoginModule', WRONG)], /refused who we are/],
    [
      'an authority that nobody trusts',
      ['security.protocol=SASL_SSL', 'sasl.mechanism=PLAIN', jaas('plain.PlainLoginModule', SECRET)],
      /certificate of Kafka at .* is not trusted/,
    ],
  ])('%s: refused at once, by produce, by a query and in the status, and the secret is nowhere', (_, lines, sentence) => {
    const kafka = properties(lines)
    const at = commandFolder()
    const debug = { STREAMTOP_DEBUG: '1', KAFKAJS_LOG_LEVEL: 'DEBUG' }
    const said = [
      at.streamtop(`produce --all ${kafka}`, debug),
      at.streamtop(`produce --all --json ${kafka}`, debug),
      at.streamtop(`run bronze_orders ${kafka}`, debug),
      at.streamtop(`status --json ${kafka}`, debug),
    ]
    for (const { stdout, stderr } of said) {
      expect(stdout + stderr).toMatch(sentence)
      expect(stdout + stderr).not.toContain('canary')
    }
    expect(said.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 0])
    expect(filesWith(at.folder, 'canary')).toEqual([])
  })
})

/** Files below a folder that hold a text. */
function filesWith(folder: string, text: string): string[] {
  const { stdout } = spawnSync('grep', ['-rl', text, folder], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line !== '')
}
