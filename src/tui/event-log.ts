/** The log of what happened and what was asked for, newest first. */
import type { LogEntry } from '../session/session-state.js'
import { entryPassesFilter } from './filter.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import type { Line, Tone } from './line.js'
import { timeOfDay } from './local-time.js'
import type { Model } from './model.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { clipLine, span } from './spans.js'
import { padRight } from './width.js'

/** @param width of its lines @param height how many it has */
export function eventLog(model: Model, { look, width, height }: { look: Look; width: number; height: number }): Pane {
  const entries = shownEntries(model)
  const title = eventsTitle(model, look)
  const more = entries.length - height
  return {
    title,
    aside: more > 0 ? firstThatFits([`${more} more, enter`], asideRoom(title, width)) : [],
    lines: entryLines(entries.slice(0, height), model, width, look),
  }
}

/** What the filter lets through, newest first. */
export function shownEntries({ log, filter }: Model): LogEntry[] {
  return (filter === '' ? [...log] : log.filter((entry) => entryPassesFilter(filter, entry))).reverse()
}

export function eventsTitle({ filter }: Model, { glyphs }: Look): Line {
  return [span('events', 'title'), ...(filter === '' ? [] : [span(` /${shownText(filter, glyphs.isAscii, 30)}`, 'flight')])]
}

/** A line for each entry, or one that says why there is none. */
export function entryLines(entries: readonly LogEntry[], { log }: Model, width: number, look: Look): Line[] {
  if (entries.length > 0) return entries.map((entry) => entryLine(entry, width, look))
  return [[span(log.length === 0 ? 'nothing yet' : 'nothing that the filter lets through')]]
}

function entryLine({ atMs, who, kind, text }: LogEntry, width: number, { glyphs, timeZoneOffsetMinutes }: Look): Line {
  const name = padRight(shownText(who, glyphs.isAscii, 60), width < 70 ? 11 : 13, glyphs.ellipsis)
  const words = `${kind === 'asked' ? '' : `${glyphs.log[kind]} `}${shownText(text, glyphs.isAscii, 300)}`
  return clipLine([span(`${timeOfDay(atMs, timeZoneOffsetMinutes)} ${name} `), span(words, TONES[kind])], width, glyphs.ellipsis)
}

const TONES: Readonly<Record<LogEntry['kind'], Tone>> = {
  asked: 'key',
  committed: 'text',
  skipped: 'flight',
  killed: 'dead',
  failed: 'dead',
  waiting: 'flight',
  note: 'flight',
  started: 'alive',
  stopped: 'text',
}
