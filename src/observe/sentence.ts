/**
 * What just happened to a query, and what its next start will do, in a sentence or two. A pure function of its status: after a kill
 * it says what a stranger would find on disk. What is to come is decided in forecast.ts, what is done is told in told-batch.ts.
 */
import { counted } from './counted.js'
import { capital, expectationOf, timesThere } from './expectation.js'
import { forecastOf, isCommitted, type NextAttempt } from './forecast.js'
import type { BatchAttempt, QueryStatus } from './status.js'
import { toldBatch, toldPast } from './told-batch.js'

/**
 * Null when there is nothing to say: the query works, or has done what there was to do without a stumble. Foreign names are in it as they are.
 * @param next what is known of the next attempt; without it the sentence holds whatever is asked of the next start
 */
export function sentenceOf(query: QueryStatus, next: NextAttempt = { idempotentNext: null }): string | null {
  const sentence = tell(query, next)
  // What is not foretold leaves its blanks.
  return next.isForetold === false && sentence !== null ? sentence.replaceAll(/ {2,}/g, ' ').trimEnd() : sentence
}

function tell(query: QueryStatus, next: NextAttempt): string | null {
  if (query.state === 'failed') return failed(query, next)
  const { lastError } = query
  if (lastError !== null && (REFUSALS.has(lastError.code) || UNREADABLE.has(lastError.code)))
    return `${query.name} will not start: ${ended(lastError.message)}${toDo(lastError.hint)}`
  if (query.state === 'waiting' && lastError !== null) return `${query.name} waits: ${ended(lastError.message)}${toDo(lastError.hint)}`
  if (query.state === 'waiting' && query.source !== null) return `${query.name} waits for ${query.source.kind} ${query.source.name}, which is not there yet.`
  if (query.state === 'running' || query.state === 'waiting' || query.state === 'paused') return runningAgain(query) ?? done(query)
  if (query.batchId === null) {
    const begins = beginning(query, next)
    if (query.state !== 'killed') return begins
    return `${query.name} was killed before it logged its first batch: nothing of it is on disk, and it begins anew.${begins === null ? '' : ` ${begins}`}`
  }
  if (query.step !== 'batch-committed') return pending(query, query.batchId, next)
  if (query.state === 'killed') {
    const told = done(query)
    return `${query.name} was killed after it committed batch ${query.batchId}: nothing is half done, and it goes on with batch ${query.batchId + 1}.${told ? ` ${capital(told)}` : ''}`
  }
  return done(query)
}

/** What a start would refuse, whatever happened before. */
const REFUSALS: ReadonlySet<string> = new Set(['checkpoint-damaged', 'checkpoint-gap', 'metadata-missing'])
/** The same, where the checkpoint may not be read. */
const UNREADABLE: ReadonlySet<string> = new Set(['not-permitted', 'disk-failed'])
/** What ends the next start too, until something is mended. */
const LASTING: ReadonlySet<string> = new Set([
  ...REFUSALS,
  'checkpoint-foreign',
  'stateful-checkpoint',
  'several-sources',
  'range-changed',
  'table-damaged',
  'table-recreated',
  'unsupported-feature',
  'unsupported-type',
  'source-missing',
  'source-changed',
  'source-deleted',
  'source-truncated',
  'data-loss',
])

function done(query: QueryStatus): string | null {
  return toldBatch(query) ?? toldPast(query)
}

function failed(query: QueryStatus, next: NextAttempt): string {
  const { name, lastError, batchId } = query
  const what = lastError === null ? `${name} failed.` : `${name} failed: ${ended(lastError.message)}`
  const todo = toDo(lastError?.hint ?? null)
  if (lastError !== null && LASTING.has(lastError.code)) return `${what}${foretold(' It will fail in the same way until that is mended.', next)}${todo}`
  if (batchId === null || query.step === 'batch-committed') return `${what}${todo}`
  const written = query.batchAttempts.some(isCommitted) ? ` ${has(query)} ${expectationOf(query, batchId, next)}` : foretold(alsoWrote(query), next)
  return `${what}${foretold(` Batch ${batchId} runs again at the next start, with the same rows.`, next)}${written}${todo}`
}

