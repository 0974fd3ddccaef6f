/** Each partition of the topic that the selected query reads: where it ends, and how far behind that the query is. */
import type { QueryStatus, TopicStatus } from '../observe/status.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import { kafkaTexts } from './kafka-texts.js'
import type { Line, Span } from './line.js'
import type { Model } from './model.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { span } from './spans.js'
import type { Subject } from './subject.js'
import { cellWidth } from './width.js'

/** What is worth a pane of its own: a topic on Kafka, or one in several partitions; the header tells of any other. */
export function topicWorthShowing({ status, live }: Subject, { view }: Model): TopicStatus | null {
  const source = status?.source ?? live.info.source
  if (source?.kind !== 'topic') return null
  const topic = view?.status.topics.find(({ name }) => name === source.name) ?? null
  return topic !== null && (topic.kind === 'kafka' || topic.partitions > 1) ? topic : null
}

/** How many lines its partitions take on lines of that width. */
export function topicLineCount(topic: TopicStatus, { status }: Subject, width: number): number {
  const cells = cellsOf(topic, status)
  return Math.ceil(cells.length / perLine(cells, width))
}

/** @param width of its lines @param height how many it has; where not all fit, the partitions that are furthest behind are shown */
export function topicPane(
  topic: TopicStatus,
  subject: Subject,
  { model, look, width, height }: { readonly model: Model; readonly look: Look; readonly width: number; readonly height: number },
): Pane {
  const { glyphs } = look
  const name = shownText(topic.name, glyphs.isAscii, 40)
  const title: Line = [span(`topic ${name}, ${topic.partitions === 1 ? '1 partition' : `${topic.partitions} partitions`}`, 'title')]
  const kafka = topic.kind === 'kafka' ? (model.view?.status.kafka ?? null) : null
  const aside = kafka === null ? [] : firstThatFits(kafkaTexts(kafka, look), asideRoom(title, width), kafka.state === 'down' ? 'alarm' : 'text')
  return { title, aside, lines: linesOf(cellsOf(topic, subject.status), width, height) }
}

interface Cell {
  readonly text: string
  readonly behind: bigint | null
}

function cellsOf({ name, endOffsets }: TopicStatus, status: QueryStatus | null): Cell[] {
  const taken = takenOf(name, status)
  return Object.entries(endOffsets).map(([partition, end]) => {
    const behind = taken === null ? null : offsetOf(end) - offsetOf(taken[partition])
    const told = behind === null ? '' : behind > 0n ? `, ${behind} behind` : ', all read'
    return { text: `${partition}: end ${offsetOf(end)}${told}`, behind }
  })
}

/** Where the newest committed batch ends in each partition; null when that is not known. */
function takenOf(topic: string, status: QueryStatus | null): Readonly<Record<string, unknown>> | null {
  if (status === null || status.batchId === null) return null
  const offset = status.step === 'batch-committed' ? status.endOffset : status.startOffset
  const partitions = typeof offset === 'object' && offset !== null ? (offset as Readonly<Record<string, unknown>>)[topic] : null
  return typeof partitions === 'object' && partitions !== null ? (partitions as Readonly<Record<string, unknown>>) : null
}

/** A partition that is not named was not read yet. */
function offsetOf(text: unknown): bigint {
  return typeof text === 'string' && /^\d+$/.test(text) ? BigInt(text) : 0n
}

const GAP = 3

function perLine(cells: readonly Cell[], width: number): number {
  return Math.max(1, Math.floor((width + GAP) / (widest(cells) + GAP)))
}

function widest(cells: readonly Cell[]): number {
  return Math.max(1, ...cells.map(({ text }) => cellWidth(text)))
}

function linesOf(all: readonly Cell[], width: number, height: number): Line[] {
  const columns = perLine(all, width)
  const room = columns * height
  const byLag = (a: Cell, b: Cell) => Number((b.behind ?? 0n) - (a.behind ?? 0n))
  // The last place says how many there are besides.
  const shown = all.length <= room ? all : [...all].sort(byLag).slice(0, Math.max(0, room - 1))
  const cells: Span[] = shown.map(({ text, behind }) => span(text, behind !== null && behind > 0n ? 'flight' : 'text'))
  if (shown.length < all.length) cells.push(span(`${all.length - shown.length} more`))
  const padded = cells.map(({ text, tone }) => span(text + ' '.repeat(Math.max(0, widest(all) + GAP - cellWidth(text))), tone))
  return Array.from({ length: Math.ceil(padded.length / columns) }, (_, row) => padded.slice(row * columns, (row + 1) * columns))
}
