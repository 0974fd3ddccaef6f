/** What the event log says of brokers and of topics that are not there: from one look to the next, each change once. Pure. */
import type { KafkaStatus, Status } from '../observe/status.js'
import { reasonText } from './log-text.js'
import type { LogEntry } from './session-state.js'

type Words = Pick<LogEntry, 'kind' | 'text'>

/** @param before null for the first look @param topics those that queries read */
export function brokerNews(before: Status | null, now: Status, topics: readonly string[]): Words[] {
  const { kafka } = now
  if (kafka === undefined) return []
  const news = kafka.state === before?.kafka?.state ? [] : stateWords(kafka, before?.kafka ?? null)
  const gone = topics.filter((topic) => isMissing(now, topic) && !(before !== null && isMissing(before, topic)))
  return [...news, ...gone.map((topic): Words => ({ kind: 'waiting', text: missingText(topic, kafka.brokers) }))]
}

function stateWords(kafka: KafkaStatus, before: KafkaStatus | null): Words[] {
  if (kafka.state === 'connecting') return []
  if (kafka.state === 'down') return kafka.lastError === null ? [] : [{ kind: 'waiting', text: reasonText(kafka.lastError) }]
  return [{ kind: 'note', text: `Kafka at ${kafka.brokers} answers${before?.state === 'down' ? ' again' : ''}` }]
}

/** Only brokers that answer can say so. */
function isMissing({ kafka, topics }: Status, topic: string): boolean {
  return kafka?.state === 'connected' && !topics.some(({ name }) => name === topic)
}

function missingText(topic: string, brokers: string): string {
  return `there is no topic ${topic} on Kafka at ${brokers}; make it: streamtop produce --all --kafka ${brokers} --topic ${topic} --partitions 1`
}
