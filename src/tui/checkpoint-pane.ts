/** `offsets/` and `commits/` of a query's checkpoint side by side, newest first, so that an offset without its commit stands out. */
import { counted } from '../observe/counted.js'
import type { BatchLine } from '../observe/batch-lines.js'
import { type Column, fittedTable } from './columns.js'
import { shownText } from './foreign-text.js'
import type { Glyphs } from './glyphs.js'
import type { Line } from './line.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { span } from './spans.js'
import { isAlive, isLeftPending, type Subject } from './subject.js'

/** @param width of its lines @param height how many it has; with `hasSummary` the last one says what the next start does */
export function checkpointPane(
  subject: Subject,
  { width, height, hasSummary, glyphs }: { width: number; height: number; hasSummary: boolean; glyphs: Glyphs },
): Pane {
  const title: Line = [span(`checkpoints/${shownText(subject.name, glyphs.isAscii, 60)}`, 'title')]
  const batches = batchLinesOf(subject)
  const shown = batches.slice(0, Math.max(0, height - (hasSummary ? 2 : 1)))
  const table = fittedTable(columnsOf(subject, glyphs), shown, { reductions: REDUCTIONS, width, ellipsis: glyphs.ellipsis })
  const lines = batches.length === 0 ? [[span('nothing yet')]] : table
  const filled = [...lines, ...Array.from({ length: Math.max(0, height - lines.length - 1) }, () => [])]
  const lag = subject.status?.lag ?? null
  const aside = lag === null ? [] : firstThatFits([`${counted(lag, 'row')} behind`], asideRoom(title, width))
  return { title, aside, lines: hasSummary ? [...filled, [span(nextStart(subject), 'said')]] : lines }
}

/** As the close look has them; before it, what the status knows. */
export function batchLinesOf({ batches, status }: Subject): readonly BatchLine[] {
  if (batches !== null) return batches
  const ids = [...new Set([...(status?.offsets ?? []), ...(status?.commits ?? [])])].sort((a, b) => b - a)
  return ids.map((batchId) => ({
    batchId,
    isLogged: status?.offsets.includes(batchId) ?? false,
    isCommitted: status?.commits.includes(batchId) ?? false,
    range: null,
    rows: null,
    attempts: null,
  }))
}

export function columnsOf(subject: Subject, { isAscii, missing, border }: Glyphs): Column<BatchLine>[] {
  const none = `${border.horizontal}${border.horizontal} none`
  return [
    {
      name: 'offsets',
      titles: ['offsets/'],
      align: 'left',
      leastWidth: 14,
      cell: ({ batchId, isLogged, range }) => {
        if (!isLogged) return { texts: [`${batchId}  ${none}`], tone: 'alarm' }
        const text = range === null ? '' : shownText(range, isAscii, 60)
        return {
          texts: [
            text,
            text
              .replace(/^versions? /, 'v')
              .replace(/^offsets /, '')
              .replace(/ partitions,.*$/, ' partitions'),
          ].map((words) => `${batchId}  ${words}`.trimEnd()),
        }
      },
    },
    { name: 'rows', titles: ['rows'], align: 'right', leastWidth: 6, cell: ({ rows }) => ({ texts: [rows === null ? '?' : String(rows)] }) },
    {
      name: 'ran',
      titles: ['ran'],
      align: 'right',
      cell: ({ attempts }) => ({ texts: [attempts === null ? '?' : attempts > 1 ? `${attempts}x` : ''], tone: 'flight' }),
    },
    {
      name: 'commits',
      titles: ['commits/'],
      align: 'left',
      leastWidth: 9,
      cell: ({ batchId, isCommitted }) => {
        if (isCommitted) return { texts: [String(batchId)] }
        if (isAlive(subject) && batchId === newestId(subject)) return { texts: ['not yet'], tone: 'flight' }
        return { texts: [`${none.replace('none', `no commits/${batchId}`)} ${missing}`, `${none} ${missing}`, `none ${missing}`], tone: 'alarm' }
      },
    },
  ]
}

const REDUCTIONS = [
  { column: 'commits', how: 'shorten' },
  { column: 'ran', how: 'drop' },
  { column: 'offsets', how: 'shorten' },
  { column: 'commits', how: 'shorten' },
  { column: 'rows', how: 'drop' },
  { column: 'offsets', how: 'squeeze' },
] as const

function newestId(subject: Subject): number | null {
  return batchLinesOf(subject)[0]?.batchId ?? null
}

function nextStart(subject: Subject): string {
  const { status } = subject
  if (status === null) return ''
  if (status.batchId === null) return `next: batch 0`
  if (isLeftPending(subject)) return `next start: batch ${status.batchId} again, the same range`
  if (status.step !== 'batch-committed') return `batch ${status.batchId} is under way`
  return `next: batch ${status.batchId + 1}`
}
