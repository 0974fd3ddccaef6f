/** What just happened to a query, and what its next start will do, in a sentence or two. A pure function of its status. */
import { counted } from './counted.js'
import type { BatchAttempt, QueryStatus } from './status.js'

/** Null when there is nothing to say: the query works, or has done what there was to do without a stumble. */
export function sentenceOf(query: QueryStatus): string | null {
  if (query.state === 'failed') return failed(query)
  const { lastError } = query
  if (lastError !== null && REFUSALS.has(lastError.code)) return `${query.name} will not start: ${lastError.message}.`
  if (query.state === 'running' || query.state === 'waiting' || query.state === 'paused') return committed(query)
  if (query.batchId === null) {
    return query.state === 'killed' ? `${query.name} was killed before it logged its first batch: nothing of it is on disk, and it begins anew.` : null
  }
  if (query.step !== 'batch-committed') return pending(query, query.batchId)
  if (query.state === 'killed') {
    const again = committed(query)
    return `${query.name} was killed after it committed batch ${query.batchId}: nothing is half done, and it goes on with batch ${query.batchId + 1}.${again ? ` ${capital(again)}` : ''}`
  }
  return committed(query)
}

/** What a start would refuse, whatever happened before. */
const REFUSALS: ReadonlySet<string> = new Set(['checkpoint-damaged', 'checkpoint-gap', 'metadata-missing'])

function failed(query: QueryStatus): string {
  const why = query.lastError === null ? '' : `: ${query.lastError.message}`
  const next = query.batchId === null || query.step === 'batch-committed' ? '' : ` Batch ${query.batchId} runs again at the next start, with the same rows.`
  return `${query.name} failed${why}${/[.!?]$/.test(why) || why === '' ? '' : '.'}${next}`
}

/** A batch that is logged and not committed, of a query that nobody runs. */
function pending(query: QueryStatus, batchId: number): string {
  const { name, step } = query
  const table = query.sink?.name ?? 'its table'
  const runs = `It will run batch ${batchId} again with the same rows.`
  const written = query.batchAttempts.filter(isWritten)
  const last = written.at(-1)
  const rows = last?.rows === null || last === undefined ? 'its rows' : rowsOf(last.rows)
  if (query.state === 'stopped') {
    return `The commit of batch ${batchId} of ${name} is not there, and the query ended as asked: it was taken away. ${runs}${last ? ` ${expectation(last, table, batchId)}` : ''}`
  }
  if (step === 'offsets-logged') {
    if (last)
      return `${name} was killed in attempt ${lastNumber(query)} of batch ${batchId}, before it wrote it again: ${table} has ${rows} from attempt ${last.attempt}. ${runs} ${expectation(last, table, batchId)}`
    return `${name} was killed after it logged batch ${batchId} and before ${table} had its rows. ${runs} Nothing is lost, and nothing is there twice.`
  }
  if (step === 'version-linked') {
    return `${name} was killed after it linked the version with batch ${batchId} and before the log had it: ${table} has ${rows}, and the next start finds them. ${runs}${last ? ` ${expectation(last, table, batchId)}` : ''}`
  }
  if (step === null) return `${name} died with batch ${batchId} logged and not committed; which table it writes is not known. ${runs}`
  if (last === undefined) {
    return `${name} died after it wrote batch ${batchId} and before it committed it: ${table} has its rows, the checkpoint does not know. ${runs} ${foreignExpectation(query, table, batchId)}`
  }
  const times = written.filter((attempt) => attempt.operation !== 'MERGE').length
  return `${name} was killed after it wrote batch ${batchId} and before it committed it: ${table} has ${rows}${times > 1 ? ` ${timesOf(times)}` : ''}, the checkpoint does not know. ${runs} ${expectation(last, table, batchId, times > 1)}`
}

/** The same of a batch that another tool wrote, as far as the table tells. */
function foreignExpectation({ newestTxn, newestOperation }: QueryStatus, table: string, batchId: number): string {
  if (newestTxn?.version === batchId) return `The table remembers txn (${newestTxn.appId}, ${newestTxn.version}): a write with that pair is skipped.`
  if (newestOperation === 'MERGE') return 'The newest version is a MERGE: the same rows again change nothing.'
  return `Nothing in ${table} says that batch ${batchId} is there: a plain append writes its rows twice.`
}

/** What running a written batch again comes to. */
function expectation(last: BatchAttempt, table: string, batchId: number, isThereTwice = false): string {
  if (last.appId !== null && last.txnVersion !== null) return `The table remembers txn (${last.appId}, ${last.txnVersion}): a write with that pair is skipped.`
  if (last.operation === 'MERGE') return 'It was a MERGE: the same rows again change nothing.'
  const rows = last.rows ?? 0
  return `Idempotence was off, so nothing in ${table} says that batch ${batchId} is there: expect ${rows > 0 ? counted(rows, isThereTwice ? 'more duplicate' : 'duplicate') : 'duplicates'}.`
}

/** A newest batch that is done: told when it ran more than once, or was skipped. */
function committed({ batchId, batchAttempts, step, sink }: QueryStatus): string | null {
  const last = batchAttempts.at(-1)
  if (batchId === null || last === undefined || step !== 'batch-committed') return null
  const table = sink?.name ?? 'the table'
  const rows = last.rows ?? 0
  if (last.outcome === 'already-committed') {
    const memory = last.appId === null ? '' : `: it remembers txn (${last.appId}, ${last.txnVersion ?? batchId})`
    if ((last.leftOutRows ?? 0) > 0) {
      return `batch ${batchId} was skipped although another checkpoint wrote that number${memory}. ${capital(rowsOf(last.leftOutRows ?? 0))} of it ${last.leftOutRows === 1 ? 'is' : 'are'} left out.`
    }
    return `batch ${batchId} ran again, and the table skipped it${memory}. 0 of ${counted(rows, 'row')} were written.`
  }
  if (batchAttempts.length < 2) return null
  if (last.outcome === 'unchanged') return `batch ${batchId} ran again, and the MERGE changed nothing: ${table} had the newest row of each key already.`
  if (last.outcome !== 'committed') return null
  const written = batchAttempts.filter(isWritten)
  if (written.length < 2)
    return `batch ${batchId} ran again, and its ${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} in the table once: the attempt before died before it wrote.`
  if (last.operation === 'MERGE') return `batch ${batchId} ran again and was merged again.`
  const times = written.filter((attempt) => attempt.operation !== 'MERGE').length + (written[0]?.operation === 'MERGE' ? 1 : 0)
  return `batch ${batchId} ran again and its ${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} in the table ${timesOf(times)}; nothing failed and nothing warned.`
}

function isWritten(attempt: BatchAttempt): boolean {
  return attempt.outcome === 'committed'
}

function lastNumber(query: QueryStatus): number {
  return query.batchAttempts.at(-1)?.attempt ?? 1
}

function rowsOf(rows: number): string {
  return rows === 1 ? 'the 1 row' : `the ${rows} rows`
}

function timesOf(count: number): string {
  return count === 2 ? 'twice' : `${count} times`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
