/**
 * The verdict of a query's work against its own source. Pure. The numbers come from the data; where the data cannot tell, the ledger
 * decides; the reasons are the ledger's, and where it knows nothing they say so.
 */
import type { Holds } from '../engine/definition.js'
import { counted } from './counted.js'
import type { RepeatedWrite } from '../store/ledger-evidence.js'
import type { LedgerFacts } from './ledger-facts.js'
import { rejectedText } from './rejected.js'
import type { Comparison } from './sink-comparison.js'
import type { VerdictName } from './status.js'

export interface VerdictFacts {
  readonly query: string
  readonly table: string
  /** The topic's records that are no rows, and the table that has them; null when there are none. */
  readonly rejected?: { readonly topic: string; readonly rows: number; readonly table: string } | null
  readonly holds: Holds
  /** Of the sink's table: 0 when it is not there, null when it cannot be read. */
  readonly rows: number | null
  readonly queryId: string | null
  readonly comparison: Comparison
  readonly ledger: Pick<LedgerFacts, 'repeated' | 'writers' | 'otherQueries' | 'lossySkips' | 'rowsInDroppedTables'>
}

export interface Verdict {
  readonly verdict: VerdictName | null
  readonly alsoDuplicated: boolean
  /** Rows written more often than the source has them; null when that is not known. */
  readonly writtenTwice: number | null
  readonly reasons: readonly string[]
}

export function judge(facts: VerdictFacts): Verdict {
  const verdict = verdictOf(facts)
  const { topic = null, rows = null, table = null } = facts.rejected ?? {}
  const rejected = rejectedText(rows, topic, table)
  return rejected === null ? verdict : { ...verdict, reasons: [...verdict.reasons, rejected] }
}

function verdictOf(facts: VerdictFacts): Verdict {
  const { rows, comparison } = facts
  if (rows === null)
    return { verdict: null, alsoDuplicated: false, writtenTwice: null, reasons: comparison.because === null ? [] : [`not known: ${comparison.because}`] }
  const { missing } = comparison
  const writtenTwice = rowsWrittenTwice(facts)
  const isDuplicated = (writtenTwice ?? 0) > 0
  const isMissing = (missing ?? 0) > 0
  const reasons = [...(isMissing ? whyMissing(facts, missing ?? 0) : []), ...(isDuplicated ? whyDuplicated(facts, writtenTwice ?? 0) : [])]
  const base = { alsoDuplicated: isMissing && isDuplicated, writtenTwice, reasons }
  if (isMissing) return { ...base, verdict: 'missing' }
  if (isDuplicated) return { ...base, verdict: 'duplicated' }
  if (rows === 0) return { ...base, verdict: 'empty' }
  const isKnown = missing !== null && writtenTwice !== null
  // Without numbers the ledger can still say that nothing was written twice; whether all is there stays open.
  if (!isKnown && facts.ledger.writers.length === 0)
    return { ...base, verdict: null, reasons: [`not known: ${comparison.because ?? 'the ledger knows nothing of it'}`] }
  return { ...base, verdict: 'exactly-once', reasons: isKnown ? [] : [`judged by the ledger alone: ${comparison.because ?? 'the data does not tell'}`] }
}

/**
 * Several rows of one key are what plain inserts make of several batches, so there the ledger decides; and where the data does not
 * tell. Everywhere else the data does.
 */
function rowsWrittenTwice({ holds, comparison, ledger }: VerdictFacts): number | null {
  const isPlainInsert = typeof holds === 'object' && ledger.writers.some((writer) => writer.plainWrites > 0)
  if (comparison.writtenTwice !== null && !isPlainInsert) return comparison.writtenTwice
  if (ledger.writers.length === 0) return comparison.writtenTwice
  return ledger.repeated.reduce((sum, writes) => sum + extraRows(writes), 0) + rowsOfEarlierLives({ ledger, holds })
}

/** Rows that a repeated write has put into the table again. A MERGE that follows finds its rows there. */
function extraRows(writes: readonly RepeatedWrite[]): number {
  return writes.slice(1).reduce((sum, write) => sum + (write.operation === 'MERGE' ? 0 : write.rows), 0)
}

/** Of what a new checkpoint reads again from the beginning, as much is there already as a life before it wrote. A MERGE finds its rows there. */
function rowsOfEarlierLives({ ledger: { writers }, holds }: Pick<VerdictFacts, 'ledger' | 'holds'>): number {
  let most = 0
  let again = 0
  for (const life of writers) {
    if (typeof holds !== 'object' || life.plainWrites > 0) again += Math.min(life.rows, most)
    most = Math.max(most, life.rows)
  }
  return again
}

function whyMissing({ query, table, ledger, queryId }: VerdictFacts, missing: number): string[] {
  const reasons = ledger.lossySkips.map(
    (skip) => `batch ${skip.batchId} was skipped and its ${counted(skip.rows, 'row')} left out: ${skip.reason ?? `${table} has its txn already`}`,
  )
  if (ledger.rowsInDroppedTables > 0) {
    reasons.push(
      `${query} wrote ${counted(ledger.rowsInDroppedTables, 'row')} to a table ${table} that was dropped or replaced since; its checkpoint does not write them again`,
    )
  }
  if (reasons.length > 0) return reasons
  if (queryId === null) return [`${counted(missing, 'row')} of the source cannot be found in ${table}`]
  return [`${counted(missing, 'row')} that the checkpoint has as committed cannot be found in ${table}, and the ledger has no record why`]
}

function whyDuplicated({ query, table, rejected, ledger, queryId }: VerdictFacts, writtenTwice: number): string[] {
  const reasons: string[] = []
  for (const writes of ledger.repeated) {
    if (extraRows(writes) === 0) continue
    const first = writes[0] as RepeatedWrite
    const how = writes.map(
      (write) =>
        `attempt ${write.attempt} ${write.operation === 'MERGE' ? 'by MERGE' : write.appId === null ? 'without a txn' : `with txn (${write.appId}, ${write.batchId})`}`,
    )
    // A MERGE finds what was there before it, so it adds only when it was the first.
    const copies = writes.filter((write, place) => place === 0 || write.operation !== 'MERGE').length
    reasons.push(
      `batch ${first.batchId} was written ${timesOf(writes.length)}, ${listed(how)}: its ${counted(first.rows, 'row')} ${isOrAre(first.rows)} there ${timesOf(copies)}`,
    )
  }
  if (ledger.writers.length > 1) {
    const lives = ledger.writers.map(
      (life) => `query id ${life.queryId}${life.queryId === queryId ? ' (the checkpoint that is there now)' : ''} wrote ${counted(life.rows, 'row')}`,
    )
    reasons.push(`${query} wrote to ${table} with ${ledger.writers.length} checkpoints, each of which read its source from the beginning: ${listed(lives)}`)
  }
  if (ledger.otherQueries.length > 0) reasons.push(`${listed([...ledger.otherQueries])} wrote to ${table} too`)
  const where = rejected ? `${table} and ${rejected.table}` : table
  const what = `${counted(writtenTwice, 'row')} of ${where} ${isOrAre(writtenTwice)} there more often than in the source`
  if (reasons.length > 0) return [what, ...reasons]
  return [`${what}; the ledger has no record of who wrote them`]
}

function timesOf(count: number): string {
  return count === 2 ? 'twice' : `${count} times`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}

function listed(parts: readonly string[]): string {
  return parts.length <= 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
