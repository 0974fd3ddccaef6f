/** The status object as text for 80 columns: queries, topics, tables, and below them what happened and why. */
import type { QueryStatus, Status, TableStatus, TopicStatus } from '../observe/status.js'
import { rejectedText } from '../observe/rejected.js'
import { safeText } from '../safe-text.js'
import { textTable, wrapped } from './text-table.js'

const WIDTH = 80
const NAME_MAX = 24

/**
 * The whole status, ended by a line end.
 * @param sentenceOf what to say of a query
 */
export function statusText(status: Status, sentenceOf: (query: QueryStatus) => string | null): string {
  const blocks = [queriesText(status.queries)]
  if (status.topics.length > 0) blocks.push(topicsText(status.topics))
  if (status.tables.length > 0) blocks.push(tablesText(status.tables))
  const notes = [
    ...status.errors.map((error) => error.message),
    ...status.queries.flatMap((query) => notesOf(query, sentenceOf)),
    ...status.tables.flatMap((table) => (table.error ? [`table ${table.name}: ${table.error.message}`] : [])),
  ]
  if (notes.length > 0) blocks.push([...new Set(notes)].map((note) => wrapped(safeText(note), WIDTH, '  ')).join(''))
  return blocks.join('\n')
}

function queriesText(queries: readonly QueryStatus[]): string {
  return textTable(
    [
      { title: 'query' },
      { title: 'state' },
      { title: 'batch', align: 'right' },
      { title: 'rows', align: 'right' },
      { title: 'distinct', align: 'right' },
      { title: 'dup', align: 'right' },
      { title: 'missing', align: 'right' },
      { title: 'verdict' },
    ],
    queries.map((query) => [
      name(query.name),
      query.state,
      number(query.batchId, '-'),
      number(query.rows),
      number(query.distinct),
      number(query.duplicates),
      number(query.missing),
      `${query.verdict ?? 'unknown'}${query.alsoDuplicated ? ', duplicated' : ''}${query.inFlight ? ' ~' : ''}`,
    ]),
  )
}

function topicsText(topics: readonly TopicStatus[]): string {
  const end = ({ endOffsets }: TopicStatus) => {
    const ends = Object.values(endOffsets)
    return ends.length === 1 ? (ends[0] ?? '0') : String(ends.reduce((sum, offset) => sum + BigInt(offset), 0n))
  }
  return textTable(
    [{ title: 'topic' }, { title: 'partitions', align: 'right' }, { title: 'records', align: 'right' }],
    topics.map((topic) => [name(topic.name), String(topic.partitions), end(topic)]),
  )
}

function tablesText(tables: readonly TableStatus[]): string {
  return textTable(
    [
      { title: 'table' },
      { title: 'version', align: 'right' },
      { title: 'rows', align: 'right' },
      { title: 'distinct', align: 'right' },
      { title: 'dup', align: 'right' },
      { title: 'files', align: 'right' },
      { title: 'orphans', align: 'right' },
    ],
    tables.map((table) => [
      name(table.name),
      number(table.version),
      number(table.rows),
      number(table.distinct),
      number(table.duplicates),
      number(table.files),
      number(table.orphans),
    ]),
  )
}

function notesOf(query: QueryStatus, sentenceOf: (query: QueryStatus) => string | null): string[] {
  // The reason of a lossy skip says all that the sentence says, and who wrote that number before.
  const isLossySkip = query.verdict === 'missing' && (query.batchAttempts.at(-1)?.leftOutRows ?? 0) > 0
  const sentence = isLossySkip ? null : sentenceOf(query)
  const told = sentence === null ? [] : [sentence.startsWith(query.name) ? sentence : `${query.name}: ${sentence}`]
  if (query.lastError !== null && !sentence?.includes(query.lastError.message)) told.push(`${query.name}: ${query.lastError.message}`)
  const lost = query.lostOffsets ?? 0
  if (lost > 0) told.push(`${query.name}: ${lost} ${lost === 1 ? 'offset' : 'offsets'} of its topic were gone before it could read them, and are left out`)
  const verdict = query.verdict === 'missing' || query.verdict === 'duplicated' || query.verdict === null
  const rejected = rejectedText(query.rejected ?? null, query.source?.name ?? null, query.rejectedTable ?? null)
  const reasons = verdict ? query.reasons : rejected === null ? [] : [rejected]
  told.push(...reasons.filter((reason) => !sentence?.includes(reason)).map((reason) => `${query.name}: ${reason}`))
  return told
}

function name(text: string): string {
  return safeText(text, NAME_MAX)
}

function number(value: number | null, none = '?'): string {
  return value === null ? none : String(value)
}
