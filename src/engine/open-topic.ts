/** Which topic a query reads: of the workspace or of Kafka, and under which name. */
import type { Effects } from '../effects.js'
import type { StreamtopError } from '../errors.js'
import { checkName } from '../names.js'
import { openEmbeddedTopic } from '../topic/embedded-topic.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { Topic } from '../topic/topic.js'
import type { QueryDefinition } from './definition.js'

/** What a query that reads a topic wants to have to do with waits for it. */
export interface TopicWatch {
  /** Ends every wait, with an AbortError where something was asked for. */
  readonly signal: AbortSignal
  /** Told why the topic cannot be reached, again with each new reason, and null when it can. */
  readonly onOutage: (error: StreamtopError | null) => void
}

export type OpenTopic = (workspace: string, name: string, fx: Effects, watch: TopicWatch) => Topic

/**
 * How topics are opened. What Kafka needs is loaded here, where it is needed.
 * @throws usage, bad-config for a choice that is wrong
 */
export async function topicOpener(kafka: KafkaChoice | null, fx: Effects): Promise<OpenTopic> {
  if (kafka === null) return openEmbeddedTopic
  const { readKafkaSettings } = await import('../topic/kafka-settings.js')
  const { openKafkaTopic } = await import('../topic/kafka-topic.js')
  const settings = readKafkaSettings(kafka, process.env, fx)
  return (_workspace, name, effects, watch) => openKafkaTopic(settings, name, watch, effects)
}

/** The topic of the queries that come with streamtop. */
const USUAL_TOPIC = 'orders'

/** A query that reads topic orders, with another topic in its place (`--topic`); any other query as it is. Throws `bad-name`. */
export function onTopic(definition: QueryDefinition, topic: string | null): QueryDefinition {
  const { source } = definition
  if (topic !== null) checkName('topic', topic)
  if (topic === null || source.kind !== 'topic' || source.name !== USUAL_TOPIC) return definition
  return { ...definition, source: { ...source, name: topic } }
}
