/**
 * The checker's look at a query: its checkpoint and its ledger, and how often each batch was written. Part of the checker, so it
 * shares nothing with src.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkEveryRow, checkNewest, checkRejected, goodInput, inputOf } from './checker-contents.mjs'

/** A query without a checkpoint has not begun. */
export async function checkQuery(look, query) {
  const checkpoint = readCheckpoint(look, query)
  if (checkpoint === null) {
    if (query.caughtUp) look.violations.push(`${query.name} ended, and has no checkpoint`)
    return
  }
  checkCheckpoint(look, query, checkpoint)
  checkProgress(look, query, checkpoint)
  const batches = checkLedger(look, query, checkpoint)
  if (batches.length === 0) {
    if (look.tables.get(query.table)?.live.size > 0) look.violations.push(`${query.table} has rows, and ${query.name} has logged no batch`)
    return
  }
  // Of a commit over several tables that awaits its healing one table may have its part and another not yet.
  const isHalf = query.isUnhealed && look.database.prepare('SELECT count(*) FROM prepared').pluck().get() > 0
  if (query.holds === 'unknown' || isHalf) return
  const input = await inputOf(look, query, checkpoint, batches)
  if (query.caughtUp) checkCaughtUp(look, query, checkpoint, input)
  if ('topic' in query.source) await checkRejected(look, query, input)
  const good = await goodInput(look, query, input)
  // A MERGE that changed nothing leaves no version, nor does an append without rows; any other batch that is done was written.
  const lost = new Set(good.filter(({ copies, isDone }) => isDone && copies === 0).map(({ batch }) => batch))
  if (query.holds === 'every-row') for (const batch of lost) look.violations.push(`batch ${batch} of ${query.name} is committed and was never written`)
  if (query.holds === 'every-row') await checkEveryRow(look, query, good)
  else await checkNewest(look, query, good)
}

/**
 * `offsets` and `commits` are the numbers of the files. `ends` says where each batch ended: what was purged since is still known to
 * a checker that saw it, and of a file that the test took away or damaged the ledger says it.
 */
function readCheckpoint({ folder, memory, database }, { name, damaged = [] }) {
  const root = join(folder, 'checkpoints', name)
  if (!existsSync(join(root, 'metadata'))) return null
  const { id } = JSON.parse(readFileSync(join(root, 'metadata'), 'utf8'))
  const numbers = (log) =>
    (existsSync(join(root, log)) ? readdirSync(join(root, log)) : [])
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .sort((a, b) => a - b)
  const [offsets, commits] = [numbers('offsets'), numbers('commits')]
  const ends = memory.ends.get(id) ?? new Map()
  memory.ends.set(id, ends)
  const said = database.prepare('SELECT range_end FROM ledger WHERE query_id = ? AND batch_id = ?').pluck()
  for (const batch of damaged.flatMap((file) => /^offsets\/(\d+)$/.exec(file)?.[1] ?? [])) ends.set(Number(batch), said.get(id, batch))
  for (const batch of offsets)
    if (!damaged.includes(`offsets/${batch}`)) ends.set(batch, readFileSync(join(root, 'offsets', String(batch)), 'utf8').split('\n')[2])
  const initialPath = join(root, 'sources', '0', '0')
  const initial = existsSync(initialPath) ? readFileSync(initialPath, 'utf8').split('\n')[1] : null
  return { root, id, offsets, commits, ends, initial }
}

/** No gap in the offsets, every commit has its offsets, at most the newest batch is not committed, and no file changes. */
function checkCheckpoint({ checkUnchanged, violations }, { name, damaged = [] }, { root, id, offsets, commits }) {
  for (const [log, batches] of [
    ['offsets', offsets],
    ['commits', commits],
  ]) {
    for (const [index, batch] of batches.entries()) {
      const before = index === 0 ? batch - 1 : batches[index - 1]
      for (let missing = before + 1; missing < batch; missing++)
        if (!damaged.includes(`${log}/${missing}`)) violations.push(`${log} of ${name} has batch ${batch} after ${before}`)
      checkUnchanged(id, join(root, log, String(batch)), readFileSync(join(root, log, String(batch)), 'utf8'))
    }
  }
  for (const batch of commits)
    if (!offsets.includes(batch) && !damaged.includes(`offsets/${batch}`)) violations.push(`batch ${batch} of ${name} is committed and has no offsets`)
  if ((offsets.at(-1) ?? -1) - (commits.at(-1) ?? -1) > 1)
    violations.push(`${name} has offsets up to ${offsets.at(-1)} and commits up to ${commits.at(-1) ?? 'none'}`)
}

