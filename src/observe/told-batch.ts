/** What became of batches that are done, in a sentence: told of one that ran more than once, was skipped, or did harm. Pure. */
import { counted } from './counted.js'
import { timesThere } from './expectation.js'
import { isCommitted } from './forecast.js'
import { rejectedText } from './rejected.js'
import type { QueryStatus, Stumble } from './status.js'

/** Of the newest batch; null when it is not done, or went straight through. */
export function toldBatch(query: QueryStatus): string | null {
  if (query.batchId === null || query.step !== 'batch-committed') return null
  return toldStumble(query, { batchId: query.batchId, attempts: query.batchAttempts })
}

/** Of what happened before the newest batch and still shows in the figures, the newest first; null for nothing. */
export function toldPast(query: QueryStatus): string | null {
  return (query.lastStumble ? toldStumble(query, query.lastStumble) : null) ?? leftOut(query) ?? severalLives(query) ?? inherited(query) ?? rejected(query)
}

function toldStumble(query: QueryStatus, { batchId, attempts }: Stumble): string | null {
  const last = attempts.at(-1)
  if (last === undefined) return null
  const table = query.sink?.name ?? 'the table'
  const rows = last.rows ?? 0
  const times = timesThere({ batchAttempts: attempts })
  if (last.outcome === 'already-committed') {
    const memory = last.appId === null ? '' : `: the table remembers txn (${last.appId}, ${last.txnVersion ?? batchId})`
    if ((last.leftOutRows ?? 0) > 0 && times === 0) {
      return `batch ${batchId} was skipped although this checkpoint never wrote it${memory} of an earlier one. 0 of ${counted(rows, 'row')} ${rows === 1 ? 'was' : 'were'} written${lacking(query)}. Another app id lets them in.`
    }
    const there = times > 1 ? ` They are there ${timesOf(times)} from the attempts before.` : ''
    return `batch ${batchId} ran again, and was skipped${memory}. 0 of ${counted(rows, 'row')} ${rows === 1 ? 'was' : 'were'} written.${there}`
  }
  if (attempts.length < 2) return null
  if (last.outcome === 'unchanged') {
    if (rows === 0) return `batch ${batchId} ran again, and had no rows to write.`
    const stays = times > 1 ? `; its rows stay there ${timesOf(times)}` : ''
    return `batch ${batchId} ran again, and the MERGE changed nothing: ${table} had the newest row of each key already${stays}.`
  }
  if (last.outcome !== 'committed') return null
  if (attempts.filter(isCommitted).length < 2) {
    const before = attempts.length === 2 ? 'the attempt before died before it wrote' : 'the attempts before died before they wrote'
    return `batch ${batchId} ran again, and its ${counted(rows, 'row')} ${isOrAre(rows)} in the table once: ${before}.`
  }
  if (last.operation === 'MERGE') return `batch ${batchId} ran again and was merged again: no row was added.`
  if (rows === 0) return `batch ${batchId} ran again, and had no rows to write.`
  const twice = `its ${counted(rows, 'row')} ${isOrAre(rows)} in the table ${timesOf(times)}`
  return `batch ${batchId} ran again${whyAllTheSame(attempts, twice)}`
}

/** The plain case has its own words; where idempotence was on in one of the attempts people ask why it did not help. */
function whyAllTheSame(attempts: Stumble['attempts'], twice: string): string {
  const last = attempts.at(-1)
  const earlier = attempts.slice(0, -1).findLast(isCommitted)
  if (last === undefined || earlier === undefined || (!last.idempotent && !earlier.idempotent)) return ` and ${twice}; nothing failed and nothing warned.`
  if (!last.idempotent) {
    if (earlier.operation === 'MERGE') return ` with idempotence off and ${twice}: merged in attempt ${earlier.attempt}, inserted in attempt ${last.attempt}.`
    if (earlier.appId !== null) {
      return ` with idempotence off and ${twice}: the table remembers txn (${earlier.appId}, ${earlier.txnVersion}), and a plain write does not ask.`
    }
    return ` and ${twice}: no attempt left a txn.`
  }
  if (last.appId === null) return ` with idempotence on and ${twice} all the same: its writes carry no txn.`
  if (earlier.appId === null) {
    return ` with idempotence on and ${twice} all the same: attempt ${earlier.attempt} wrote it without a txn, so the table could not know it. Now it does.`
  }
  return ` and ${twice}: attempt ${earlier.attempt} wrote it with app id ${earlier.appId}, attempt ${last.attempt} with ${last.appId}.`
}

