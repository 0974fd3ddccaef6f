/** What a query's checkpoint says of where it is. Looked at before the tables, so that these are never behind it. */
import type { Effects } from '../effects.js'
import { checkpointFolder, offsetsPath, readOffsets } from '../engine/checkpoint.js'
import { type CheckpointSummary, readCheckpoint } from '../engine/checkpoint-summary.js'
import type { SourceSpec } from '../engine/definition.js'
import { readTopics } from '../engine/topic-offset.js'
import { readInitialOffsets } from '../engine/topic-source-files.js'
import type { PartitionOffsets } from '../topic/topic.js'

export interface CheckpointFacts {
  readonly summary: CheckpointSummary
  /** The source's offset at the newest commit: null for none, `unknown` when the files do not say. */
  readonly committedEnd: string | null | 'unknown'
  /** The newest batch of the offsets log, whether its file can be read or not; null for none. */
  readonly batchId: number | null
  /** The source's offset at that batch: null for none, `unknown` when the files do not say. */
  readonly loggedEnd: string | null | 'unknown'
  /** Whether the newest logged batch has no commit. */
  readonly isPending: boolean
  /** Where a topic's first batch began; null when that is not recorded. */
  readonly initialOffsets: PartitionOffsets | null
  /** Names a file in an error. */
  readonly path: string
}

/** Never throws: what cannot be read is null. */
export function checkpointFacts(workspace: string, query: string, source: SourceSpec | null, fx: Effects): CheckpointFacts {
  const folder = checkpointFolder(workspace, query)
  const summary = readCheckpoint(folder, fx)
  const newest = summary.offsets.at(-1) ?? null
  return {
    summary,
    committedEnd: committedEndOf(folder, summary, fx),
    batchId: newest,
    loggedEnd: loggedEndOf(summary),
    isPending: newest !== null && !summary.commits.includes(newest),
    initialOffsets: source?.kind === 'topic' ? initialOffsetsOf(folder, source.name, fx) : null,
    path: offsetsPath(folder, newest ?? 0),
  }
}

/** A log that was damaged or cut says less than was once logged. */
function loggedEndOf({ offsets, commits, batchId, sources }: CheckpointSummary): string | null | 'unknown' {
  const newest = offsets.at(-1) ?? -1
  if (newest !== (batchId ?? -1) || (commits.at(-1) ?? -1) > newest) return 'unknown'
  return sources[0] ?? null
}

function committedEndOf(folder: string, summary: CheckpointSummary, fx: Effects): string | null | 'unknown' {
  const committed = summary.commits.at(-1)
  if (committed === undefined) return null
  if (committed === summary.batchId) return summary.sources[0] ?? null
  try {
    return readOffsets(folder, committed, fx).sources[0] ?? null
  } catch {
    return 'unknown'
  }
}

function initialOffsetsOf(folder: string, topic: string, fx: Effects): PartitionOffsets | null {
  try {
    return readInitialOffsets(folder, topic, fx)
  } catch {
    return null
  }
}

/** An offset as the status shows it: the JSON of the checkpoint, a topic's 64-bit offsets as texts. */
export function shownOffset(line: string | null | undefined): unknown {
  if (line === null || line === undefined) return null
  const topics = readTopics(line)
  if (topics !== null && topics.size > 0) {
    return Object.fromEntries(
      [...topics].map(([topic, offsets]) => [topic, Object.fromEntries([...offsets].map(([partition, offset]) => [partition, String(offset)]))]),
    )
  }
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
