/**
 * What Kafka and the way to it answer when something is wrong: which of it passes by itself, and a sentence for what does not.
 * No sentence has a secret in it, whoever wrote the text that it quotes.
 */
import { StreamtopError } from '../errors.js'
import { brokersText, type KafkaSettings, secretsOf } from './kafka-settings.js'

/** An answer that carries an error code (Kafka protocol guide, "Error Codes"). */
export class KafkaAnswerError extends Error {
  override readonly name = 'KafkaAnswerError'

  constructor(
    readonly code: number,
    /** What was asked for, as "Fetch of partition 0". */
    readonly request: string,
  ) {
    super(`${request}: ${errorName(code)}`)
  }
}

/** A broker that was asked, and of which nothing came. */
export class KafkaSilenceError extends Error {
  override readonly name = 'KafkaSilenceError'

  constructor(silenceMs: number) {
    super(`nothing came for ${silenceMs / 1_000} s`)
  }
}

/** Kafka's name of an error code. */
export function errorName(code: number): string {
  return NAMES.get(code) ?? `error ${code}`
}

export const OFFSET_OUT_OF_RANGE = 1
export const CORRUPT_MESSAGE = 2
export const UNKNOWN_TOPIC_OR_PARTITION = 3
export const TOPIC_ALREADY_EXISTS = 36

