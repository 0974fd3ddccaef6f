/** What a batch reads, in words for people, told from where it starts and where it ends. Pure. */
import { parseTableOffset, type TableOffset } from '../engine/table-offset.js'
import { readTopics } from '../engine/topic-offset.js'
import type { PartitionOffsets } from '../topic/topic.js'
import { counted } from './counted.js'

export interface BatchRange {
  readonly text: string
  /** Records between the offsets of a topic; null where the range does not tell. */
  readonly records: number | null
}

export interface RangeFacts {
  /** The source's line of the batch before; null for batch 0, undefined when it cannot be told. */
  readonly start: string | null | undefined
  readonly end: string
  /** Of a topic: where batch 0 began, as far as it is recorded. */
  readonly initialOffsets: PartitionOffsets | null
  /** Of a table: what batch 0 began with instead of the table as it was; null for that. */
  readonly startingVersion: number | 'latest' | null
}

/** Null for an offset of no kind that is known. */
export function batchRange(facts: RangeFacts): BatchRange | null {
  const topics = readTopics(facts.end)
  if (topics !== null && topics.size > 0) return topicRange(topics, facts)
  const end = tableOffset(facts.end)
  return end === null ? null : { text: tableRange(facts, end), records: null }
}

interface PartitionRange {
  readonly partition: number
  /** Null when it is not known. */
  readonly start: bigint | null
  readonly end: bigint
}

/** Ends are the next offset to read, as everywhere. */
function topicRange(topics: ReadonlyMap<string, PartitionOffsets>, { start, initialOffsets }: RangeFacts): BatchRange {
  const before = start === null || start === undefined ? null : readTopics(start)
  const ranges = [...topics].flatMap(([topic, ends]) =>
    [...ends].map(([partition, end]): PartitionRange => {
      const initial = initialOffsets === null ? null : (initialOffsets.get(partition) ?? 0n)
      // A partition that came later is read from its first record.
      const from = before !== null ? (before.get(topic)?.get(partition) ?? 0n) : start === null ? initial : null
      return { partition, start: from, end }
    }),
  )
  const isKnown = ranges.every((range) => range.start !== null)
  const records = isKnown ? Number(ranges.reduce((sum, range) => sum + range.end - (range.start ?? 0n), 0n)) : null
  if (topics.size > 1) return { text: counted(topics.size, 'topic') + andRecords(records), records }
  const read = ranges.filter((range) => range.start === null || range.start !== range.end)
  const [only] = read
  if (records === 0 || only === undefined) return { text: 'no records', records: 0 }
  if (read.length > 1) return { text: counted(read.length, 'partition') + andRecords(records), records }
  const where = ranges.length > 1 ? `partition ${only.partition}, ` : ''
  return { text: only.start === null ? `${where}up to offset ${only.end}` : `${where}offsets ${only.start} to ${only.end}`, records }
}

function andRecords(records: number | null): string {
  return records === null ? '' : `, ${counted(records, 'record')}`
}

/** An index says how many files of a version are taken: files are counted from 1 for people. */
function tableRange({ start: startLine, startingVersion }: RangeFacts, end: TableOffset): string {
  const last = end.index < 0 ? end.version - 1 : end.version
  // Where it starts is lost, or it started in a table that was there before.
  if (startLine === undefined) return end.index < 0 ? `up to version ${last}` : `up to ${part(end.version, 1, end.index + 1)}`
  const start = startLine === null ? null : tableOffset(startLine)
  if (start === null || start.tableId !== end.tableId) {
    if (startLine === null && typeof startingVersion === 'number') return between({ version: startingVersion, filesBefore: 0 }, end, last)
    if (startLine === null && startingVersion === 'latest') return 'no versions'
    // Batch 0 reads the table as it was, whichever versions its rows came with.
    if (end.isInitialSnapshot) return `${upTo(end.version)}, ${files(1, end.index + 1)}`
    return end.index < 0 ? upTo(last) : `${upTo(end.version - 1)} and ${part(end.version, 1, end.index + 1)}`
  }
  if (start.isInitialSnapshot && end.isInitialSnapshot) return `${upTo(end.version)}, ${files(start.index + 2, end.index + 1)}`
  if (start.isInitialSnapshot)
    return last <= start.version ? `rest of ${upTo(start.version)}` : `rest of ${upTo(start.version)} and ${versions(start.version + 1, last)}`
  return between({ version: start.version, filesBefore: start.index + 1 }, end, last)
}

function between(from: { readonly version: number; readonly filesBefore: number }, end: TableOffset, last: number): string {
  if (last < from.version || (end.index >= 0 && end.version === from.version && end.index + 1 <= from.filesBefore)) return 'no versions'
  if (end.index >= 0 && end.version === from.version) return part(end.version, from.filesBefore + 1, end.index + 1)
  const isWholeFirst = from.filesBefore === 0
  const whole = end.index < 0 ? last : last - 1
  const firstWhole = isWholeFirst ? from.version : from.version + 1
  const parts = [
    ...(isWholeFirst ? [] : [`rest of version ${from.version}`]),
    ...(firstWhole <= whole ? [versions(firstWhole, whole)] : []),
    ...(end.index < 0 ? [] : [part(end.version, 1, end.index + 1)]),
  ]
  return parts.join(' and ')
}

function versions(first: number, last: number): string {
  return first === last ? `version ${first}` : `versions ${first} to ${last}`
}

function upTo(version: number): string {
  return versions(0, version)
}

function part(version: number, first: number, last: number): string {
  return `version ${version}, ${files(first, last)}`
}

function files(first: number, last: number): string {
  return first === last ? `file ${first}` : `files ${first} to ${last}`
}

function tableOffset(line: string): TableOffset | null {
  try {
    return parseTableOffset(line, '')
  } catch {
    return null
  }
}
