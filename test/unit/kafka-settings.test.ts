import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { StreamtopError } from '../../src/errors.js'
import { finalError, KafkaAnswerError, reasonOf, unreachable } from '../../src/topic/kafka-errors.js'
import { readProperties } from '../../src/topic/kafka-properties.js'
import { brokersText, type KafkaSettings, parseBrokers, readKafkaSettings, secretsOf } from '../../src/topic/kafka-settings.js'

const CANARY = 'canary-7Qx!\\"9'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function settings(properties: string, environment: Record<string, string> = {}, brokers = 'a:9092'): KafkaSettings {
  writeFileSync(join(folder, 'client.properties'), properties, { mode: 0o600 })
  return readKafkaSettings({ brokers, propertiesFile: join(folder, 'client.properties') }, environment, realEffects)
}

function errorOf(work: () => unknown): StreamtopError {
  try {
    work()
  } catch (error) {
    return error as StreamtopError
  }
  throw new Error('nothing was thrown')
}

describe('brokers', () => {
  it('hosts with and without ports, several, IPv6', () => {
    expect(parseBrokers('localhost')).toEqual([{ host: 'localhost', port: 9092 }])
    expect(parseBrokers('a.example:1, [::1]:19092')).toEqual([
      { host: 'a.example', port: 1 },
      { host: '::1', port: 19092 },
    ])
    expect(brokersText({ brokers: parseBrokers('a:1,[::1]:2'), tls: null, sasl: null })).toBe('a:1,[::1]:2')
  })

  it.each(['', 'a:0', 'a:70000', 'a:b', 'a,,b', 'http://a:9092', '::1:9092'])('refuses %j', (text) => {
    expect(errorOf(() => parseBrokers(text))).toMatchObject({ code: 'usage', message: expect.stringContaining('HOST:PORT') })
  })

  it('does not say a password that somebody put there', () => {
    for (const password of [CANARY, `a,${CANARY}`, `${CANARY},b`]) {
      expect(errorOf(() => parseBrokers(`alice:${password}@a:9092`)).message, password).not.toContain('canary')
    }
  })
})

describe('a properties file', () => {
  it('as Java reads it', () => {
    const text = '# comment\n! comment\n a = b \\\n   c\nd:e\nf g\nh\n\\u0061\\=x=\\ty\\\\\nlast=1\nlast=2'
    expect(Object.fromEntries(readProperties(text))).toEqual({ a: 'b c', d: 'e', f: 'g', h: '', 'a=x': '\ty\\', last: '2' })
    // White space of other scripts is a part of the password; a comment behind nothing but a backslash is a comment.
    expect(Object.fromEntries(readProperties('sasl.password = \u00a0\u3000x\n\\\n# comment\n\\\n  b=c'))).toEqual({ 'sasl.password': '\u00a0\u3000x', b: 'c' })
  })

  it('none: no TLS and no user', () => {
    expect(readKafkaSettings({ brokers: 'a:1', propertiesFile: null }, {}, realEffects)).toEqual({
      brokers: [{ host: 'a', port: 1 }],
      tls: null,
      sasl: null,
    })
  })

  it('user and password of the JAAS line, and of the environment, which goes before', () => {
    const jaas = 'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="al\\\\"ice" password="pa ss";'
    const properties = `security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n${jaas}\nacks=all`
    expect(settings(properties)).toMatchObject({ sasl: { mechanism: 'scram-sha-512', username: 'al"ice', password: 'pa ss' }, tls: { ca: null } })
    expect(settings(properties, { STREAMTOP_KAFKA_SASL_PASSWORD: CANARY })).toMatchObject({ sasl: { username: 'al"ice', password: CANARY } })
  })

  it('a user without a protocol is never sent in the clear', () => {
    expect(settings('sasl.username=u\nsasl.password=p').tls).not.toBeNull()
  })

  it('a truststore in PEM beside the file', () => {
    writeFileSync(join(folder, 'ca.pem'), 'PEM OF AN AUTHORITY')
    expect(settings('security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=ca.pem').tls).toMatchObject({
      ca: 'PEM OF AN AUTHORITY',
      key: null,
    })
  })

  it.each([
    ['a JKS truststore', 'security.protocol=SSL\nssl.truststore.location=x.jks', /ssl.truststore.type is JKS unless given/],
    ['no check of names', 'security.protocol=SSL\nssl.endpoint.identification.algorithm=', /always checks whose certificate/],
    ['a security setting that nobody knows', 'ssl.protocol=TLSv1.1', /ssl.protocol, which streamtop does not know/],
    ['a protocol that is none', 'security.protocol=TLS', /security.protocol is none/],
    ['a mechanism that is none of ours', 'security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.username=u\nsasl.password=p', /sasl.mechanism is none/],
    ['a user without a password', 'security.protocol=SASL_SSL\nsasl.username=u', /there is no password/],
    ['a password in the clear', 'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p', /over the network as it is/],
    ['a file that is not there', 'security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=nowhere.pem', /nowhere.pem is not there/],
  ])('%s is refused', (_, properties, message) => {
    expect(errorOf(() => settings(properties))).toMatchObject({ code: 'bad-config', message: expect.stringMatching(message) })
  })

  it.each([0o640, 0o604, 0o660, 0o777])('with a secret in it, that others may read (mode %o), is refused by name', (mode) => {
    const path = join(folder, 'client.properties')
    writeFileSync(path, `sasl.password=${CANARY}`)
    chmodSync(path, mode)
    const refused = errorOf(() => readKafkaSettings({ brokers: 'a:1', propertiesFile: path }, {}, realEffects))
    expect(refused).toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(`${path} has sasl.password in it`),
      hint: expect.stringContaining('chmod 600'),
    })
    expect(refused.message).toContain(`(mode 0${mode.toString(8)})`)
    expect(refused.message).not.toContain('canary')
    // Without a secret it may be everybody's.
    writeFileSync(path, 'security.protocol=SSL\nsasl.username=alice')
    readKafkaSettings({ brokers: 'a:1', propertiesFile: path }, {}, realEffects)
  })

  it('naming a private key that others may read is refused', () => {
    const key = join(folder, 'client.pem')
    writeFileSync(key, '-----BEGIN PRIVATE KEY-----', { mode: 0o644 })
    const named = 'security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location=client.pem'
    expect(errorOf(() => settings(named)).message).toMatch(/client\.pem has a private key in it/)
    chmodSync(key, 0o400)
    expect(settings(named).tls?.key).toContain('PRIVATE KEY')
  })

  it('to this machine a password may go in the clear', () => {
    const properties = 'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p'
    expect(settings(properties, {}, 'localhost:9092,127.0.0.1').sasl).not.toBeNull()
  })
})

