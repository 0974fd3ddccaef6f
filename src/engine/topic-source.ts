/**
 * A topic read as a stream, with the offsets of Spark's Kafka source. Which topic the offsets belong to is recorded beside them
 * and checked at every start.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { PartitionOffsets, RecordBatch, Topic } from '../topic/topic.js'
import { checkpointFolder } from './checkpoint.js'
import type { RecordParser, RejectedRecord, TopicSpec } from './definition.js'
import { filterRows } from './filter-rows.js'
import { recordsAsRows } from './record-rows.js'
import type { Source, SourceRows } from './source.js'
import type { TopicSourceOptions } from './source-options.js'
import { formatTopicOffsets, parseTopicOffsets } from './topic-offset.js'
import { checkTopicIdentity, createInitialOffsets, createTopicIdentity, readInitialOffsets, readTopicIdentity } from './topic-source-files.js'
import { planTopicRange, resolveStartingOffsets, topicRanges } from './topic-source-plan.js'

/** The source of a query that reads a topic. */
export function topicSource(workspace: string, query: string, spec: TopicSpec, options: TopicSourceOptions, topic: Topic, fx: Effects): Source {
  const folder = checkpointFolder(workspace, query)
  const where = join(folder, 'offsets')
  const parse = (text: string): PartitionOffsets => parseTopicOffsets(text, spec.name, where)
  let initial: PartitionOffsets | null = null
  let upTo: PartitionOffsets | null = null
  let latest: PartitionOffsets | null = null

  return {
    description: topic.description,
    isThere: () => topic.exists(),
    missing: () => topic.missing(),
    async begin(isNew) {
      const actual = await topic.identity()
      const recorded = readTopicIdentity(folder, fx)
      checkTopicIdentity(folder, { recorded, actual, hasOffsets: !isNew })
      if (recorded === null) createTopicIdentity(folder, actual, fx)
      initial = readInitialOffsets(folder, spec.name, fx)
      if (initial === null && isNew) {
        const starting = options.startingOffsets ?? 'earliest'
        initial = resolveStartingOffsets(starting, await topic.startOffsets(), await topic.endOffsets(), spec.name)
        createInitialOffsets(folder, spec.name, initial, fx)
      }
    },
    initialOffset: async () => initial && formatTopicOffsets(spec.name, initial),
    async fixEnd() {
      upTo = await topic.endOffsets()
    },
    async plan(start) {
      latest = await topic.endOffsets()
      const { maxOffsetsPerTrigger, failOnDataLoss } = options
      const end = planTopicRange(start === null ? initial : parse(start), await topic.startOffsets(), latest, { maxOffsetsPerTrigger, failOnDataLoss, upTo })
      return end && formatTopicOffsets(spec.name, end)
    },
    async read(start, end): Promise<SourceRows> {
      const [earliest, newest] = [await topic.startOffsets(), await topic.endOffsets()]
      const ranges = topicRanges(start === null ? null : parse(start), parse(end), { earliest, latest: newest, failOnDataLoss: options.failOnDataLoss })
      const batches: RecordBatch[] = []
      for (const { partition, start: from, end: to } of ranges) {
        for await (const batch of topic.read(partition, from, to)) batches.push(batch)
      }
      const columns = spec.parser ? parsed(spec.parser, batches, query, spec.name) : recordsAsRows(batches, spec.name)
      return {
        columns: filterRows(columns, spec.filters),
        inputRowCount: batches.reduce((sum, batch) => sum + batch.rowCount, 0),
        notes: [],
      }
    },
    latestOffset: () => latest && formatTopicOffsets(spec.name, latest),
    async waitForMore(start, signal) {
      await topic.waitForMore(start === null ? (initial ?? new Map()) : parse(start), signal)
    },
    close: () => topic.close(),
  }
}

function parsed(parser: RecordParser, batches: readonly RecordBatch[], query: string, topic: string): Columns {
  const { columns, rejected } = parser.parse(batches, topic)
  const [first] = rejected
  if (first) throw badRecord(query, topic, first, rejected.length)
  return columns
}

function badRecord(query: string, topic: string, record: RejectedRecord, count: number): StreamtopError {
  const more = count > 1 ? ` (and ${count - 1} more in this batch)` : ''
  return new StreamtopError(
    'bad-record',
    `topic ${topic}, partition ${record.partition}, offset ${record.offset} is not a record that ${query} can read: ${record.reason}${more}`,
    {
      hint: `nothing of this batch was written. Start after it with a new checkpoint: "streamtop reset ${query}", then "run ${query} --option startingOffsets={\\"${topic}\\":{\\"${record.partition}\\":${record.offset + 1n}}}"`,
      condition: 'MALFORMED_RECORD_IN_PARSING',
    },
  )
}
