/** Before a workspace of another tool is taken over: whether its checkpoints count the topics that are on this Kafka. */
import type { Effects } from '../effects.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { TopicIdentity } from '../topic/topic.js'
import { checkpointFolder, listBatches, readOffsets } from './checkpoint.js'
import type { QueryDefinition } from './definition.js'
import { parseTopicOffsets } from './topic-offset.js'
import { checkOffsetsFit, checkTopicIdentity, readTopicIdentity } from './topic-source-files.js'
import { isForeign } from './workspace.js'

/**
 * Refuses to take a workspace over where the newest logged offsets of a query lie outside of its topic. Nothing is written; of a
 * workspace of our own nothing is asked, for each query looks there itself.
 * @param definitions the queries that are to run, each with the topic that it will read
 * @throws checkpoint-foreign; source-missing when the brokers do not answer or have no such topic; what reading a checkpoint finds damaged
 */
export async function checkAdoptedTopics(workspace: string, definitions: readonly QueryDefinition[], kafka: KafkaChoice, fx: Effects): Promise<void> {
  if (!isForeign(workspace, fx)) return
  const counted = definitions.flatMap(({ name, source }) => {
    const folder = checkpointFolder(workspace, name)
    const newest = source.kind === 'topic' ? listBatches(folder, fx).offsets.at(-1) : undefined
    return newest === undefined ? [] : [{ folder, topic: source.name, line: readOffsets(folder, newest, fx).sources[0] ?? null }]
  })
  if (counted.length === 0) return
  const { readKafkaSettings } = await import('../topic/kafka-settings.js')
  const { openKafkaTopicEnds } = await import('../topic/kafka-topic-ends.js')
  const ends = openKafkaTopicEnds(readKafkaSettings(kafka, process.env, fx), [], fx)
  try {
    for (const { folder, topic, line } of counted) {
      const { topicId, clusterId, earliest, latest } = await ends.bounds(topic)
      const actual: TopicIdentity = { kind: 'kafka', name: topic, topicId, clusterId }
      const recorded = readTopicIdentity(folder, fx)
      checkTopicIdentity(folder, { recorded, actual, hasOffsets: true })
      if (recorded === null && line !== null) checkOffsetsFit(folder, parseTopicOffsets(line, topic, folder), { actual, earliest, latest })
    }
  } finally {
    await ends.close()
  }
}
