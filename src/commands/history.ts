/** `streamtop history`: the versions of a table, and who made them. */
import { safeJson, safeText } from '../safe-text.js'
import type { Context, Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface HistoryOptions {
  readonly limit?: number
}

export const history: Verb<HistoryOptions> = {
  name: 'history',
  summary: 'the versions of a table, and who made them',
  description:
    'Lists the newest versions of a table, newest first: when, the operation, the query and batch that wrote it, the txn it left, rows and files added and removed, and the tables that were committed together with it.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  options: [{ flags: '--limit <n>', description: 'so many versions at most; 20 unless given', parse: wholeNumber('--limit', 1) }],
  examples: [
    { command: 'streamtop history events_copy', does: 'the newest twenty' },
    { command: 'streamtop history events_copy --limit 1 --json', does: 'the newest, for a program' },
  ],
  run: runHistory,
}

const DEFAULT_LIMIT = 20

async function runHistory({ workspace, arguments: [table = ''], options, json, output, fx }: Context<HistoryOptions>): Promise<number> {
  const { checkTableToRead } = await import('../observe/table-to-read.js')
  const { tableHistory } = await import('../observe/table-history.js')
  checkTableToRead(workspace, table, fx)
  const lines = tableHistory(workspace, table, options.limit ?? DEFAULT_LIMIT, fx)
  if (lines === null) {
    const { noSuchTable } = await import('../store/store.js')
    throw noSuchTable(table)
  }
  if (json) {
    output.stdout(`${safeJson({ table, versions: lines }, 2)}\n`)
    return 0
  }
  const { isoTimeOf } = await import('../iso-time.js')
  const { textTable } = await import('./text-table.js')
  const others = lines.map(({ togetherWith = [] }) => togetherWith)
  const hasOthers = others.some(({ length }) => length > 0)
  output.stdout(
    textTable(
      [
        { title: 'version', align: 'right' },
        { title: 'time (UTC)' },
        { title: 'operation' },
        { title: 'query' },
        { title: 'batch', align: 'right' },
        { title: 'rows', align: 'right' },
        { title: 'files', align: 'right' },
        { title: 'txn' },
        ...(hasOthers ? [{ title: 'together with' }] : []),
      ],
      lines.map((line, at) => [
        String(line.version),
        line.timestampMs === null ? '?' : isoTimeOf(line.timestampMs).slice(0, 19).replace('T', ' '),
        safeText(line.operation ?? '?', 20),
        line.query === null ? '-' : safeText(line.query, 24),
        batchText(line.batchId, line.attempt),
        change(line.rowsAdded, line.rowsRemoved),
        change(line.filesAdded, line.filesRemoved),
        line.txns.length === 0 ? 'none' : safeText(line.txns.map(({ appId, version }) => `${appId} ${version}`).join(', '), 60),
        ...(hasOthers ? [safeText(others[at]?.join(', ') || '-', 60)] : []),
      ]),
    ),
  )
  return 0
}

/** A batch that ran again has its attempt behind it: `7 #2`. */
function batchText(batchId: number | null, attempt: number | null): string {
  if (batchId === null) return '-'
  return attempt === null || attempt === 1 ? String(batchId) : `${batchId} #${attempt}`
}

function change(added: number | null, removed: number | null): string {
  const gone = removed === 0 ? '' : ` -${removed ?? '?'}`
  return `+${added ?? '?'}${gone}`
}
