/**
 * Where a batch ends in a topic, in the JSON of Spark's Kafka source: `{"orders":{"0":1200,"1":1187}}`, topic to partition to
 * the next offset to read (formats page §3.1). Offsets are 64-bit: they are read and written digit by digit, never as floats.
 */
import { StreamtopError } from '../errors.js'
import type { PartitionOffsets } from '../topic/topic.js'
import { damagedFile } from './damaged-file.js'

/** The line for one topic, its partitions in ascending order. */
export function formatTopicOffsets(topic: string, offsets: PartitionOffsets): string {
  const partitions = [...offsets].sort(([a], [b]) => a - b).map(([partition, offset]) => `"${partition}":${offset}`)
  return `{${JSON.stringify(topic)}:{${partitions.join(',')}}}`
}

/**
 * The offsets of one topic in a checkpoint.
 * @param path names the file in an error
 * @throws checkpoint-damaged when the text is not such JSON, checkpoint-foreign when it counts another topic
 */
export function parseTopicOffsets(text: string, topic: string, path: string): PartitionOffsets {
  const topics = readTopics(text)
  if (topics === null) throw damagedFile(path, 'does not hold the offsets of a topic in its source line')
  const offsets = topics.get(topic)
  if (topics.size !== 1 || offsets === undefined) {
    const names = [...topics.keys()].join(', ') || 'no topic'
    throw new StreamtopError('checkpoint-foreign', `${path} counts the offsets of ${names}, and this query reads topic ${topic}`, {
      hint: 'go on with the query that made this checkpoint, or "streamtop reset" for a new one',
    })
  }
  for (const [partition, offset] of offsets) {
    if (offset < 0n) throw damagedFile(path, `has offset ${offset} for partition ${partition}; a checkpoint holds resolved offsets only`)
  }
  return offsets
}

/**
 * Offsets by topic as they stand in such JSON, the special -1 and -2 of `startingOffsets` too; null when it is not such JSON.
 */
export function readTopics(text: string): ReadonlyMap<string, PartitionOffsets> | null {
  const json = parseObject(text)
  // The same JSON with every number as the text of its digits, for a parsed number would be rounded above 2^53.
  const exact = json && parseObject(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)))
  if (!json || !exact) return null
  const topics = new Map<string, PartitionOffsets>()
  for (const [topic, partitions] of Object.entries(json)) {
    const digits = exact[topic]
    if (!isObject(partitions) || !isObject(digits)) return null
    const offsets: [number, bigint][] = []
    for (const [partition, offset] of Object.entries(partitions)) {
      const text = digits[partition]
      if (typeof offset !== 'number' || typeof text !== 'string' || !WHOLE_NUMBER.test(text) || !PARTITION.test(partition)) return null
      if (BigInt(text) > LARGEST_OFFSET) return null
      offsets.push([Number(partition), BigInt(text)])
    }
    topics.set(topic, new Map(offsets.sort(([a], [b]) => a - b)))
  }
  return topics
}

const LARGEST_OFFSET = 2n ** 63n - 1n

const WHOLE_NUMBER = /^-?[0-9]{1,19}$/
const PARTITION = /^(0|[1-9][0-9]{0,9})$/
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
