/**
 * Connections to the brokers of a cluster, and every use of what kafkajs does not promise. Its clients are not used to read: they
 * cannot promise an exact range. What is used are its sockets, TLS, SASL and request queue, through the objects behind its public
 * class. kafkajs 2.2.4 is pinned and in the bundle, so these are what they were when this was written; a start checks it all the
 * same and names what is missing.
 *
 * A connection that had an error is never used again: kafkajs keeps the half of an answer that had come, and would read the next
 * answer behind it.
 */
import { Kafka, logLevel } from 'kafkajs'
import { StreamtopError } from '../errors.js'
import type { KafkaRequest } from './kafka-requests.js'
import { addressText, type KafkaAddress, type KafkaSettings } from './kafka-settings.js'

export interface KafkaConnection {
  /**
   * Sends a request to one broker, or to whichever answers.
   * @throws what kafkajs throws, see `finalError`; the next call connects again
   */
  send<Answer>(to: KafkaAddress | null, request: KafkaRequest<Answer>): Promise<Answer>
  /** Ends what is under way with an error. */
  close(): Promise<void>
}

/**
 * kafkajs's public class for these settings: silent, quick to give up, and without its timers of an idle connection.
 * @throws internal when kafkajs is not the one that this file knows
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
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: { initialRetryTime: 100, retries: 5 },
    ...(tls === null ? {} : { ssl: tlsOptions(settings) }),
    ...(sasl === null ? {} : { sasl: { ...sasl } as never }),
  })
  return kafka
}

const CONNECTION_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000

/** For `tls.connect`, which checks certificates unless it is told not to. */
function tlsOptions({ tls }: KafkaSettings): Record<string, string> {
  const given = { ca: tls?.ca, cert: tls?.certificate, key: tls?.key, passphrase: tls?.keyPassword }
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Opens nothing yet: the first request connects. */
export function openKafkaConnection(settings: KafkaSettings): KafkaConnection {
  const internals = internalsOf(kafkaClient(settings))
  const lines = new Map<string, Promise<Line>>()
  let isClosed = false

  async function sendTo<Answer>(address: KafkaAddress, request: KafkaRequest<Answer>): Promise<Answer> {
    if (isClosed) throw new Error('the connection to Kafka is closed')
    const key = addressText(address)
    const line = lines.get(key) ?? openLine(internals, address)
    lines.set(key, line)
    try {
      return await (await line).send(request)
    } catch (error) {
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
      let failure: unknown = null
      for (const address of settings.brokers) {
        try {
          return await sendTo(address, request)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    async close() {
      isClosed = true
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
  send<Answer>(request: KafkaRequest<Answer>): Promise<Answer>
  drop(error: unknown): Promise<void>
}

async function openLine(internals: Internals, address: KafkaAddress): Promise<Line> {
  const pool = await internals.connectionPoolBuilder.build(address)
  pool.pool.forEach(checkConnection)
  const broker = internals.brokerPool.createBroker({ connectionPool: pool, logger: internals.rootLogger, nodeId: null })
  requireFunctions('broker', broker, ['connect', 'disconnect'])
  const drop = async (error: unknown): Promise<void> => {
    for (const { requestQueue } of pool.pool) requestQueue.rejectAll(error)
    await broker.disconnect().catch(() => {})
  }
  try {
    await broker.connect()
  } catch (error) {
    await drop(error)
    throw error
  }
  let fetchSocket: Promise<unknown> | null = null
  return {
    async send(request) {
      checkVersion(broker.versions, request)
      if (request.key === FETCH) {
        // Two requests at once would each open the socket for fetches, and one of the two would be lost.
        fetchSocket ??= pool.getConnection(FETCH_SOCKET)
        await fetchSocket
      }
      const { body, decode } = request
      return pool.send({
        request: { apiKey: request.key, apiVersion: request.version, apiName: request.name, encode: async () => ({ buf: body, buffer: body }) },
        response: { decode: async (bytes: Buffer) => ({ answer: decode(bytes), clientSideThrottleTime: null }), parse: async ({ answer }) => answer },
        requestTimeout: REQUEST_TIMEOUT_MS + request.waitMs,
        logResponseError: false,
      })
    },
    drop,
  }
}

const FETCH = 1
const FETCH_SOCKET = 1

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
 * Checks what is used of a connection, and mends its idle cost once for all connections: after the first answer the queue sets a
 * timer of 1 ms again and again, which is 3 % of a core for nothing (kafkajs issue 1751).
 */
function checkConnection(connection: Connection): void {
  const { requestQueue } = connection
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
}

const MENDED = Symbol('streamtop: no idle timer')

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