const NAMES: ReadonlyMap<number, string> = new Map([
  [-1, 'UNKNOWN_SERVER_ERROR'],
  [OFFSET_OUT_OF_RANGE, 'OFFSET_OUT_OF_RANGE'],
  [CORRUPT_MESSAGE, 'CORRUPT_MESSAGE'],
  [UNKNOWN_TOPIC_OR_PARTITION, 'UNKNOWN_TOPIC_OR_PARTITION'],
  [5, 'LEADER_NOT_AVAILABLE'],
  [6, 'NOT_LEADER_OR_FOLLOWER'],
  [7, 'REQUEST_TIMED_OUT'],
  [8, 'BROKER_NOT_AVAILABLE'],
  [9, 'REPLICA_NOT_AVAILABLE'],
  [10, 'MESSAGE_TOO_LARGE'],
  [13, 'NETWORK_EXCEPTION'],
  [17, 'INVALID_TOPIC_EXCEPTION'],
  [18, 'RECORD_LIST_TOO_LARGE'],
  [19, 'NOT_ENOUGH_REPLICAS'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'],
  [29, 'TOPIC_AUTHORIZATION_FAILED'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED'],
  [32, 'INVALID_TIMESTAMP'],
  [33, 'UNSUPPORTED_SASL_MECHANISM'],
  [34, 'ILLEGAL_SASL_STATE'],
  [35, 'UNSUPPORTED_VERSION'],
  [TOPIC_ALREADY_EXISTS, 'TOPIC_ALREADY_EXISTS'],
  [37, 'INVALID_PARTITIONS'],
  [38, 'INVALID_REPLICATION_FACTOR'],
  [40, 'INVALID_CONFIG'],
  [41, 'NOT_CONTROLLER'],
  [42, 'INVALID_REQUEST'],
  [44, 'POLICY_VIOLATION'],
  [56, 'KAFKA_STORAGE_ERROR'],
  [58, 'SASL_AUTHENTICATION_FAILED'],
  [73, 'TOPIC_DELETION_DISABLED'],
  [74, 'FENCED_LEADER_EPOCH'],
  [75, 'UNKNOWN_LEADER_EPOCH'],
  [78, 'OFFSET_NOT_AVAILABLE'],
  [87, 'INVALID_RECORD'],
])

/** Those of which waiting is no use. Any other, an unknown one too, is tried again. */
const FINAL_CODES: ReadonlySet<number> = new Set([CORRUPT_MESSAGE, 10, 17, 18, 29, 31, 32, 33, 34, 35, 37, 38, 40, 42, 44, 58, 73, 87])

/**
 * The error that a person must act upon, or null for what passes by itself: a broker that is down, a leader that moves, an answer
 * that is late.
 */
export function finalError(error: unknown, settings: KafkaSettings): StreamtopError | null {
  if (error instanceof StreamtopError) return error
  if (error instanceof KafkaAnswerError) return FINAL_CODES.has(error.code) ? explained(errorName(error.code), error.message, settings) : null
  const known = rootOf(error)
  if (typeof known.type === 'string' && [...FINAL_CODES].some((code) => errorName(code) === known.type)) return explained(known.type, known.message, settings)
  if (/SASL|Authentication/.test(known.name)) return explained('SASL_AUTHENTICATION_FAILED', known.message, settings)
  // Node's codes are texts; kafkajs also has Kafka's numbers there.
  const code = typeof known.code === 'string' ? known.code : ''
  if (CERTIFICATE.test(code)) return explained(code, known.message, settings)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_OSSL')) return explained('TLS', known.message, settings)
  // What is wrong with ourselves does not pass.
  if (error instanceof TypeError || error instanceof RangeError)
    return new StreamtopError('internal', safe(`Kafka was not understood: ${error.message}`, settings))
  return null
}

/** What passes by itself, as half a sentence: "connect ECONNREFUSED 127.0.0.1:9092". */
export function reasonOf(error: unknown, settings: KafkaSettings): string {
  if (error instanceof StreamtopError) return error.message
  const { message } = rootOf(error)
  return safe(message.replace(/^Connection error: /, '').trim() || 'no reason given', settings)
}

/** The error of somebody who does not wait: of `produce` and `status`. */
export function unreachable(error: unknown, settings: KafkaSettings): StreamtopError {
  const final = finalError(error, settings)
  if (final) return final
  const reason = reasonOf(error, settings)
  if (isAnswer(error)) return new StreamtopError('source-missing', `Kafka at ${brokersText(settings)} cannot do it now: ${reason}`, { hint: PASSES })
  return new StreamtopError('source-missing', `Kafka at ${brokersText(settings)} does not answer: ${reason}`, {
    hint: 'is the broker running, and is it reached by this address? "npm run kafka" in a clone of streamtop starts one',
  })
}

/** What is said to somebody who waits, of an error that passes by itself. */
export function waitingFor(error: unknown, settings: KafkaSettings): StreamtopError {
  const what = isAnswer(error) ? 'cannot do it now' : 'does not answer'
  const hint = isAnswer(error) ? PASSES : 'start the broker, and the query goes on by itself'
  return new StreamtopError('source-missing', `Kafka at ${brokersText(settings)} ${what} (${reasonOf(error, settings)}); it is tried again`, { hint })
}

const PASSES = 'this may pass by itself, as when a leader moves; if it does not, look at the log of the broker'

/** Whether a broker has answered, though not as it should. */
function isAnswer(error: unknown): boolean {
  return error instanceof KafkaAnswerError || typeof rootOf(error).type === 'string'
}

/** A topic that is not there; none is made unasked. */
export function unknownTopic(name: string, settings: KafkaSettings): StreamtopError {
  return new StreamtopError('source-missing', `there is no topic ${name} on Kafka at ${brokersText(settings)}`, {
    hint: `make it, with as many partitions as you like: streamtop produce --all --kafka ${brokersText(settings)} --topic ${name} --partitions 1`,
    condition: 'UNKNOWN_TOPIC_OR_PARTITION',
  })
}

const CERTIFICATE = /CERT|SIGNATURE|ISSUER|ALTNAME|CRL/

function explained(name: string, message: string, settings: KafkaSettings): StreamtopError {
  const where = `Kafka at ${brokersText(settings)}`
  const quoted = safe(message, settings)
  if (CERTIFICATE.test(name)) {
    return new StreamtopError('bad-config', `the certificate of ${where} is not trusted: ${quoted}`, {
      hint: 'give the authority that signed it as PEM in ssl.truststore.location; the name in --kafka must be one that it is for',
    })
  }
  if (name === 'TLS') {
    return new StreamtopError('bad-config', `${where} does not speak TLS as expected: ${quoted}`, {
      hint: 'does security.protocol fit this listener of the broker?',
    })
  }
  if (/SASL/.test(name)) {
    return new StreamtopError('bad-config', `${where} refused who we are: ${quoted}`, {
      hint: 'look at sasl.mechanism, user and password in the properties file or the environment',
      condition: name,
    })
  }
  if (/AUTHORIZATION/.test(name)) {
    return new StreamtopError('bad-config', `${where} does not allow it: ${quoted}`, {
      hint: 'the user needs Read and Describe on the topic, Write to produce',
      condition: name,
    })
  }
  if (name === 'CORRUPT_MESSAGE') return new StreamtopError('data-loss', `${where} has damaged records: ${quoted}`, { condition: name })
  if (name === 'UNSUPPORTED_VERSION') {
    return new StreamtopError('unsupported-feature', `${where} is too old or too new: ${quoted}`, {
      hint: 'streamtop reads brokers from 2.8 to 4.x',
      condition: name,
    })
  }
  return new StreamtopError('bad-value', `${where} refused it: ${quoted}`, { condition: name })
}

interface KnownError {
  readonly name: string
  readonly message: string
  readonly type?: string
  readonly code?: string | number
}

/** kafkajs wraps what happened in "number of retries exceeded", or in a list with an error a topic. */
function rootOf(error: unknown): KnownError {
  if (!(error instanceof Error)) return { name: '', message: String(error) }
  const { name, cause, errors } = error as Error & { errors?: readonly unknown[] }
  if (name === 'KafkaJSNumberOfRetriesExceeded' && cause instanceof Error) return rootOf(cause)
  if (name === 'KafkaJSAggregateError' && errors?.[0] instanceof Error) return rootOf(errors[0])
  return error as KnownError
}

/** The text with every secret blotted out. */
export function safe(text: string, settings: KafkaSettings): string {
  return secretsOf(settings).reduce((left, secret) => left.replaceAll(secret, '…'), text)
}
