/** The newest versions of a query's table: what wrote them, how many rows, which batch, under which txn. */
import { counted } from '../observe/counted.js'
import type { HistoryLine } from '../observe/table-history.js'
import { type Column, fittedTable } from './columns.js'
import { shownText } from './foreign-text.js'
import type { Glyphs } from './glyphs.js'
import type { Line } from './line.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { isCountOld } from './query-table.js'
import { span } from './spans.js'
import { isLeftPending, type Subject } from './subject.js'

/** @param width of its lines @param height how many it has; with `hasSummary` the last one has the newest txn and what was counted */
export function versionsPane(
  subject: Subject,
  { width, height, hasSummary, glyphs }: { width: number; height: number; hasSummary: boolean; glyphs: Glyphs },
): Pane {
  const { tableName, table, versions } = subject
  const title: Line = [span(tableName === null ? 'its table is not known' : `tables/${shownText(tableName, glyphs.isAscii, 60)}`, 'title')]
  const aside = firstThatFits(filesOf(subject), asideRoom(title, width), (table?.orphans ?? 0) > 0 ? 'flight' : 'text')
  const skip = skipLine(subject, width, glyphs)
  const room = Math.max(0, height - (hasSummary ? 2 : 1) - skip.length)
  const lines = fittedTable(versionColumns(subject, glyphs), (versions ?? []).slice(0, room), { reductions: REDUCTIONS, width, ellipsis: glyphs.ellipsis })
  const titles = versions === null || versions.length === 0 ? [[span(table === null ? 'no table yet' : '')]] : lines.slice(0, 1)
  const filled = [...titles, ...skip, ...lines.slice(1)]
  if (!hasSummary) return { title, aside, lines: filled }
  const blanks = Array.from({ length: Math.max(0, height - filled.length - 1) }, () => [])
  return { title, aside, lines: [...filled, ...blanks, firstThatFits(summariesOf(subject, glyphs), width, 'said')] }
}

function filesOf({ table }: Subject): string[] {
  if (table === null) return []
  const files = table.files === null ? null : counted(table.files, 'file')
  const orphans = table.orphans === null ? null : counted(table.orphans, 'orphan')
  const both = [files, orphans].filter((text) => text !== null).join(', ')
  return [both, ...((table.orphans ?? 0) > 0 && orphans !== null ? [orphans] : [])].filter((text) => text !== '')
}

function summariesOf(subject: Subject, glyphs: Glyphs): string[] {
  const { status, table } = subject
  if (status === null || table === null) return ['']
  const txn = status.newestTxn === null ? 'none' : `(${shownText(status.newestTxn.appId, glyphs.isAscii, 40)}, ${status.newestTxn.version})`
  const old = isCountOld(subject) ? `rows counted at version ${table.countsVersion}, the newest is ${table.version}; ` : ''
  return [`${old}newest txn of this query: ${txn}`, `${old}newest txn: ${txn}`, `newest txn: ${txn}`, 'newest txn: with a long name']
}

/** A write that the table skipped makes no version: it is told instead. */
function skipLine({ status }: Subject, width: number, glyphs: Glyphs): Line[] {
  const last = status?.batchAttempts.at(-1)
  if (last === undefined || last.outcome !== 'already-committed') return []
  const rows = last.rows ?? 0
  const txn = last.appId === null ? 'txn' : `txn (${shownText(last.appId, glyphs.isAscii, 40)}, ${last.txnVersion ?? status?.batchId ?? '?'})`
  const left = (last.leftOutRows ?? 0) > 0 ? `${last.leftOutRows} left out` : null
  const texts = [
    `${txn} seen: 0 of ${counted(rows, 'row')} written${left === null ? '' : `, ${left}`}`,
    `${txn} seen: 0 of ${rows} written`,
    `${txn.replace('txn ', '')} seen: 0 of ${rows} written`,
    `seen: 0 of ${counted(rows, 'row')} written`,
    `0 of ${rows} written`,
  ]
  return [
    firstThatFits(
      texts.map((text) => `${glyphs.log.skipped} ${text}`),
      width,
      left === null ? 'said' : 'alarm',
    ),
  ]
}

