/**
 * What a topic source keeps in a checkpoint: `sources/0/0`, the offsets it began with, in Spark's bytes (formats page §1.6), and
 * `sources/0/streamtop.json`, which topic they count. The identity is written first: offsets without it are somebody else's.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { PartitionOffsets, TopicIdentity } from '../topic/topic.js'
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

/** Which topic the checkpoint counts, or null when nobody recorded it. Throws checkpoint-damaged. */
export function readTopicIdentity(folder: string, fx: Effects): TopicIdentity | null {
  const path = identityPath(folder)
  const text = readFile(path, fx)
  if (text === null) return null
  const { kind, name, topicId, clusterId } = jsonObject(text, path, 'content')
  if ((kind !== 'embedded' && kind !== 'kafka') || typeof name !== 'string' || typeof topicId !== 'string') {
    throw damagedFile(path, 'does not say which topic the checkpoint counts')
  }
  return { kind, name, topicId, ...(typeof clusterId === 'string' ? { clusterId } : {}) }
}

/** Records which topic the checkpoint counts: durable when this returns. Throws concurrent-query when it is recorded already. */
export function createTopicIdentity(folder: string, identity: TopicIdentity, fx: Effects): void {
  const path = identityPath(folder)
  fx.files.makeFolder(join(folder, 'sources', '0'))
  const { kind, name, topicId, clusterId } = identity
  const content = { kind, name, topicId, ...(clusterId === undefined ? {} : { clusterId }) }
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
    if (!hasOffsets) return
    throw new StreamtopError(
      'checkpoint-foreign',
      `${folder} has offsets of a topic and does not say of which: most likely Spark counted them on a Kafka cluster`,
      { hint },
    )
  }
  const same = recorded.kind === actual.kind && recorded.name === actual.name && recorded.topicId === actual.topicId && recorded.clusterId === actual.clusterId
  if (same) return
  throw new StreamtopError('checkpoint-foreign', `${folder} counts the offsets of ${describe(recorded)}, and this query reads ${describe(actual)}`, { hint })
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
