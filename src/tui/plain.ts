/**
 * The dashboard without a screen: one line an event, stable, without escape codes, for pipes, CI and screen readers. Each line is a time,
 * who it is about, and what happened; or with `--json` an object. Pure: messages in, lines out.
 */
import { isoTimeOf } from '../iso-time.js'
import { sentenceOf } from '../observe/sentence.js'
import type { QueryStatus, Status } from '../observe/status.js'
import { safeJson, safeText } from '../safe-text.js'
import type { SessionMessage } from '../session/session-state.js'
import { timeOfDay } from './local-time.js'

export interface PlainOptions {
  readonly json: boolean
  /** What is added to UTC for the local time of day, in minutes. */
  readonly timeZoneOffsetMinutes: number
}

export class PlainLines {
  readonly #options: PlainOptions
  readonly #sentences = new Map<string, string | null>()
  #access: string | null = null

  constructor(options: PlainOptions) {
    this.#options = options
  }

  /** The lines that a message comes to, each with its line end; mostly one or none. */
  take(message: SessionMessage, nowMs: number): string {
    if (message.kind === 'log') return this.#line(message.entry.atMs, message.entry.who, message.entry.kind, message.entry.text)
    if (message.kind === 'view') return message.view.status.queries.map((query) => this.#sentence(query, message.view.takenAtMs)).join('')
    const { access, holderPid } = message.state
    if (access === this.#access) return ''
    this.#access = access
    if (access === 'viewer') return this.#line(nowMs, 'streamtop', 'note', `the queries are held by process ${holderPid}; they are only looked at here`)
    if (access === 'foreign')
      return this.#line(nowMs, 'streamtop', 'note', 'the workspace was made by another tool, most likely Spark; it is only read, and --adopt takes it over')
    return access === 'read-only' ? this.#line(nowMs, 'streamtop', 'note', 'the workspace is only read, as asked') : ''
  }

  /** What each query's table came to. */
  last(status: Status, nowMs: number): string {
    if (this.#options.json) {
      const queries = status.queries.map(({ name, rows, distinct, duplicates, missing, verdict, inFlight }) => ({
        ...{ name, rows, distinct, duplicates, missing, verdict, inFlight },
      }))
      return `${safeJson({ time: isoTimeOf(nowMs), kind: 'counts', queries })}\n`
    }
    return status.queries.map((query) => this.#line(nowMs, query.name, 'counts', countsOf(query))).join('')
  }

  /** A sentence is said once, until it is another. */
  #sentence(query: QueryStatus, atMs: number): string {
    const sentence = sentenceOf(query)
    if (sentence === (this.#sentences.get(query.name) ?? null)) return ''
    this.#sentences.set(query.name, sentence)
    if (sentence === null) return ''
    const opening = `${query.name} `
    return this.#line(atMs, query.name, 'sentence', !this.#options.json && sentence.startsWith(opening) ? sentence.slice(opening.length) : sentence)
  }

  #line(atMs: number, who: string, kind: string, text: string): string {
    if (this.#options.json) return `${safeJson({ time: isoTimeOf(atMs), who, kind, text })}\n`
    return `${timeOfDay(atMs, this.#options.timeZoneOffsetMinutes)} ${safeText(who)} ${safeText(text)}\n`
  }
}

function countsOf({ rows, distinct, duplicates, missing, verdict, inFlight }: QueryStatus): string {
  if (rows === null) return 'has no rows that could be counted'
  const pending = inFlight ? ', a batch is in flight' : ''
  return `has ${rows} rows, ${distinct ?? '?'} different, ${duplicates ?? '?'} duplicates, ${missing ?? '?'} missing: ${verdict ?? 'not judged'}${pending}`
}
