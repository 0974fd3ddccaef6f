/** The embedded topics of a workspace with their ends, for a reader who wants to know what is there. Creates nothing. */
import type { Effects } from '../effects.js'
import { explained, openTopicsToRead, partitionReader, topicRows, topicsPath } from './topic-database.js'

export interface EmbeddedTopicSummary {
  readonly name: string
  readonly topicId: string
  readonly partitions: number
  /** The next offset that each partition will give out. */
  readonly endOffsets: ReadonlyMap<number, bigint>
}

/** Every topic, by name; none when the workspace has no `topics.db`. Opens and closes the file: O(partitions). */
export function listEmbeddedTopics(workspace: string, fx: Effects): EmbeddedTopicSummary[] {
  const database = openTopicsToRead(workspace, fx)
  if (!database) return []
  try {
    return explained(topicsPath(workspace), () =>
      topicRows(database).map(({ number, name, topicId, partitions }) => ({
        name,
        topicId,
        partitions,
        endOffsets: new Map(partitionReader(database, { number, name })().map((row) => [row.partition, row.endOffset])),
      })),
    )
  } finally {
    database.close()
  }
}