/** Rows of batches that were skipped for another checkpoint's sake. */
function leftOut(query: QueryStatus): string | null {
  const { leftOut: skipped, newestTxn, missing } = query
  if (!skipped || missing === 0) return null
  const { firstBatchId, lastBatchId, rows } = skipped
  const batches = firstBatchId === lastBatchId ? `batch ${firstBatchId} was` : `batches ${firstBatchId} to ${lastBatchId} were`
  const memory = newestTxn === null ? '' : `: the table remembers the txns of ${newestTxn.appId} from an earlier one`
  return `${batches} skipped although this checkpoint never wrote ${firstBatchId === lastBatchId ? 'it' : 'them'}${memory}. 0 of ${counted(rows, 'row')} ${rows === 1 ? 'was' : 'were'} written${lacking(query)}. Another app id lets them in.`
}

function lacking({ missing, sink, source }: QueryStatus): string {
  if (missing === null) return ''
  const table = sink?.name ?? 'the table'
  if (missing === 0) return `; ${table} has them from before`
  return `, and ${table} lacks ${counted(missing, 'row')} of ${source?.name ?? 'its source'}`
}

/** Checkpoints that each read the source from the beginning. */
function severalLives(query: QueryStatus): string | null {
  const { earlierLives, writtenTwice, verdict, sink, source, idempotent } = query
  if (!earlierLives || !writtenTwice || (verdict !== 'duplicated' && !query.alsoDuplicated)) return null
  const checkpoints = earlierLives === 1 ? 'an earlier checkpoint' : `${earlierLives} earlier checkpoints`
  const why = idempotent ? 'with another app id the table could not know them' : 'idempotence was off, so nothing in the table told'
  const begins = `${query.name} has a new checkpoint and read ${source?.name ?? 'its source'} from its beginning`
  // A record that is read again makes the same row. Where no two are equal the offsets counted other records then.
  if (source?.kind === 'topic' && query.duplicates === 0)
    return `${begins}: ${sink?.name ?? 'its table'} has ${counted(writtenTwice, 'row')} of the same offsets from ${checkpoints}, and no two rows are equal: the topic had other records then.`
  return `${begins}: ${counted(writtenTwice, 'row')} that ${sink?.name ?? 'its table'} had from ${checkpoints} ${writtenTwice === 1 ? 'was' : 'were'} written once more; ${why}.`
}

/** Duplicates that are somebody else's doing. */
function inherited({ name, source, sink, duplicates, writtenTwice, missing, verdict, mergesWhenIdempotent }: QueryStatus): string | null {
  if (verdict !== 'exactly-once' || !duplicates || writtenTwice !== 0 || missing !== 0 || source?.kind !== 'table' || mergesWhenIdempotent) return null
  return `${sink?.name ?? 'the table'} has ${counted(duplicates, 'duplicate')} that ${isOrAre(duplicates)} in ${source.name} already: ${name} wrote each row of it once.`
}

/** What is in neither of the figures of its table. */
function rejected({ rejected: count, rejectedTable, source }: QueryStatus): string | null {
  const text = rejectedText(count ?? null, source?.name ?? null, rejectedTable ?? null)
  return text && `${text}.`
}

function timesOf(count: number): string {
  return count === 2 ? 'twice' : `${count} times`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
