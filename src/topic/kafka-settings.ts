/**
 * How to reach a Kafka cluster: the brokers as `--kafka` names them, and what Kafka's own clients read from a properties file
 * (Kafka documentation, "Security"). Secrets come from the file or from the environment, never from arguments, which every
 * process of the machine can read.
 *
 * A property is also read from the environment: `sasl.password` from STREAMTOP_KAFKA_SASL_PASSWORD, and so on; that goes before
 * the file, whose path may stand in STREAMTOP_KAFKA_PROPERTIES.
 */
import { dirname, resolve } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { KafkaChoice } from './kafka-choice.js'
import { readProperties } from './kafka-properties.js'

export interface KafkaAddress {
  readonly host: string
  readonly port: number
}

export interface KafkaTls {
  /** PEM. Null: the authorities that Node trusts. */
  readonly ca: string | null
  /** PEM, of a client that shows a certificate of its own. */
  readonly certificate: string | null
  readonly key: string | null
  readonly keyPassword: string | null
}

export interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

export interface KafkaSettings {
  readonly brokers: readonly KafkaAddress[]
  /** Null: no TLS. */
  readonly tls: KafkaTls | null
  readonly sasl: KafkaSasl | null
}

/** The brokers as text, for sentences. */
export function brokersText(settings: KafkaSettings): string {
  return settings.brokers.map(addressText).join(',')
}

