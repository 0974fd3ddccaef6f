/** The main screen: the queries, the selected one's batch, logs and table, what is to be said, the events. */
import { batchPane } from './batch-pane.js'
import { checkpointPane } from './checkpoint-pane.js'
import { eventLog } from './event-log.js'
import { footer } from './footer.js'
import { shownText } from './foreign-text.js'
import type { Look } from './glyphs.js'
import { header } from './header.js'
import { type Layout, layoutOf } from './layout.js'
import type { Line, Size } from './line.js'
import type { Model } from './model.js'
import { drawPane, insideOf, rowsAround, rule } from './pane.js'
import { isForetold } from './play-state.js'
import { queryTable } from './query-table.js'
import { shownQueries } from './select.js'
import { saidLines, saidPane } from './said-pane.js'
import { beside, clipLine, span } from './spans.js'
import { type Subject, subjectsOf } from './subject.js'
import { topicLineCount, topicPane, topicWorthShowing } from './topic-pane.js'
import { versionsPane } from './versions-pane.js'

/** All panes. @param size at least 60×15 */
export function wholeScreen(model: Model, size: Size, look: Look): Line[] {
  const { subjects, selected } = shownSubjects(model)
  const layout = layoutOf(size, subjects.length)
  const window = windowOf(subjects, layout.rows.queries)
  return [
    header(model, size.columns, look, window.hidden),
    ...queriesBlock(model, window, layout, size.columns, look),
    ...(selected === null ? nothingBlock(model, layout, size.columns, look) : subjectBlocks(selected, { model, layout, columns: size.columns, look })),
    ...eventsBlock(model, layout, size.columns, look),
    ...footer(model, size.columns, layout.footerRows, look.glyphs),
  ]
}

/** The query table and the selected query's sentence. @param size at least 40×8 */
export function onePane(model: Model, { columns, rows }: Size, look: Look): Line[] {
  const { subjects, selected } = shownSubjects(model)
  const { glyphs } = look
  const tableRows = Math.max(1, Math.min(subjects.length, Math.max(rows - 7, Math.ceil((rows - 4) / 2))))
  const window = windowOf(subjects, tableRows)
  const height = rows - tableRows - 4
  const said = selected === null ? [nothingLine(model, look)] : saidLines(selected, { model, width: columns, height, glyphs })
  return [
    header(model, columns, look, window.hidden),
    ...tableLines(model, window, columns, tableRows + 1, look),
    rule(messageLine(model, look) ?? [span(selected === null ? '' : shownText(selected.name, glyphs.isAscii, 40), 'title')], [], columns, glyphs),
    ...Array.from({ length: Math.max(0, height) }, (_, row) => said[row] ?? []),
    ...footer(model, columns, 1, glyphs),
  ]
}

/** The queries that are listed, and the selected query even when it does not. */
export function shownSubjects(model: Model): { subjects: Subject[]; selected: Subject | null } {
  const all = subjectsOf(model)
  const listed = shownQueries(model)
  return {
    subjects: all.filter(({ live }) => listed.includes(live)),
    selected: all.find(({ isSelected }) => isSelected) ?? null,
  }
}

/** The queries that have a line, out of all that are listed. */
export interface QueryWindow {
  readonly all: readonly Subject[]
  readonly shown: readonly Subject[]
  /** What the header says of those that have none; empty when all have one. */
  readonly hidden: string
}

/** As many queries as there are rows for, the selected one among them. */
export function windowOf(subjects: readonly Subject[], height: number): QueryWindow {
  if (subjects.length <= height) return { all: subjects, shown: subjects, hidden: '' }
  const at = Math.max(
    0,
    subjects.findIndex(({ isSelected }) => isSelected),
  )
  const first = Math.min(Math.max(0, at - Math.floor(height / 2)), subjects.length - height)
  return { all: subjects, shown: subjects.slice(first, first + height), hidden: `queries ${first + 1}-${first + height} of ${subjects.length}` }
}

export function tableLines({ state, filter }: Model, { shown, all }: QueryWindow, width: number, height: number, { glyphs }: Look): Line[] {
  const lines = queryTable(shown, width, glyphs, all)
  const empty = state === null ? 'the workspace is being opened' : filter === '' ? 'there is no query' : 'no query that the filter lets through'
  const filled: Line[] = shown.length === 0 ? [...lines, [span(` ${empty}`, 'flight')]] : lines
  return Array.from({ length: height }, (_, row) => filled[row] ?? [])
}

export function queriesBlock(model: Model, window: QueryWindow, layout: Layout, columns: number, look: Look): Line[] {
  const { style } = layout
  const lines = tableLines(model, window, insideOf(style, columns), layout.rows.queries + 1, look)
  if (style === 'ruled') return lines.map((line) => [span(' '), ...line])
  const alive = (model.state?.queries ?? []).filter((live) => live.process !== 'none').length
  const aside = model.state?.access === 'owner' ? [span(`${alive} of ${model.state.queries.length} alive`)] : []
  return drawPane({ title: [span('queries', 'title')], aside, lines }, style, columns, layout.rows.queries + 1, look.glyphs)
}

