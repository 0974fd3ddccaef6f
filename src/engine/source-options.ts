/**
 * The options of a source, given as `KEY=VALUE` as Spark's `.option(key, value)` takes them: keys in any case, Spark's and
 * Delta's names, values and defaults. What cannot be obeyed is refused, never passed over.
 */
import { StreamtopError } from '../errors.js'
import type { Isolation, PartitionOffsets } from '../topic/topic.js'
import { nearestName } from './nearest-name.js'
import { readTopics } from './topic-offset.js'

export interface TableSourceOptions {
  /** Files a batch takes at most; null for no limit, which holds when only bytes are limited. */
  readonly maxFilesPerTrigger: number | null
  /** Bytes after which a batch takes no further file; null for no limit. */
  readonly maxBytesPerTrigger: number | null
  /** Versions that change rows are left out whole. */
  readonly skipChangeCommits: boolean
  /** Versions that only delete are passed over. */
  readonly ignoreDeletes: boolean
  /** Versions that change rows give all rows of the files they write, unchanged ones again. */
  readonly ignoreChanges: boolean
  /** Begin with the changes of this version, or behind the newest, instead of with a snapshot. */
  readonly startingVersion: number | 'latest' | null
}

export type StartingOffsets = 'earliest' | 'latest' | ReadonlyMap<string, PartitionOffsets>

export interface TopicSourceOptions {
  readonly maxOffsetsPerTrigger: number | null
  /** Null when it was not given: the query decides (Spark takes `latest`). By topic, -1 is the latest and -2 the earliest. */
  readonly startingOffsets: StartingOffsets | null
  readonly failOnDataLoss: boolean
  /** Which records of transactions are read; null when it was not given: the checkpoint decides, and for a new one Spark's default. */
  readonly isolation: Isolation | null
}

/** Delta's default. */
export const DEFAULT_MAX_FILES_PER_TRIGGER = 1000

/**
 * @param pairs `KEY=VALUE` each; the last of one key counts
 * @throws usage
 */
export function tableSourceOptions(pairs: readonly string[]): TableSourceOptions {
  const given = readPairs(pairs, TABLE_OPTIONS, 'a table')
  const maxBytesPerTrigger = given.has('maxBytesPerTrigger') ? byteCount('maxBytesPerTrigger', given) : null
  return {
    maxFilesPerTrigger: limit('maxFilesPerTrigger', given) ?? (maxBytesPerTrigger === null ? DEFAULT_MAX_FILES_PER_TRIGGER : null),
    maxBytesPerTrigger,
    skipChangeCommits: yesOrNo('skipChangeCommits', given, false),
    ignoreDeletes: yesOrNo('ignoreDeletes', given, false),
    ignoreChanges: yesOrNo('ignoreChanges', given, false) || yesOrNo('ignoreFileDeletion', given, false),
    startingVersion: startingVersion(given),
  }
}

/**
 * @param pairs `KEY=VALUE` each; the last of one key counts
 * @throws usage
 */
export function topicSourceOptions(pairs: readonly string[]): TopicSourceOptions {
  const given = readPairs(pairs, TOPIC_OPTIONS, 'a topic')
  return {
    maxOffsetsPerTrigger: limit('maxOffsetsPerTrigger', given),
    startingOffsets: startingOffsets(given),
    failOnDataLoss: yesOrNo('failOnDataLoss', given, true),
    isolation: isolation(given),
  }
}

const TABLE_OPTIONS = [
  'maxFilesPerTrigger',
  'maxBytesPerTrigger',
  'skipChangeCommits',
  'ignoreDeletes',
  'ignoreChanges',
  'ignoreFileDeletion',
  'startingVersion',
] as const
const TOPIC_OPTIONS = ['maxOffsetsPerTrigger', 'startingOffsets', 'failOnDataLoss', 'kafka.isolation.level'] as const

/** Options by their proper names. */
type Given = ReadonlyMap<string, string>

function readPairs(pairs: readonly string[], known: readonly string[], source: string): Given {
  const given = new Map<string, string>()
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    if (equals < 1) throw new StreamtopError('usage', `--option ${pair} is not KEY=VALUE`, { hint: `for example --option ${known[0]}=1` })
    const key = pair.slice(0, equals).trim()
    const name = known.find((option) => option.toLowerCase() === key.toLowerCase())
    if (name === undefined) throw unknownOption(key, known, source)
    given.set(name, pair.slice(equals + 1).trim())
  }
  return given
}

function unknownOption(key: string, known: readonly string[], source: string): StreamtopError {
  const nearest = nearestName(key, known)
  return new StreamtopError('usage', `${source} as a source has no option ${key}`, {
    hint: nearest === null ? `it has ${known.join(', ')}` : `did you mean ${nearest}? It has ${known.join(', ')}`,
  })
}

/** Spark's Long: whoever wants no limit gives its end. Above what a number here can tell apart there is nothing to be limited. */
const MOST = 2 ** 63

function limit(name: string, given: Given): number | null {
  const value = given.get(name)
  if (value === undefined) return null
  const number = /^[0-9]+$/.test(value) ? Number(value) : 0
  if (number >= 1 && number <= MOST) return Math.min(number, Number.MAX_SAFE_INTEGER)
  throw illTyped(name, value, 'a whole number from 1 on')
}

function startingVersion(given: Given): number | 'latest' | null {
  const value = given.get('startingVersion')
  if (value === undefined) return null
  if (value.toLowerCase() === 'latest') return 'latest'
  if (/^[0-9]+$/.test(value) && Number.isSafeInteger(Number(value))) return Number(value)
  throw illTyped('startingVersion', value, 'a whole number from 0 on or latest')
}

function yesOrNo(name: string, given: Given, unlessGiven: boolean): boolean {
  const value = given.get(name)?.toLowerCase()
  if (value === undefined) return unlessGiven
  if (value === 'true' || value === 'false') return value === 'true'
  throw illTyped(name, value, 'true or false')
}

/** As Spark reads sizes: a number of bytes, or one with k, m, g or t behind it (`10m`), each 1024 of the one before. */
function byteCount(name: string, given: Given): number {
  const value = given.get(name) ?? ''
  const found = /^([0-9]+)\s*(?:([kmgtp])b?|b)?$/i.exec(value)
  const bytes = found ? Number(found[1]) * 1024 ** ' kmgtp'.indexOf((found[2] ?? ' ').toLowerCase()) : 0
  if (bytes >= 1 && bytes <= MOST) return Math.min(bytes, Number.MAX_SAFE_INTEGER)
  throw illTyped(name, value, 'a size such as 1048576, 512k or 10m')
}

function startingOffsets(given: Given): StartingOffsets | null {
  const value = given.get('startingOffsets')
  if (value === undefined) return null
  const word = value.toLowerCase()
  if (word === 'earliest' || word === 'latest') return word
  const topics = readTopics(value)
  if (topics !== null && [...topics.values()].every((offsets) => [...offsets.values()].every((offset) => offset >= -2n))) return topics
  throw illTyped('startingOffsets', value, 'earliest, latest, or JSON such as {"orders":{"0":23,"1":-2}} (-2 is the earliest, -1 the latest)')
}

function isolation(given: Given): Isolation | null {
  const value = given.get('kafka.isolation.level')
  if (value === undefined || value === 'read_committed' || value === 'read_uncommitted') return value ?? null
  throw illTyped('kafka.isolation.level', value, 'read_committed or read_uncommitted')
}

function illTyped(name: string, value: string, wanted: string): StreamtopError {
  return new StreamtopError('usage', `--option ${name}=${value} cannot be: ${name} takes ${wanted}`)
}
