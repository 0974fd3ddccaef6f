/** How the brokers are, in words. */
import type { KafkaStatus } from '../observe/status.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import { timeOfDay } from './local-time.js'

/** The longest first. */
export function kafkaTexts({ brokers, state, sinceMs }: KafkaStatus, { glyphs, timeZoneOffsetMinutes }: Look): string[] {
  const where = shownText(brokers, glyphs.isAscii, 60)
  if (state === 'connecting') return [`connecting to kafka ${where}`, 'connecting to kafka', 'kafka ?']
  if (state === 'connected') return [`kafka ${where} connected`, `kafka ${where}`, 'kafka']
  const since = timeOfDay(sinceMs, timeZoneOffsetMinutes)
  return [`kafka ${where} down since ${since}`, `kafka down since ${since}`, 'kafka down']
}

/** Why they are down, behind the words above; empty when they are not. */
export function whyKafkaIsDown({ brokers, lastError }: KafkaStatus, { glyphs }: Look): string {
  const message = lastError?.message ?? ''
  const opening = `Kafka at ${brokers} `
  return shownText(message.startsWith(opening) ? message.slice(opening.length) : message, glyphs.isAscii, 160)
}
