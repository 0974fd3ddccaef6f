/** The first line: whose workspace it is, what arrives, how fast everything goes, what time it is. */
import type { TopicStatus } from '../observe/status.js'
import { shownText } from './foreign-text.js'
import type { Glyphs, Look } from './glyphs.js'
import type { Line, Tone } from './line.js'
import { ageOf, timeOfDay } from './local-time.js'
import { kafkaTexts, whyKafkaIsDown } from './kafka-texts.js'
import type { Model } from './model.js'
import { clipLine, lineWidth, span } from './spans.js'
import { cellWidth } from './width.js'

/** A part of the line in its forms, longest first. Where they do not all fit, those of the least worth are shortened first, then left out. */
interface Part {
  readonly worth: number
  readonly side: 'left' | 'right'
  readonly tone: Tone
  readonly texts: readonly string[]
}

/** @param hidden how many queries the table does not show */
export function header(model: Model, columns: number, look: Look, hidden = ''): Line {
  const parts = partsOf(model, look, hidden)
    .filter(({ texts }) => texts.length > 0)
    .map((part) => ({ part, level: 0, widths: part.texts.map((text) => (text === '' ? 0 : cellWidth(text) + gapOf(part).length)) }))
  const text = ({ part, level }: { part: Part; level: number }) => part.texts[level] ?? ''
  const shown = (side: Part['side']): Line =>
    parts.flatMap((one) => (one.part.side === side && text(one) !== '' ? [span(gapOf(one.part)), span(text(one), one.part.tone)] : []))
  const isTooWide = () => parts.reduce((sum, { level, widths }) => sum + (widths[level] ?? 0), 1) > columns
  const byWorth = [...parts].sort((a, b) => a.part.worth - b.part.worth)
  for (const one of byWorth) while (one.level < one.part.texts.length - 1 && isTooWide()) one.level += 1
  for (const one of byWorth) if (isTooWide()) one.level = one.part.texts.length
  const left = shown('left')
  const right = shown('right')
  const gap = columns - 1 - lineWidth(left) - lineWidth(right)
  return clipLine([...left, span(' '.repeat(Math.max(0, gap))), ...right], columns, look.glyphs.ellipsis)
}

function gapOf({ side }: Part): string {
  return side === 'left' ? ' ' : '  '
}

function partsOf(model: Model, look: Look, hidden: string): Part[] {
  const { state, view, nowMs, filter } = model
  const { glyphs, timeZoneOffsetMinutes } = look
  const isPaused = state?.isPaused ?? false
  const left = (worth: number, texts: readonly string[], tone: Tone = 'text'): Part => ({ worth, side: 'left', tone, texts })
  const right = (worth: number, texts: readonly string[], tone: Tone = 'text'): Part => ({ worth, side: 'right', tone, texts })
  const clock = isPaused ? 'PAUSED' : model.isQuitting ? 'quitting' : timeOfDay(nowMs, timeZoneOffsetMinutes)
  const age = view === null || isPaused || nowMs - view.takenAtMs < OLD_VIEW_MS ? [] : [`looked ${ageOf(view.takenAtMs, nowMs)}`, ageOf(view.takenAtMs, nowMs)]
  return [
    left(90, ['streamtop'], 'title'),
    left(30, state === null ? [] : workspaceTexts(state.workspace, glyphs)),
    ...kafkaParts(model, look),
    left(95, accessTexts(model), 'flight'),
    left(85, filter === '' ? [] : [`filter /${shownText(filter, glyphs.isAscii, 20)}`, `/${shownText(filter, glyphs.isAscii, 8)}`], 'flight'),
    right(80, hidden === '' ? [] : [hidden], 'flight'),
    right(60, topicTexts(view?.status.topics ?? [], topicsAge(model), glyphs)),
    ...(isPaused || (view?.status.topics ?? []).length === 0 ? [] : [right(50, rateTexts(model, glyphs), 'alive')]),
    right(40, state === null || state.access !== 'owner' ? [] : paceTexts(state.pace)),
    right(86, age, 'flight'),
    right(70, [clock], isPaused || model.isQuitting ? 'flight' : 'text'),
  ]
}

/** A look is taken at every change; one that is older is said. */
const OLD_VIEW_MS = 10_000

/** Its last folders, as many as there is room for: what comes before says little. */
function workspaceTexts(workspace: string, { ellipsis, isAscii }: Glyphs): string[] {
  const folders = workspace.split('/').filter((name) => name !== '')
  const shown = (count: number) => shownText(folders.slice(-count).join('/'), isAscii, 60)
  return folders.length <= 2 ? [shownText(workspace, isAscii, 60), shown(1)] : [`${ellipsis}/${shown(2)}`, `${ellipsis}/${shown(1)}`]
}