export function subjectBlocks(subject: Subject, { model, layout, columns, look }: { model: Model; layout: Layout; columns: number; look: Look }): Line[] {
  const { style, rows } = layout
  const { glyphs } = look
  const width = insideOf(style, columns)
  const topicRows = topicRowsOf(subject, model, layout, width)
  const logRows = rows.logs - (topicRows === 0 ? 0 : topicRows + rowsAround(style))
  const hasSummary = logRows >= 7 && isForetold(model)
  const leftColumns = Math.floor(columns * 0.46)
  const rightColumns = columns - leftColumns
  const lines: Line[] = []
  if (rows.batch > 0) lines.push(...drawPane(batchPane(subject, { model, look, width, height: rows.batch }), style, columns, rows.batch, glyphs))
  const topic = topicRows === 0 ? null : topicWorthShowing(subject, model)
  if (topic !== null) lines.push(...drawPane(topicPane(topic, subject, { model, look, width, height: topicRows }), style, columns, topicRows, glyphs))
  if (rows.logs > 0) {
    const checkpoint = checkpointPane(subject, { width: insideOf(style, leftColumns), height: logRows, hasSummary, glyphs })
    const versions = versionsPane(subject, { width: insideOf(style, rightColumns), height: logRows, hasSummary, glyphs })
    const left = drawPane(checkpoint, style, leftColumns, logRows, glyphs)
    lines.push(...beside(left, leftColumns, drawPane(versions, style, rightColumns, logRows, glyphs), glyphs.ellipsis))
  }
  if (rows.said > 0) {
    const pane = saidPane(subject, { model, width, height: rows.said, glyphs })
    // On the smallest screens there is no log below it that could carry the message.
    const message = rows.events === 0 ? messageLine(model, look) : null
    lines.push(...drawPane(message === null ? pane : { ...pane, title: message, aside: [] }, style, columns, rows.said, glyphs))
  }
  return lines
}

/** The partitions get of the logs' rows, where those have enough to give. */
function topicRowsOf(subject: Subject, model: Model, { style, rows }: Layout, width: number): number {
  const topic = topicWorthShowing(subject, model)
  const room = rows.logs - LEAST_LOG_ROWS - rowsAround(style)
  return topic === null ? 0 : Math.max(0, Math.min(MOST_TOPIC_ROWS, room, topicLineCount(topic, subject, width)))
}

const LEAST_LOG_ROWS = 5
const MOST_TOPIC_ROWS = 3

export function nothingBlock(model: Model, { style, rows }: Layout, columns: number, look: Look): Line[] {
  const parts = (['batch', 'logs', 'said'] as const).filter((part) => rows[part] > 0)
  const around = style === 'boxed' ? 2 : 1
  const height = parts.reduce((sum, part) => sum + rows[part] + around, 0) - around
  return drawPane({ title: [span('streamtop', 'title')], aside: [], lines: [nothingLine(model, look)] }, style, columns, height, look.glyphs)
}

function nothingLine({ state }: Model, { glyphs }: Look): Line {
  if (state === null) return [span(`Opening the workspace${glyphs.ellipsis}`, 'said')]
  return [span(state.queries.length === 0 ? 'There is no query here.' : 'No query is selected: the arrows or its number select one.', 'said')]
}

export function eventsBlock(model: Model, { style, rows }: Layout, columns: number, look: Look): Line[] {
  if (rows.events === 0) return []
  const pane = eventLog(model, { look, width: insideOf(style, columns), height: rows.events })
  const message = messageLine(model, look)
  if (style === 'boxed') return drawPane(pane, style, columns, rows.events, look.glyphs, message ?? [])
  // The title gives way: what was just asked for is looked for there.
  return drawPane(message === null ? pane : { ...pane, title: message }, style, columns, rows.events, look.glyphs)
}

/** What became of the last thing that was asked for; null when there is nothing to say. */
export function messageLine({ message }: Model, { glyphs }: Look): Line | null {
  if (message === null) return null
  const text = shownText(message.text, glyphs.isAscii, 300)
  return message.kind === 'refused' ? [span(`no: ${text}`, 'alarm')] : [span(text, 'key')]
}

/** Exactly so many lines, none wider than the screen, the last cell of the last one empty. */
export function legalFrame(lines: readonly Line[], { columns, rows }: Size, ellipsis: string): Line[] {
  return Array.from({ length: rows }, (_, row) => {
    const line = lines[row] ?? []
    return row === rows - 1 ? clipLine(line, Math.max(0, columns - 1), ellipsis) : clipLine(line, columns, ellipsis)
  })
}

/** The last lines are covered by others. */
export function withBottom(lines: readonly Line[], bottom: readonly Line[], { rows }: Size): Line[] {
  const kept = Array.from({ length: Math.max(0, rows - bottom.length) }, (_, row) => lines[row] ?? [])
  return [...kept, ...bottom.slice(-rows)]
}
