/**
 * What a topic source keeps in a checkpoint: `sources/0/0`, the offsets it began with, in Spark's bytes (formats page §1.6), and
 * `sources/0/streamtop.json`, which topic they count. The identity is written first: offsets without it are somebody else's.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Isolation, PartitionOffsets, TopicIdentity } from '../topic/topic.js'
import { alreadyThere, readFile } from './checkpoint.js'
import { damagedFile, jsonObject, logVersion } from './damaged-file.js'
import { formatTopicOffsets, parseTopicOffsets } from './topic-offset.js'

/**
 * The offsets that batch 0 starts from, or null when none are recorded.
 * @throws checkpoint-damaged, or checkpoint-foreign when they are another topic's
 */
export function readInitialOffsets(folder: string, topic: string, fx: Effects): PartitionOffsets | null {
  const path = initialOffsetsPath(folder)
  const text = readFile(path, fx)
  if (text === null) return null
  // The first byte is ballast for Spark 2.1.0 (a zero); without a version behind it, the rest is bare JSON.
  const rest = text.slice(1)
  const lineEnd = rest.indexOf('\n')
  if (rest.trim() === '') throw damagedFile(path, 'is empty: where the query began is not known')
  if (!rest.startsWith('v')) return parseTopicOffsets(rest, topic, path)
  logVersion(lineEnd < 0 ? rest : rest.slice(0, lineEnd), 1, path)
  return parseTopicOffsets(lineEnd < 0 ? '' : rest.slice(lineEnd + 1), topic, path)
}

/** Records where batch 0 starts: durable when this returns. Throws concurrent-query when it is recorded already. */
export function createInitialOffsets(folder: string, topic: string, offsets: PartitionOffsets, fx: Effects): void {
  const path = initialOffsetsPath(folder)
  fx.files.makeFolder(join(folder, 'sources', '0'))
  if (fx.files.create(path, `\0v1\n${formatTopicOffsets(topic, offsets)}`) === 'exists') throw alreadyThere(path)
}

/** What a checkpoint says of its topic. */
export interface RecordedTopic extends TopicIdentity {
  /** Of Kafka: how its records were read from the first batch on. A batch that runs again must have the same. */
  readonly isolation?: Isolation
}

/** Which topic the checkpoint counts, or null when nobody recorded it. Throws checkpoint-damaged. */
export function readTopicIdentity(folder: string, fx: Effects): RecordedTopic | null {
  const path = identityPath(folder)
  const text = readFile(path, fx)
  if (text === null) return null
  const { kind, name, topicId, clusterId, isolation } = jsonObject(text, path, 'content')
  if ((kind !== 'embedded' && kind !== 'kafka') || typeof name !== 'string' || typeof topicId !== 'string') {
    throw damagedFile(path, 'does not say which topic the checkpoint counts')
  }
  return {
    kind,
    name,
    topicId,
    ...(typeof clusterId === 'string' ? { clusterId } : {}),
    ...(isolation === 'read_committed' || isolation === 'read_uncommitted' ? { isolation } : {}),
  }
}

/** Records which topic the checkpoint counts: durable when this returns. Throws concurrent-query when it is recorded already. */
export function createTopicIdentity(folder: string, identity: RecordedTopic, fx: Effects): void {
  const path = identityPath(folder)
  fx.files.makeFolder(join(folder, 'sources', '0'))
  const { kind, name, topicId, clusterId, isolation } = identity
  const content = { kind, name, topicId, ...(clusterId === undefined ? {} : { clusterId }), ...(isolation === undefined ? {} : { isolation }) }
  if (fx.files.create(path, JSON.stringify(content)) === 'exists') throw alreadyThere(path)
}

/**
 * Refuses a checkpoint that counts another topic than the one the query reads now.
 * @param recorded what the checkpoint says, null for nothing
 * @param hasOffsets whether it has offsets already: then somebody else counted them, and which topic is not known
 * @throws checkpoint-foreign
 */
export function checkTopicIdentity(
  folder: string,
  { recorded, actual, hasOffsets }: { readonly recorded: TopicIdentity | null; readonly actual: TopicIdentity; readonly hasOffsets: boolean },
): void {
  const hint = 'read the topic that the checkpoint was made on, or "streamtop reset" for a new checkpoint, which reads everything again'
  if (recorded === null) {
    // Whether a topic of Kafka is the one that was counted, its offsets must say.
    if (!hasOffsets || actual.kind === 'kafka') return
    throw new StreamtopError(
      'checkpoint-foreign',
      `${folder} has offsets of a topic and does not say of which: most likely Spark counted them on a Kafka cluster`,
      { hint },
    )
  }
  const same = recorded.kind === actual.kind && recorded.name === actual.name && recorded.topicId === actual.topicId && recorded.clusterId === actual.clusterId
  if (same) return
  if (recorded.kind === actual.kind && recorded.name === actual.name && recorded.clusterId === actual.clusterId) {
    const ids = `its id was ${recorded.topicId} and is ${actual.topicId}`
    throw new StreamtopError('checkpoint-foreign', `topic ${actual.name} was deleted and made again: ${ids}, so the offsets in ${folder} count other records`, {
      hint: '"streamtop reset" makes a new checkpoint, which reads the new topic from its beginning',
    })
  }
  throw new StreamtopError('checkpoint-foreign', `${folder} counts the offsets of ${describe(recorded)}, and this query reads ${describe(actual)}`, { hint })
}

/**
 * How the records of a topic are to be read: as the checkpoint has it, or as is asked for when nobody recorded it.
 * @throws usage when the two differ: a batch that ran again would have other records
 */
export function isolationOf(folder: string, recorded: RecordedTopic | null, asked: Isolation | null): Isolation {
  const before = recorded?.kind === 'kafka' ? (recorded.isolation ?? SPARKS_ISOLATION) : null
  if (before === null || asked === null || asked === before) return before ?? asked ?? SPARKS_ISOLATION
  throw new StreamtopError('usage', `${folder} was made with kafka.isolation.level=${before}, and ${asked} is asked for`, {
    hint: 'leave the option out; "streamtop reset" makes a new checkpoint, which may have another',
  })
}

const SPARKS_ISOLATION: Isolation = 'read_uncommitted'

/**
 * Refuses offsets that nobody recorded a topic for when they cannot be this one's.
 * @param end the newest logged end
 * @throws checkpoint-foreign
 */
export function checkOffsetsFit(
  folder: string,
  end: PartitionOffsets,
  { actual, earliest, latest }: { readonly actual: TopicIdentity; readonly earliest: PartitionOffsets; readonly latest: PartitionOffsets },
): void {
  for (const [partition, offset] of end) {
    const [first, next] = [earliest.get(partition), latest.get(partition)]
    if (first !== undefined && next !== undefined && first <= offset && offset <= next) continue
    const has = first === undefined ? 'does not have' : `has from ${first} to ${next}`
    throw new StreamtopError(
      'checkpoint-foreign',
      `${folder} was read up to offset ${offset} of partition ${partition}, which ${describe(actual)} ${has}: it was made on another topic`,
      { hint: 'name the brokers that it was made on, or "streamtop reset" for a new checkpoint, which reads everything again' },
    )
  }
}

function describe(identity: TopicIdentity): string {
  const where = identity.kind === 'kafka' ? `on Kafka cluster ${identity.clusterId ?? 'unknown'}` : 'embedded'
  return `topic ${identity.name} (${where}, id ${identity.topicId})`
}

function initialOffsetsPath(folder: string): string {
  return join(folder, 'sources', '0', '0')
}

function identityPath(folder: string): string {
  return join(folder, 'sources', '0', 'streamtop.json')
}
