/**
 * Connections to the brokers of a cluster, and every use of what kafkajs does not promise. Its clients are not used to read: they
 * cannot promise an exact range. What is used are its sockets, TLS, SASL and request queue, through the objects behind its public
 * class. kafkajs 2.2.4 is pinned and in the bundle, so these are what they were when this was written; a start checks it all the
 * same and names what is missing.
 *
 * A connection that had an error is never used again: kafkajs keeps the half of an answer that had come, and would read the next
 * answer behind it.
 */
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { Kafka, logLevel } from 'kafkajs'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { KafkaSilenceError, safe } from './kafka-errors.js'
import type { KafkaRequest } from './kafka-requests.js'
import { addressText, type KafkaAddress, type KafkaSettings } from './kafka-settings.js'
import { unlessSilent } from './kafka-silence.js'

export interface KafkaConnection {
  /**
   * Sends a request to one broker, or to whichever answers; those that did not answer the last time are asked last.
   * @throws what kafkajs throws, see `finalError`, and a KafkaSilenceError; the next call connects again
   */
  send<Answer>(to: KafkaAddress | null, request: KafkaRequest<Answer>): Promise<Answer>
  /** Ends what is under way with an error. */
  close(): Promise<void>
}

/**
 * kafkajs's public class for these settings: silent, quick to give up, and without its timers of an idle connection.
 * @throws bad-config for a certificate or a key of our own that TLS cannot take
 */
export function kafkaClient(settings: KafkaSettings): Kafka {
  const { tls, sasl } = settings
  const kafka = new Kafka({
    clientId: 'streamtop',
    brokers: settings.brokers.map(addressText),
    // What kafkajs would log is thrown as well; its environment variable for the level cannot bring noise onto a screen.
    logLevel: logLevel.NOTHING,
    logCreator: () => () => {},
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: CLIENT_TIMEOUT_MS,
    retry: { initialRetryTime: 100, retries: 5 },
    ...(tls === null ? {} : { ssl: tlsOptions(settings) }),
    ...(sasl === null ? {} : { sasl: { ...sasl } as never }),
  })
  return kafka
}

const CONNECTION_TIMEOUT_MS = 10_000
/** Of what kafkajs itself sends. An idempotent producer sends the same again, which the broker knows. */
const CLIENT_TIMEOUT_MS = 10_000
/** Of what is asked here; a silence ends it sooner. */
const REQUEST_TIMEOUT_MS = 30_000

/** For `tls.connect`, which checks certificates unless it is told not to. */
function tlsOptions(settings: KafkaSettings): Record<string, string> {
  const { tls } = settings
  const given = { ca: tls?.ca, cert: tls?.certificate, key: tls?.key, passphrase: tls?.keyPassword }
  const options = Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  try {
    // kafkajs would find this out with each connection, and say it as of a broker that is down.
    if (options['cert'] !== undefined || options['key'] !== undefined) createSecureContext(options)
  } catch (error) {
    throw new StreamtopError(
      'bad-config',
      `the certificate and key of our own cannot be used: ${safe(error instanceof Error ? error.message : '', settings)}`,
      {
        hint: 'look at ssl.keystore.location (or ssl.keystore.certificate.chain and ssl.keystore.key) and ssl.key.password',
      },
    )
  }
  return options
}

/** A silence that is taken for a broker that hangs. It doubles, so that one that is always slow is reached at last. */
const FIRST_SILENCE_MS = 3_000
const LONGEST_SILENCE_MS = 30_000

/**
 * Opens nothing yet: the first request connects.
 * @param silenceMs how long nothing may come from a broker that was asked; unless given three seconds, and longer after each silence
 */