/** After the faults the next batch commits. */
function checkProgress({ memory, violations }, { name, hasGoneOn }, { id, commits }) {
  const newest = commits.at(-1) ?? -1
  if (hasGoneOn && newest <= (memory.committed.get(id) ?? -1)) violations.push(`${name} ended with more to do, and has committed no batch after ${newest}`)
  memory.committed.set(id, newest)
}

/**
 * Ledger, commitInfo and offsets agree on each range, and a batch that streamtop committed has a filled row.
 * @returns how often each batch must be in the table
 */
function checkLedger({ tables, database, violations }, query, { id, commits, ends, initial }) {
  const { name, table, exactlyOnce, other } = query
  const checkRange = (what, batch, start, end) => {
    if (ends.has(batch) && end !== ends.get(batch))
      violations.push(`${what} says that batch ${batch} of ${name} ends at ${end}, and its offsets say ${ends.get(batch)}`)
    const before = batch === 0 ? initial : ends.get(batch - 1)
    if (before !== undefined && start !== before)
      violations.push(`${what} says that batch ${batch} of ${name} starts at ${start}, and batch ${batch - 1} ends at ${before}`)
  }
  const rows = database
    .prepare('SELECT batch_id AS batch, range_start AS start, range_end AS end, outcome, table_id AS tableId FROM ledger WHERE query_id = ?')
    .all(id)
  for (const { batch, start, end } of rows) checkRange('the ledger', batch, start, end)
  /** The batch of each version that has rows of one. */
  const written = new Map(other?.versions)
  const versions = tables.get(table)?.versions ?? []
  const tableId = versions.flatMap(({ actions }) => actions).find(({ metaData }) => metaData)?.metaData.id
  const attempts = []
  for (const { version, actions } of versions) {
    const by = actions.find(({ commitInfo }) => commitInfo)?.commitInfo.streamtop
    if (by?.queryId !== id) continue
    checkRange(`version ${version} of ${table}`, by.batch, by.start, by.end)
    written.set(version, by.batch)
    attempts.push(by)
  }
  checkAttempts(violations, query, attempts)
  for (const batch of commits) {
    if (!other?.commits.includes(batch) && !rows.some((row) => row.batch === batch && row.outcome !== 'started'))
      violations.push(`batch ${batch} of ${name} is committed, and the ledger knows no write of it`)
  }
  return [...ends.keys()]
    .sort((a, b) => a - b)
    .map((batch) => {
      const count = [...written.values()].filter((one) => one === batch).length
      const told = rows.filter((row) => row.batch === batch && row.outcome === 'committed' && row.tableId === tableId).length
      const byOther = [...(other?.versions.values() ?? [])].filter((one) => one === batch).length
      if (told !== count - byOther && !query.isUnhealed)
        violations.push(`the ledger says that batch ${batch} of ${name} was written ${told} times, and ${table} has ${count - byOther} versions of it`)
      const isCommitted = commits.includes(batch) || batch < (commits[0] ?? 0)
      return { batch, copies: exactlyOnce ? Math.min(count, 1) : count, isDone: isCommitted || count > 0 }
    })
}

/** Where rows may be there more often: as often as there were attempts at them, and those with idempotence on together once. */
function checkAttempts(violations, { name, table, skipsWhatItHas }, attempts) {
  const seen = new Set()
  for (const { batch, attempt, write, idempotent } of attempts) {
    const key = `${batch} ${attempt} ${write}`
    if (seen.has(key)) violations.push(`attempt ${attempt} of batch ${batch} of ${name} has written ${table} twice`)
    seen.add(key)
    if (!skipsWhatItHas || !idempotent) continue
    if (seen.has(`${batch}`)) violations.push(`batch ${batch} of ${name} was written to ${table} twice with idempotence on`)
    seen.add(`${batch}`)
  }
}

/** What a query that ended by itself may not have left out: anything that was there. */
function checkCaughtUp({ truth, tables, violations }, { name, source }, { offsets, commits, ends }, input) {
  if (offsets.at(-1) !== commits.at(-1)) violations.push(`${name} ended, and batch ${offsets.at(-1)} is not committed`)
  if ('topic' in source) {
    const taken = new Set(input.map(({ row }) => row))
    const left = truth.filter((row) => !taken.has(row)).length
    if (left > 0) violations.push(`${name} ended, and ${left} records of topic ${source.topic} are in no batch`)
  } else {
    const newest = tables.get(source.table).versions.at(-1).version
    const end = JSON.parse(ends.get(offsets.at(-1)))
    if (end.reservoirVersion !== newest + 1) violations.push(`${name} ended at version ${end.reservoirVersion} of ${source.table}, whose newest is ${newest}`)
  }
}