export function addressText({ host, port }: KafkaAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** What must never be said, written or shown. */
export function secretsOf(settings: KafkaSettings): string[] {
  return [settings.sasl?.password, settings.tls?.key, settings.tls?.keyPassword].filter((secret) => typeof secret === 'string' && secret !== '') as string[]
}

/**
 * Reads the settings.
 * @param environment as `process.env`
 * @throws usage for brokers that are none; bad-config for a property that is wrong or cannot be obeyed. No message has a secret in it.
 */
export function readKafkaSettings(choice: KafkaChoice, environment: Readonly<Record<string, string | undefined>>, fx: Effects): KafkaSettings {
  const brokers = parseBrokers(choice.brokers)
  const path = choice.propertiesFile ?? environment[`${PREFIX}PROPERTIES`] ?? null
  const file = path === null ? null : resolve(path)
  const fromFile = file === null ? new Map<string, string>() : readProperties(readText(file, fx))
  const secret = SECRET.find((name) => (fromFile.get(name) ?? '') !== '')
  if (file !== null && secret !== undefined) checkPrivate(file, secret, fx)
  for (const name of fromFile.keys()) {
    if (SECURITY.test(name) && !KNOWN.has(name)) {
      throw new StreamtopError('bad-config', `${file} has ${name}, which streamtop does not know`, { hint: `of security it knows ${[...KNOWN].join(', ')}` })
    }
  }
  const get = (name: string): string | null => {
    const value = environment[`${PREFIX}${name.replaceAll('.', '_').toUpperCase()}`] ?? fromFile.get(name)
    return value === undefined || value === '' ? null : value
  }
  if (fromFile.get('ssl.endpoint.identification.algorithm') === '') {
    throw new StreamtopError('bad-config', 'ssl.endpoint.identification.algorithm is empty: streamtop always checks whose certificate it is shown', {
      hint: 'leave it out, and give the authority in ssl.truststore.location',
    })
  }
  const readPem = (name: string): string | null => {
    const place = get(name)
    if (place === null) return null
    // As the file has it: beside the file.
    const pemFile = file === null ? resolve(place) : resolve(dirname(file), place)
    const pem = readText(pemFile, fx)
    if (pem.includes('PRIVATE KEY')) checkPrivate(pemFile, 'a private key', fx)
    return pem
  }
  const protocol = protocolOf(get)
  return { brokers, tls: protocol.endsWith('SSL') ? readTls(get, readPem) : null, sasl: protocol.startsWith('SASL') ? readSasl(get, protocol, brokers) : null }
}

const PREFIX = 'STREAMTOP_KAFKA_'
const SECURITY = /^(ssl|sasl|security)\./
const KNOWN: ReadonlySet<string> = new Set([
  'security.protocol',
  'sasl.mechanism',
  'sasl.jaas.config',
  'sasl.username',
  'sasl.password',
  'ssl.truststore.type',
  'ssl.truststore.location',
  'ssl.truststore.certificates',
  'ssl.keystore.type',
  'ssl.keystore.location',
  'ssl.keystore.certificate.chain',
  'ssl.keystore.key',
  'ssl.key.password',
  'ssl.endpoint.identification.algorithm',
])

/** Properties that are secrets, or have one in them. */
const SECRET = ['sasl.password', 'sasl.jaas.config', 'ssl.keystore.key', 'ssl.key.password']

/** @throws bad-config when others of this machine may read a file with a secret in it */
function checkPrivate(path: string, secret: string, fx: Effects): void {
  const mode = fx.files.status(path)?.mode ?? 0
  if ((mode & OTHERS_MODE) === 0) return
  throw new StreamtopError('bad-config', `${path} has ${secret} in it, and others than its owner may read it (mode ${mode.toString(8).padStart(4, '0')})`, {
    hint: `chmod 600 ${path}; or leave secrets out of files: ${PREFIX}SASL_PASSWORD and so on`,
  })
}

const OTHERS_MODE = 0o077

/** The value of a property, null when it is not given or empty. */
type Get = (name: string) => string | null

/**
 * HOST:PORT with commas between; 9092 where there is no port; IPv6 in brackets.
 * @throws usage
 */
export function parseBrokers(text: string): KafkaAddress[] {
  return text.split(',').map((part) => {
    const found = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?$/.exec(part.trim())
    const port = Number(found?.[3] ?? 9092)
    const host = found?.[1] ?? found?.[2]
    if (host === undefined || port < 1 || port > 65_535) {
      throw new StreamtopError('usage', `--kafka takes HOST:PORT, several with commas between, not "${text.includes('@') ? '…' : part}"`, {
        hint: 'for example --kafka localhost:9092; a user and a password go into a properties file',
      })
    }
    return { host, port }
  })
}

function protocolOf(get: Get): string {
  const given = get('security.protocol')
  if (given === null) {
    // Whoever names a user and no protocol must not find the password on the wire.
    return get('sasl.mechanism') !== null || get('sasl.username') !== null || get('sasl.jaas.config') !== null ? 'SASL_SSL' : 'PLAINTEXT'
  }
  const protocol = given.toUpperCase()
  if (['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'].includes(protocol)) return protocol
  throw new StreamtopError('bad-config', 'security.protocol is none that Kafka has', { hint: 'it is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL' })
}

function readTls(get: Get, readPem: Get): KafkaTls {
  for (const name of ['ssl.truststore.type', 'ssl.keystore.type']) {
    const type = get(name)
    const isUsed = get(name.replace('.type', '.location')) !== null
    if (isUsed && type?.toUpperCase() !== 'PEM') {
      throw new StreamtopError('bad-config', `${name} is ${type === null ? 'JKS unless given' : 'not PEM'}, and streamtop reads PEM alone`, {
        hint: `set ${name}=PEM and give a PEM file; keytool and openssl convert`,
      })
    }
  }
  const identity = readPem('ssl.keystore.location')
  const certificate = get('ssl.keystore.certificate.chain') ?? identity
  const key = get('ssl.keystore.key') ?? identity
  return { ca: get('ssl.truststore.certificates') ?? readPem('ssl.truststore.location'), certificate, key, keyPassword: get('ssl.key.password') }
}

const MECHANISMS = { PLAIN: 'plain', 'SCRAM-SHA-256': 'scram-sha-256', 'SCRAM-SHA-512': 'scram-sha-512' } as const

function readSasl(get: Get, protocol: string, brokers: readonly KafkaAddress[]): KafkaSasl {
  const jaas = get('sasl.jaas.config')
  const mechanism = MECHANISMS[(get('sasl.mechanism') ?? (jaas?.includes('ScramLoginModule') ? '' : 'PLAIN')).toUpperCase() as keyof typeof MECHANISMS]
  if (mechanism === undefined) {
    throw new StreamtopError('bad-config', 'sasl.mechanism is none that streamtop has', { hint: `it has ${Object.keys(MECHANISMS).join(', ')}` })
  }
  const username = get('sasl.username') ?? jaasOption(jaas, 'username')
  const password = get('sasl.password') ?? jaasOption(jaas, 'password')
  if (username === null || password === null) {
    throw new StreamtopError('bad-config', `security.protocol is ${protocol}, and there is no ${username === null ? 'user' : 'password'}`, {
      hint: 'give sasl.jaas.config, or sasl.username and sasl.password, in the properties file, or STREAMTOP_KAFKA_SASL_USERNAME and _PASSWORD',
    })
  }
  if (protocol === 'SASL_PLAINTEXT' && mechanism === 'plain' && !brokers.every(({ host }) => LOOPBACK.test(host))) {
    throw new StreamtopError('bad-config', 'SASL_PLAINTEXT with PLAIN would send the password over the network as it is', {
      hint: 'use SASL_SSL, or a SCRAM mechanism',
    })
  }
  return { mechanism, username, password }
}

const LOOPBACK = /^(localhost|127\.[0-9.]+|::1)$/

/** `… required username="alice" password="secret";`: a value in quotes, with backslashes before what is meant as it is. */
function jaasOption(jaas: string | null, name: string): string | null {
  const found = jaas === null ? null : new RegExp(`\\b${name}\\s*=\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(jaas)
  return found ? (found[1] as string).replace(/\\(.)/g, '$1') : null
}

function readText(path: string, fx: Effects): string {
  const bytes = fx.files.readIfPresent(path)
  if (bytes) return bytes.toString('utf8')
  throw new StreamtopError('bad-config', `${path} is not there`, { hint: 'give the path of a file that can be read' })
}