function accessTexts({ state, isQuitting }: Model): string[] {
  if (state === null) return isQuitting ? ['not open yet: ctrl-c ends it now', 'ctrl-c ends it now'] : ['opens the workspace']
  if (state.access === 'viewer' && state.hasHolderEnded)
    return [
      `viewer: pid ${state.holderPid ?? '?'} has ended; start streamtop again to run the queries`,
      `viewer: pid ${state.holderPid ?? '?'} has ended; start again`,
    ]
  if (state.access === 'viewer') return [`viewer: queries are held by pid ${state.holderPid ?? '?'}`, `viewer: pid ${state.holderPid ?? '?'}`]
  if (state.access === 'foreign') return ['read-only: made by Spark']
  return state.access === 'read-only' ? ['read-only'] : []
}

/** Brokers that are down are worth more than the time of day; why they are is in the log and the sentence too. */
function kafkaParts({ view }: Model, look: Look): Part[] {
  const kafka = view?.status.kafka ?? null
  if (kafka === null) return []
  const isUp = kafka.state === 'connected'
  const state: Part = { worth: isUp ? 45 : 88, side: 'left', tone: isUp ? 'text' : kafka.state === 'down' ? 'alarm' : 'flight', texts: kafkaTexts(kafka, look) }
  return kafka.state === 'down' ? [state, { worth: 10, side: 'left', tone: 'alarm', texts: [whyKafkaIsDown(kafka, look), ''] }] : [state]
}

/** Of topics that could not be asked for at the last look; empty when they could. */
function topicsAge({ view, nowMs }: Model): string {
  const kafka = view?.status.kafka ?? null
  return kafka === null || kafka.topicsOfMs === null ? '' : ageOf(kafka.topicsOfMs, nowMs)
}

/** Each partition's end offset, while there are few. */
function topicTexts(topics: readonly TopicStatus[], age: string, { isAscii }: Glyphs): string[] {
  const [topic, ...others] = topics
  if (topic === undefined) return []
  const name = shownText(topic.name, isAscii, 40)
  const ends = Object.entries(topic.endOffsets)
  const sum = ends.reduce((total, [, end]) => total + (/^\d+$/.test(end) ? BigInt(end) : 0n), 0n)
  const more = others.length === 0 ? '' : `, ${others.length} more`
  const byPartition =
    ends.length > 1 && ends.length <= 4
      ? [`topic ${name} ${ends.map(([partition, end]) => `${partition}:${shownText(end, isAscii, 20)}`).join(' ')}${more}`]
      : []
  const partitions = ends.length > 1 ? ` in ${ends.length} partitions` : ''
  const texts = [...byPartition, `topic ${name} ${sum}${partitions}${more}`, `topic ${name} ${sum}`, `${name} ${sum}`]
  return age === '' ? texts : texts.map((text) => `${text} (${age})`)
}

function rateTexts({ arrivals, state }: Model, { spark }: Glyphs): string[] {
  // The last number is of the second that is going on.
  const newest = arrivals.slice(-RATE_SECONDS - 1, -1)
  const rate = newest.length === 0 ? 0 : newest.reduce((sum, count) => sum + count, 0) / newest.length
  if (rate === 0 && state?.generator.isOn === false && state.access === 'owner') return ['generator off', '']
  // Of a workspace that is only looked at its kind is worth more than the rate.
  const least = state?.access === 'owner' ? [] : ['']
  const text = `+${rate < 100 ? rate.toFixed(1) : Math.round(rate)}/s`
  return arrivals.length === 0 ? [text, ...least] : [`${text} ${sparkline(arrivals.slice(-SPARK_CELLS), spark)}`, text, ...least]
}

const RATE_SECONDS = 5
const SPARK_CELLS = 12

/** One cell for each number, against the greatest of them. */
export function sparkline(counts: readonly number[], levels: readonly string[]): string {
  const greatest = Math.max(1, ...counts)
  return counts.map((count) => levels[Math.round((count / greatest) * (levels.length - 1))] ?? '').join('')
}

function paceTexts({ name, dwellMs }: { readonly name: string; readonly dwellMs: number }): string[] {
  return [`pace ${name}${dwellMs === 0 ? '' : ` ${dwellMs} ms/step`}`, name]
}