export function openKafkaConnection(settings: KafkaSettings, { silenceMs }: { readonly silenceMs?: number }, fx: Effects): KafkaConnection {
  const internals = internalsOf(kafkaClient(settings))
  const lines = new Map<string, Promise<Line>>()
  /** By address, of brokers that did not answer the last time: how long they are given the next time. */
  const failed = new Map<string, number>()
  const closing = new AbortController()

  async function sendTo<Answer>(address: KafkaAddress, request: KafkaRequest<Answer>): Promise<Answer> {
    if (closing.signal.aborted) throw new Error('the connection to Kafka is closed')
    const key = addressText(address)
    const patienceMs = failed.get(key) ?? silenceMs ?? FIRST_SILENCE_MS
    const line = lines.get(key) ?? openLine(internals, address, patienceMs, closing.signal, fx)
    lines.set(key, line)
    try {
      const answer = await (await line).send(request, patienceMs)
      failed.delete(key)
      return answer
    } catch (error) {
      failed.set(key, error instanceof KafkaSilenceError ? (silenceMs ?? Math.min(LONGEST_SILENCE_MS, 2 * patienceMs)) : patienceMs)
      if (lines.get(key) === line) lines.delete(key)
      void line.then(
        (opened) => opened.drop(error),
        () => {},
      )
      throw error
    }
  }

  return {
    async send(to, request) {
      if (to !== null) return sendTo(to, request)
      const isFailed = (address: KafkaAddress) => Number(failed.has(addressText(address)))
      let failure: unknown = null
      for (const address of [...settings.brokers].sort((a, b) => isFailed(a) - isFailed(b))) {
        try {
          return await sendTo(address, request)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    async close() {
      closing.abort()
      const open = [...lines.values()]
      lines.clear()
      await Promise.all(
        open.map((line) =>
          line.then(
            (opened) => opened.drop(new Error('closed')),
            () => {},
          ),
        ),
      )
    },
  }
}

/** One broker, with a socket for fetches and one for everything else. */
interface Line {
  /** @throws KafkaSilenceError when nothing comes for that long */
  send<Answer>(request: KafkaRequest<Answer>, silenceMs: number): Promise<Answer>
  drop(error: unknown): Promise<void>
}

async function openLine(internals: Internals, address: KafkaAddress, silenceMs: number, closing: AbortSignal, fx: Effects): Promise<Line> {
  const pool = await internals.connectionPoolBuilder.build(address)
  pool.pool.forEach(checkConnection)
  const broker = internals.brokerPool.createBroker({ connectionPool: pool, logger: internals.rootLogger, nodeId: null })
  requireFunctions('broker', broker, ['connect', 'disconnect'])
  const drop = async (error: unknown): Promise<void> => {
    for (const { requestQueue } of pool.pool) requestQueue.rejectAll(error)
    await broker.disconnect().catch(() => {})
    // A broker that hangs would leave the socket half closed.
    for (const { socket } of pool.pool) socket?.destroy()
  }
  const bytesFrom = (index: number) => pool.pool[index]?.socket?.bytesRead ?? 0
  try {
    await unlessSilent(broker.connect(), { silenceMs, bytesRead: () => bytesFrom(0), closing }, fx)
  } catch (error) {
    await drop(error)
    throw error
  }
  const opening = new Map<number, Promise<unknown>>()

  /**
   * Opens a socket that is not open: the one for fetches is not at first, and a broker closes those that are idle for long. Two requests
   * at once would each open it, and one of the two would be lost.
   */
  async function open(index: number): Promise<void> {
    const begun = opening.get(index) ?? pool.getConnection(index).finally(() => opening.delete(index))
    opening.set(index, begun)
    await begun
  }

  async function sendOn<Answer>({ key, version, name, body, waitMs, decode }: KafkaRequest<Answer>): Promise<Answer> {
    await open(socketOf(key))
    return pool.send({
      request: { apiKey: key, apiVersion: version, apiName: name, encode: async () => ({ buf: body, buffer: body }) },
      response: { decode: async (bytes: Buffer) => ({ answer: decode(bytes), clientSideThrottleTime: null }), parse: async ({ answer }) => answer },
      requestTimeout: REQUEST_TIMEOUT_MS + waitMs,
      logResponseError: false,
    })
  }

  return {
    async send(request, patienceMs) {
      checkVersion(broker.versions, request)
      const bytesRead = () => bytesFrom(socketOf(request.key))
      return unlessSilent(sendOn(request), { silenceMs: patienceMs + request.waitMs, bytesRead, closing }, fx)
    },
    drop,
  }
}

const FETCH = 1

/** Which of a broker's two sockets kafkajs takes for a request. */
function socketOf(key: number): number {
  return key === FETCH ? 1 : 0
}

function checkVersion(versions: Versions, { key, version, name }: KafkaRequest<unknown>): void {
  const known = versions[key]
  if (known && known.minVersion <= version && version <= known.maxVersion) return
  const has = known ? `${known.minVersion} to ${known.maxVersion}` : 'none'
  throw new StreamtopError('unsupported-feature', `the broker does not have ${name} in version ${version}: it has ${has}`, {
    hint: 'streamtop reads brokers from 2.8 to 4.x',
    condition: 'UNSUPPORTED_VERSION',
  })
}

// What kafkajs does not promise, from here on.

interface Internals {
  readonly rootLogger: unknown
  readonly connectionPoolBuilder: { build(address: KafkaAddress): Promise<ConnectionPool> }
  readonly brokerPool: { createBroker(options: { connectionPool: ConnectionPool; logger: unknown; nodeId: null }): Broker }
}

type Versions = Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>

interface Broker {
  readonly versions: Versions
  connect(): Promise<void>
  disconnect(): Promise<void>
}

interface ConnectionPool {
  readonly pool: readonly Connection[]
  getConnection(index: number): Promise<Connection>
  send<Answer>(message: {
    readonly request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<{ buf: Buffer; buffer: Buffer }> }
    readonly response: {
      decode(bytes: Buffer): Promise<{ answer: Answer; clientSideThrottleTime: null }>
      parse(decoded: { answer: Answer }): Promise<Answer>
    }
    readonly requestTimeout: number
    readonly logResponseError: boolean
  }): Promise<Answer>
}

interface Connection {
  readonly requestQueue: RequestQueue
  /** Takes what came from the socket. */
  processData(bytes: Buffer): void
  /** Set by `connect`. */
  readonly socket?: Socket
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  rejectAll(error: unknown): void
  scheduleCheckPendingRequests(): void
}

/** The factory of clusters, which the public class keeps behind a symbol: a cluster knows the options and makes pools and brokers. */
function internalsOf(kafka: Kafka): Internals {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === 'private:Kafka:createCluster')
  const createCluster = symbol && (kafka as unknown as Record<symbol, unknown>)[symbol]
  if (typeof createCluster !== 'function') throw changed('the cluster factory of class Kafka')
  const cluster = createCluster({ allowAutoTopicCreation: false }) as Internals
  if (!cluster.rootLogger) throw changed('rootLogger of the cluster')
  requireFunctions('connectionPoolBuilder', cluster.connectionPoolBuilder, ['build'])
  requireFunctions('brokerPool', cluster.brokerPool, ['createBroker'])
  return cluster
}

/**
 * Checks what is used of a connection, and mends two things once for all connections. After the first answer the queue sets a timer
 * of 1 ms again and again, which is 3 % of a core for nothing (kafkajs issue 1751). And what is not Kafka's protocol, from a peer
 * that is something else, is thrown out of an event of the socket: the process would die of it.
 */
function checkConnection(connection: Connection): void {
  const { requestQueue } = connection
  requireFunctions('connection', connection, ['processData'])
  requireFunctions('requestQueue', requestQueue, ['rejectAll', 'scheduleCheckPendingRequests'])
  if (!Array.isArray(requestQueue.pending) || typeof requestQueue.throttledUntil !== 'number') throw changed('pending or throttledUntil of requestQueue')
  const prototype = Object.getPrototypeOf(requestQueue) as RequestQueue & { [MENDED]?: true }
  if (prototype[MENDED]) return
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    // A throttle is set only while an answer is taken, and then something is asked again soon.
    if (this.pending.length > 0) schedule.call(this)
  }
  prototype[MENDED] = true
  const connections = Object.getPrototypeOf(connection) as Connection
  const take = connections.processData
  connections.processData = function (this: Connection, bytes) {
    try {
      take.call(this, bytes)
    } catch {
      this.socket?.destroy(new Error("what comes from there is not Kafka's protocol"))
    }
  }
}

const MENDED = Symbol('streamtop: mended')

function requireFunctions(name: string, object: unknown, functions: readonly string[]): void {
  for (const wanted of functions) {
    if (typeof (object as Record<string, unknown> | undefined)?.[wanted] !== 'function') throw changed(`${wanted} of ${name}`)
  }
}

function changed(what: string): StreamtopError {
  return new StreamtopError('binding-missing', `this kafkajs is not version 2.2.4: it has no ${what}`, {
    hint: 'install streamtop again ("npm ci" in a clone)',
  })
}