/** As kafkajs throws what a broker answers: its own name, and Kafka's number in `code`. */
function kafkajsError(code: number, type: string): Error {
  return Object.assign(new Error(`about ${type}`), { name: 'KafkaJSProtocolError', type, code, retriable: false })
}

/** The ways in which it wraps one. */
function wrapped(error: Error): readonly Error[] {
  return [
    error,
    Object.assign(new Error(error.message), { name: 'KafkaJSNumberOfRetriesExceeded', cause: error }),
    Object.assign(new Error('Topic creation errors'), { name: 'KafkaJSAggregateError', errors: [error] }),
  ]
}

describe('what is told of an error', () => {
  const secret: KafkaSettings = {
    brokers: [{ host: 'a', port: 1 }],
    tls: { ca: null, certificate: 'public', key: `KEY ${CANARY}`, keyPassword: `pass ${CANARY}` },
    sasl: { mechanism: 'plain', username: 'alice', password: CANARY },
  }

  it('never a secret, whoever wrote the text', () => {
    expect(secretsOf(secret)).toHaveLength(3)
    const errors = [
      Object.assign(new Error(`SASL PLAIN authentication failed: bad password ${CANARY}`), { name: 'KafkaJSSASLAuthenticationError' }),
      Object.assign(new Error(`Connection error: KEY ${CANARY}`), { code: 'ERR_OSSL_X' }),
      Object.assign(new Error('wrapped'), { name: 'KafkaJSNumberOfRetriesExceeded', cause: new Error(`pass ${CANARY} is wrong`) }),
      new KafkaAnswerError(29, `Fetch by ${CANARY}`),
      new TypeError(`cannot read ${CANARY}`),
    ]
    for (const error of errors) {
      const said = [finalError(error, secret), unreachable(error, secret), reasonOf(error, secret)].map((told) =>
        told instanceof Error ? `${told.message} ${(told as StreamtopError).hint} ${told.stack} ${JSON.stringify(told)} ${String(told.cause)}` : String(told),
      )
      expect(said.join('\n'), error.message).not.toContain('canary')
    }
  })

  it.each([
    [new KafkaAnswerError(6, 'Fetch'), null],
    [Object.assign(new Error('connect ECONNREFUSED'), { name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' }), null],
    [new KafkaAnswerError(29, 'Fetch'), /does not allow it/],
    [Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), /is not trusted: self-signed/],
    [Object.assign(new Error('SASL PLAIN authentication failed'), { name: 'KafkaJSSASLAuthenticationError' }), /refused who we are/],
  ])('%s: %s', (error, final) => {
    const told = finalError(error, secret)
    if (final === null) expect(told).toBeNull()
    else expect(told?.message).toMatch(final)
  })

  it.each([
    [3, 'UNKNOWN_TOPIC_OR_PARTITION'],
    [6, 'NOT_LEADER_FOR_PARTITION'],
    [19, 'NOT_ENOUGH_REPLICAS'],
    [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
    [89, 'THROTTLING_QUOTA_EXCEEDED'],
  ])('an answer with code %i passes by itself, and is none that did not come', (code, type) => {
    for (const error of wrapped(kafkajsError(code, type))) {
      expect(finalError(error, secret)).toBeNull()
      expect(unreachable(error, secret)).toMatchObject({ code: 'source-missing', message: `Kafka at a:1 cannot do it now: about ${type}` })
    }
    expect(unreachable(new KafkaAnswerError(5, 'Metadata'), secret).message).toBe('Kafka at a:1 cannot do it now: Metadata: LEADER_NOT_AVAILABLE')
  })

  it.each([
    [37, 'INVALID_PARTITIONS'],
    [38, 'INVALID_REPLICATION_FACTOR'],
    [44, 'POLICY_VIOLATION'],
    [87, 'INVALID_RECORD'],
  ])('an answer with code %i is a refusal', (code, type) => {
    for (const error of wrapped(kafkajsError(code, type))) {
      expect(unreachable(error, secret)).toMatchObject({ code: 'bad-value', message: `Kafka at a:1 refused it: about ${type}`, condition: type })
    }
    expect(finalError(new KafkaAnswerError(code, 'it'), secret)?.message).toBe(`Kafka at a:1 refused it: it: ${type}`)
  })
})