export function versionColumns(subject: Subject, glyphs: Glyphs): Column<HistoryLine>[] {
  const { isAscii, missing } = glyphs
  const suspects = suspectVersions(subject)
  return [
    { name: 'version', titles: ['version', 'ver'], align: 'right', cell: ({ version }) => ({ texts: [String(version)] }) },
    {
      name: 'operation',
      titles: ['operation', 'op'],
      align: 'left',
      cell: ({ operation }) => {
        const text = operation === null ? '?' : shownText(operation, isAscii, 40)
        return { texts: [text, text.split(' ')[0] ?? text] }
      },
    },
    {
      name: 'rows',
      titles: ['rows'],
      align: 'right',
      leastWidth: 7,
      cell: (line) => ({ texts: [rowChange(line)], tone: suspects.has(line.version) ? 'alarm' : 'text' }),
    },
    {
      name: 'batch',
      titles: ['batch'],
      align: 'right',
      cell: ({ batchId, query }) => {
        const batch = batchId === null ? '-' : String(batchId)
        return { texts: [query === null || query === subject.name ? batch : `${shownText(query, isAscii, 20)} ${batch}`, batch] }
      },
    },
    { name: 'attempt', titles: ['attempt', 'try'], align: 'right', cell: ({ attempt }) => ({ texts: [attempt === null ? '-' : String(attempt)] }) },
    {
      name: 'txn',
      titles: ['txn'],
      align: 'left',
      cell: ({ txns, version }) => {
        const mark = suspects.has(version) ? ` ${missing}` : ''
        const texts = txns.map(({ appId, version: number }) => ({ name: shownText(appId, isAscii, 60), number }))
        if (texts.length === 0) return { texts: [`none${mark}`], tone: mark === '' ? 'text' : 'alarm' }
        return {
          texts: [
            texts.map(({ name, number }) => `${shortId(name, glyphs)}, ${number}${mark}`).join('; '),
            texts.map(({ number }) => `${glyphs.ellipsis}, ${number}${mark}`).join('; '),
          ],
        }
      },
    },
  ]
}

const REDUCTIONS = [
  { column: 'attempt', how: 'shorten' },
  { column: 'version', how: 'shorten' },
  { column: 'operation', how: 'shorten' },
  { column: 'attempt', how: 'drop' },
  { column: 'batch', how: 'shorten' },
  { column: 'rows', how: 'shorten' },
  { column: 'txn', how: 'shorten' },
  { column: 'operation', how: 'drop' },
  { column: 'txn', how: 'squeeze' },
] as const

/** The query's id, which a native sink takes as its app id, is told by its beginning. */
function shortId(appId: string, { ellipsis }: Glyphs): string {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(appId) ? `${appId.slice(0, 8)}${ellipsis}` : appId
}

function rowChange({ rowsAdded, rowsRemoved }: HistoryLine): string {
  if (rowsAdded === null || rowsRemoved === null) return '?'
  return rowsRemoved === 0 ? `+${rowsAdded}` : `+${rowsAdded} -${rowsRemoved}`
}

/**
 * Versions without a txn that matter: of the batch that was left without a commit, which nothing keeps from being written again; and
 * of a batch that was written before.
 */
function suspectVersions(subject: Subject): ReadonlySet<number> {
  const { versions, status, name } = subject
  const pendingId = isLeftPending(subject) ? (status?.batchId ?? null) : null
  const written = new Set<string>()
  const suspects = new Set<number>()
  for (const line of [...(versions ?? [])].reverse()) {
    if (line.batchId === null || line.query !== name || (line.rowsAdded ?? 0) === 0 || line.operation === 'MERGE') continue
    const batch = `${line.queryId} ${line.batchId}`
    if (written.has(batch)) suspects.add(line.version)
    written.add(batch)
    if (line.batchId === pendingId && line.queryId === status?.id && line.txns.length === 0) suspects.add(line.version)
  }
  return suspects
}
