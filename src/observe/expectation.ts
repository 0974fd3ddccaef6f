/** The forecast in words: what running a batch again will come to, and why. Pure. */
import { counted } from './counted.js'
import { forecastOf, isCommitted, type Forecast, type NextAttempt } from './forecast.js'
import type { QueryStatus } from './status.js'

/** Whose attempt is spoken of: one to come, or the one that is running. */
export type WhichAttempt = 'the next attempt' | 'this attempt'

/** A sentence or two on what becomes of the batch; `next` with null tells what is true whatever is asked. */
export function expectationOf(query: QueryStatus, batchId: number, next: NextAttempt, which: WhichAttempt = 'the next attempt'): string {
  if (next.isForetold === false) return ''
  const forecast = forecastOf(query, next)
  const table = query.sink?.name ?? 'its table'
  const isDecided = next.idempotentNext !== null
  switch (forecast.kind) {
    case 'written':
      return isDecided || query.step === 'offsets-logged' ? 'Nothing is lost, and nothing is there twice.' : ''
    case 'skipped':
      return forecast.isSure
        ? `The table remembers txn ${pair(forecast.txn)}: ${which} is skipped, and no row is written twice.`
        : `The table remembers txn ${pair(forecast.txn)}: a write with that pair is skipped.`
    case 'left-out':
      return `But ${table} has txn ${pair(forecast.txn)} ${writerOf(query)}: ${forecast.isSure ? which : 'a write with that app id'} is skipped, and the rows of batch ${batchId} are left out. Another app id lets them in.`
    case 'unchanged':
      return isDecided ? `${capital(which)} is a MERGE too: the same rows again change nothing.` : 'It was a MERGE: the same rows again change nothing.'
    case 'adds-none':
      return `${capital(which)} is a MERGE, and every key is there: it adds no row.`
    case 'duplicated':
      return whyDuplicated(query, forecast, batchId, next, which)
  }
}

function whyDuplicated(
  query: QueryStatus,
  forecast: Forecast & { readonly kind: 'duplicated' },
  batchId: number,
  next: NextAttempt,
  which: WhichAttempt,
): string {
  const table = query.sink?.name ?? 'its table'
  const { txn, rows } = forecast
  const expect = rows === 0 ? 'it had no rows' : `expect ${rows === null ? 'duplicates' : counted(rows, `${timesThere(query) > 1 ? 'more ' : ''}duplicate`)}`
  switch (forecast.because) {
    case 'not-asked':
      return `The table remembers txn ${pair(txn)}, but ${which} is a plain write, which does not ask: ${expect}.`
    case 'other-app-id':
      return `The table remembers txn ${pair(txn)}, and ${which} asks by another app id: ${expect}.`
    case 'inserted-after-merge':
      return `It was merged, and ${which} is a plain insert of the same rows: ${expect}.`
    case 'untagged': {
      if (!query.batchAttempts.some(isCommitted)) return `Nothing in ${table} says that batch ${batchId} is there: a plain append writes its rows twice.`
      const wasOn = query.batchAttempts.findLast(isCommitted)?.idempotent === true
      const nothing = `nothing in ${table} says that batch ${batchId} is there`
      if (wasOn) return `It was written without a txn although idempotence was on, so ${nothing}: ${expect}.`
      if (next.idempotentNext) {
        return `Idempotence was off, so ${nothing}. It is on now and will not help, for batch ${batchId} was written without a txn: ${expect}.`
      }
      return `Idempotence was off, so ${nothing}: ${expect}.`
    }
  }
}

/** How often the table holds the rows of the newest batch by this query id: a MERGE that follows finds them there. */
export function timesThere({ batchAttempts }: Pick<QueryStatus, 'batchAttempts'>): number {
  const written = batchAttempts.filter(isCommitted)
  return written.filter(({ operation }, place) => place === 0 || operation !== 'MERGE').length
}

function writerOf({ newestTxn, id }: QueryStatus): string {
  const writer = newestTxn?.queryId ?? null
  return writer === null || writer === id ? 'already, and nobody recorded of which rows' : 'of an earlier checkpoint'
}

function pair(txn: { readonly appId: string; readonly version: number } | null): string {
  return txn === null ? '' : `(${txn.appId}, ${txn.version})`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
