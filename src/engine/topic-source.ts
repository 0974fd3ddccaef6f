/**
 * A topic read as a stream, with the offsets of Spark's Kafka source. Which topic the offsets belong to is recorded beside them
 * and checked at every start.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { PartitionOffsets, RecordBatch, Topic, TopicIdentity } from '../topic/topic.js'
import { BatchLimit } from './batch-limit.js'
import { checkpointFolder, listBatches, readOffsets } from './checkpoint.js'
import type { TopicSpec } from './definition.js'
import { filterRows } from './filter-rows.js'
import { recordsAsRows } from './record-rows.js'
import type { Source, SourceRows } from './source.js'
import type { TopicSourceOptions } from './source-options.js'
import { formatTopicOffsets, parseTopicOffsets } from './topic-offset.js'
import {
  checkOffsetsFit,
  checkTopicIdentity,
  createInitialOffsets,
  createTopicIdentity,
  isolationOf,
  readInitialOffsets,
  readTopicIdentity,
} from './topic-source-files.js'
import { lostOffsets, planTopicRange, resolveStartingOffsets, topicRanges } from './topic-source-plan.js'

/** The source of a query that reads a topic. */
export function topicSource(workspace: string, query: string, spec: TopicSpec, options: TopicSourceOptions, topic: Topic, fx: Effects): Source {
  const folder = checkpointFolder(workspace, query)
  const where = join(folder, 'offsets')
  const parse = (text: string): PartitionOffsets => parseTopicOffsets(text, spec.name, where)
  const limit = new BatchLimit()
  let initial: PartitionOffsets | null = null
  let upTo: PartitionOffsets | null = null
  let latest: PartitionOffsets | null = null
  /** What was there when a batch was planned that has not been read yet. */
  let planned: { readonly end: string; readonly there: Bounds } | null = null

  async function bounds(): Promise<Bounds> {
    const [earliest, newest] = await Promise.all([topic.startOffsets(), topic.endOffsets()])
    return { earliest, latest: newest }
  }

  /** Offsets of a checkpoint that says of no topic: they may be of this one, if they lie in it. */
  async function checkLoggedOffsets(actual: TopicIdentity): Promise<void> {
    const newest = listBatches(folder, fx).offsets.at(-1)
    const line = newest === undefined ? null : (readOffsets(folder, newest, fx).sources[0] ?? null)
    if (line !== null) checkOffsetsFit(folder, parse(line), { actual, ...(await bounds()) })
  }

  /** The records of a range, and what of it was gone. */
  async function readRange(
    start: PartitionOffsets | null,
    end: PartitionOffsets,
    there: Bounds,
  ): Promise<{ batches: RecordBatch[]; notes: string[]; lostOffsets: number }> {
    const { failOnDataLoss } = options
    const batches: RecordBatch[] = []
    for (const { partition, start: from, end: to } of topicRanges(start, end, { ...there, failOnDataLoss })) {
      for await (const batch of topic.read(partition, from, to)) batches.push(batch)
    }
    // Only now: a topic that was made again while it was read is noticed.
    await topic.identity()
    const lost = failOnDataLoss ? [] : lostOffsets(start, end, there)
    const notes = lost.map(({ partition, count }) => lostNote(spec.name, partition, count))
    return { batches, notes, lostOffsets: lost.reduce((sum, { count }) => sum + Number(count), 0) }
  }

  return {
    description: topic.description,
    isThere: () => topic.exists(),
    missing: () => topic.missing(),
    async begin(isNew) {
      const actual = await topic.identity()
      const recorded = readTopicIdentity(folder, fx)
      checkTopicIdentity(folder, { recorded, actual, hasOffsets: !isNew })
      const isolation = isolationOf(folder, recorded, options.isolation)
      topic.setIsolation(isolation)
      if (recorded === null) {
        if (!isNew) await checkLoggedOffsets(actual)
        createTopicIdentity(folder, actual.kind === 'kafka' ? { ...actual, isolation } : actual, fx)
      }
      initial = readInitialOffsets(folder, spec.name, fx)
      if (initial === null && isNew) {
        const starting = options.startingOffsets ?? 'earliest'
        const there = await bounds()
        initial = resolveStartingOffsets(starting, there.earliest, there.latest, spec.name)
        createInitialOffsets(folder, spec.name, initial, fx)
      }
    },
    initialOffset: async () => initial && formatTopicOffsets(spec.name, initial),
    async fixEnd() {
      upTo = await topic.endOffsets()
    },
    async plan(start) {
      const there = await bounds()
      latest = there.latest
      const { maxOffsetsPerTrigger, failOnDataLoss } = options
      const choices = { maxOffsetsPerTrigger: maxOffsetsPerTrigger ?? limit.offsets, failOnDataLoss, upTo }
      const end = planTopicRange(start === null ? initial : parse(start), there.earliest, latest, choices)
      if (end === null) return null
      const text = formatTopicOffsets(spec.name, end)
      planned = { end: text, there }
      return text
    },
    async read(start, end): Promise<SourceRows> {
      const range = [start === null ? null : parse(start), parse(end)] as const
      // A batch that was planned just now is not looked up again: what has gone since is missed when it is read.
      const there = planned?.end === end ? planned.there : await bounds()
      planned = null
      // What ages out while it is read is one more thing that is gone.
      const { batches, notes, lostOffsets } = await readRange(...range, there).catch(async (error: unknown) => {
        if (options.failOnDataLoss || !(error instanceof StreamtopError) || error.code !== 'data-loss') throw error
        return readRange(...range, await bounds())
      })
      limit.saw(batches)
      const { columns, rejected } = spec.parser ? spec.parser.parse(batches, spec.name) : { columns: recordsAsRows(batches, spec.name), rejected: [] }
      return {
        columns: filterRows(columns, spec.filters),
        rejected,
        inputRowCount: batches.reduce((sum, batch) => sum + batch.rowCount, 0),
        notes,
        lostOffsets,
      }
    },
    latestOffset: () => latest && formatTopicOffsets(spec.name, latest),
    async waitForMore(start, signal) {
      await topic.waitForMore(start === null ? (initial ?? new Map()) : parse(start), signal)
    },
    close: () => topic.close(),
  }
}

/** The first and the next offset of each partition. */
interface Bounds {
  readonly earliest: PartitionOffsets
  readonly latest: PartitionOffsets
}

function lostNote(topic: string, partition: number, count: bigint): string {
  const [offsets, were] = count === 1n ? ['1 offset', 'was gone and is'] : [`${count} offsets`, 'were gone and are']
  return `${offsets} of topic ${topic}, partition ${partition}, ${were} left out`
}
