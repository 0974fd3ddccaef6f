/** One pane on the whole screen: all batches and versions of the selected query, or the whole log. */
import { checkpointPane } from './checkpoint-pane.js'
import { entryLines, eventsTitle, shownEntries } from './event-log.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import { header } from './header.js'
import type { Line, Size } from './line.js'
import type { Model, Screen } from './model.js'
import { drawPane, firstThatFits, insideOf, type Pane, type PaneStyle } from './pane.js'
import { saidSpans } from './said-pane.js'
import { isForetold } from './play-state.js'
import { beside, span, wrapSpans } from './spans.js'
import { type Subject, subjectsOf } from './subject.js'
import { topicLineCount, topicPane, topicWorthShowing } from './topic-pane.js'
import { versionsPane } from './versions-pane.js'

type Zoom = Extract<Screen, { kind: 'zoom' }>

/** @param size at least 40×8 */
export function zoomScreen(model: Model, zoom: Zoom, size: Size, look: Look): Line[] {
  const subject = subjectsOf(model).find(({ isSelected }) => isSelected) ?? null
  const keys: Line = [
    span(' '),
    ...key('esc', 'back'),
    ...key('enter', zoom.pane === 'logs' ? 'the events' : 'the logs'),
    ...key('up down', 'scroll'),
    ...key('q', 'quit'),
  ]
  const rows = size.rows - 2
  const body =
    zoom.pane === 'events' || subject === null ? eventsBody(model, zoom, { ...size, rows }, look) : logsBody(subject, model, zoom, { ...size, rows }, look)
  return [header(model, size.columns, look), ...Array.from({ length: rows }, (_, row) => body[row] ?? []), keys]
}

function key(name: string, does: string): Line {
  return [span(name, 'key'), span(` ${does}  `)]
}

function eventsBody(model: Model, { scroll }: Zoom, { columns, rows }: Size, look: Look): Line[] {
  const style = styleFor(columns)
  const width = insideOf(style, columns)
  const height = rows - (style === 'boxed' ? 2 : 1)
  const entries = shownEntries(model)
  const first = clamp(scroll, entries.length - height)
  const pane: Pane = {
    title: eventsTitle(model, look),
    aside: positionOf(first, height, entries.length),
    lines: entryLines(entries.slice(first, first + height), model, width, look),
  }
  return drawPane(pane, style, columns, height, look.glyphs)
}

/** All that is to be said, then as many batches and versions as there is room for. */
function logsBody(subject: Subject, model: Model, { scroll }: Zoom, { columns, rows }: Size, look: Look): Line[] {
  const { glyphs } = look
  const style = styleFor(columns)
  const around = style === 'boxed' ? 2 : 1
  const said = wrapSpans(saidSpans(subject, model, glyphs), insideOf(style, columns)).slice(0, Math.max(1, Math.floor(rows / 3)))
  const topic = topicWorthShowing(subject, model)
  const topicRows = topic === null ? 0 : Math.min(Math.max(0, Math.floor(rows / 4) - around), topicLineCount(topic, subject, insideOf(style, columns)))
  const height = rows - said.length - 2 * around - (topicRows === 0 ? 0 : topicRows + around)
  const batches = subject.batches ?? []
  const versions = subject.versions ?? []
  const first = clamp(scroll, Math.max(batches.length, versions.length) - (height - 1))
  const scrolled: Subject = {
    ...subject,
    batches: subject.batches && batches.slice(Math.min(first, Math.max(0, batches.length - 1))),
    versions: subject.versions && versions.slice(Math.min(first, Math.max(0, versions.length - 1))),
  }
  const name = shownText(subject.name, glyphs.isAscii, 60)
  const pane: Pane = { title: [span(name, 'title')], aside: positionOf(first, height - 1, Math.max(batches.length, versions.length)), lines: said }
  const leftColumns = Math.floor(columns * 0.46)
  const inside = { height, hasSummary: height >= 7 && isForetold(model), glyphs }
  const left = drawPane(checkpointPane(scrolled, { ...inside, width: insideOf(style, leftColumns) }), style, leftColumns, height, glyphs)
  const right = drawPane(versionsPane(scrolled, { ...inside, width: insideOf(style, columns - leftColumns) }), style, columns - leftColumns, height, glyphs)
  const partitions =
    topic === null || topicRows === 0
      ? []
      : drawPane(topicPane(topic, subject, { model, look, width: insideOf(style, columns), height: topicRows }), style, columns, topicRows, glyphs)
  return [...drawPane(pane, style, columns, said.length, glyphs), ...partitions, ...beside(left, leftColumns, right, glyphs.ellipsis)]
}

function styleFor(columns: number): PaneStyle {
  return columns >= 100 ? 'boxed' : 'ruled'
}

function clamp(scroll: number, most: number): number {
  return Math.max(0, Math.min(scroll, most))
}

function positionOf(first: number, height: number, count: number): Line {
  return count <= height ? [] : firstThatFits([`${first + 1}-${Math.min(count, first + height)} of ${count}`], 30, 'flight')
}