/** A batch that is logged and not committed, of a query that nobody runs. */
function pending(query: QueryStatus, batchId: number, next: NextAttempt): string {
  const { name, step } = query
  const table = query.sink?.name ?? 'its table'
  const last = query.batchAttempts.at(-1)
  const written = query.batchAttempts.findLast(isCommitted)
  const runs = `It will run batch ${batchId} again with the same rows.`
  const expected = expectationOf(query, batchId, next)
  const after = foretold(`${runs}${expected === '' ? '' : ` ${expected}`}`, next)
  if (query.state === 'stopped') return `The commit of batch ${batchId} of ${name} is not there, and the query ended as asked: it was taken away. ${after}`
  if (step === 'offsets-logged') {
    if (written) {
      return `${name} was killed in attempt ${last?.attempt ?? 1} of batch ${batchId}, before it wrote it again: ${table} has ${rowsOf(written.rows)}${times(query)} from attempt ${written.attempt}. ${after}`
    }
    return `${name} was killed after it logged batch ${batchId} and before ${table} had its rows. ${after}${foretold(alsoWrote(query), next)}${orphansOf(query)}`
  }
  if (step === 'version-linked') {
    return `${name} was killed after it linked the version with batch ${batchId} and before the log had it: ${table} has ${rowsOf(written?.rows ?? null)}${times(query)}${foretold(', and the next start finds them', next)}. ${after}`
  }
  if (step === null) {
    const open = query.sink === null ? 'which table it writes is not known' : `whether ${table} has its rows is still being counted`
    return `${name} died with batch ${batchId} logged and not committed; ${open}. ${foretold(runs, next)}`
  }
  if (last === undefined) {
    return `${name} died after it wrote batch ${batchId} and before it committed it: ${table} has its rows, the checkpoint does not know. ${after}`
  }
  if (last.outcome === 'already-committed')
    return `${name} was killed after ${table} skipped batch ${batchId} and before it committed it. ${skippedSoFar(query, last)} ${after}`
  if (last.outcome === 'unchanged') {
    const what = last.rows === 0 ? 'a write of no rows' : 'a MERGE that changed nothing'
    return `${name} was killed after ${what} and before it committed batch ${batchId}.${written ? ` ${has(query)}` : ''} ${after}`
  }
  return `${name} was killed after it wrote batch ${batchId} and before it committed it: ${table} has ${rowsOf(last.rows)}${times(query)}, the checkpoint does not know. ${after}`
}

/** A batch that runs once more at this moment. */
function runningAgain(query: QueryStatus): string | null {
  const { batchId, batchAttempts } = query
  const now = batchAttempts.at(-1)
  if (batchId === null || query.step === 'batch-committed' || now === undefined || batchAttempts.length < 2) return null
  const runs = `batch ${batchId} runs again with the same rows, in attempt ${now.attempt}.`
  if (now.outcome !== 'started') return runs
  return `${runs} ${expectationOf(query, batchId, { idempotentNext: now.idempotent }, 'this attempt')}`
}

/** A query without a checkpoint whose table has rows: its beginning is not the table's. */
function beginning(query: QueryStatus, next: NextAttempt): string | null {
  const { name, rows, source, sink, newestTxn } = query
  if (query.id !== null || source === null || sink === null || (rows ?? 0) === 0 || query.mode === null) return null
  const begins = `${name} has no checkpoint: it begins with batch 0 and reads ${source.kind} ${source.name} from its beginning, and ${sink.name} has ${counted(rows ?? 0, 'row')} already.`
  if (next.isForetold === false) return begins
  const isOn = next.idempotentNext ?? query.idempotent ?? false
  if (isOn && (query.mode === 'MERGE' || query.mergesWhenIdempotent)) return `${begins} A MERGE of what is there changes nothing.`
  const appId = next.appIdNext ?? query.appId
  if (isOn && newestTxn !== null && newestTxn.appId === appId) {
    return `${begins} With idempotence on it takes these batches for its old ones: ${sink.name} remembers txn (${newestTxn.appId}, ${newestTxn.version}), so every batch up to ${newestTxn.version} is skipped, whatever rows it has. Another app id lets them in.`
  }
  if (isOn) return `${begins} Its writes have an app id that ${sink.name} has not seen, so what it wrote before is written once more.`
  return `${begins} Idempotence is off, so what it wrote before is written once more.`
}

function foretold(text: string, { isForetold = true }: NextAttempt): string {
  return isForetold ? text : ''
}

function skippedSoFar(query: QueryStatus, skip: BatchAttempt): string {
  const table = query.sink?.name ?? 'Its table'
  if (forecastOf(query, { idempotentNext: true }).kind === 'left-out') return `None of ${rowsOf(skip.rows)} came to ${table}.`
  const first = query.batchAttempts.find(isCommitted)
  return `${table} has ${rowsOf(skip.rows)}${times(query)}${first ? ` from attempt ${first.attempt}` : ''}.`
}

function has(query: QueryStatus): string {
  const written = query.batchAttempts.findLast(isCommitted)
  return `${query.sink?.name ?? 'Its table'} has ${rowsOf(written?.rows ?? null)}${times(query)} from attempt ${written?.attempt ?? 1}.`
}

function alsoWrote(query: QueryStatus): string {
  const tables = [...new Set(query.batchAttempts.flatMap((attempt) => attempt.alsoWrote ?? []))]
  return tables.length === 0
    ? ''
    : ` But ${tables.join(' and ')} ${tables.length === 1 ? 'has' : 'have'} rows of it: where they were written plainly, they come once more.`
}

function orphansOf({ orphans, sink }: QueryStatus): string {
  if (!orphans || sink === null) return ''
  return ` ${capital(counted(orphans, 'data file'))} of ${sink.name} ${orphans === 1 ? 'is an orphan' : 'are orphans'}: no version names ${orphans === 1 ? 'it' : 'them'}, and no answer changes.`
}

function times(query: QueryStatus): string {
  const count = timesThere(query)
  return count < 2 ? '' : ` ${timesOf(count)}`
}

export function rowsOf(rows: number | null): string {
  return rows === null ? 'its rows' : rows === 1 ? 'the 1 row' : `the ${rows} rows`
}

export function timesOf(count: number): string {
  return count === 2 ? 'twice' : `${count} times`
}

function toDo(hint: string | null): string {
  return hint === null ? '' : ` To do: ${ended(hint)}`
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
