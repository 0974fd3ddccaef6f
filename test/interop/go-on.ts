/**
 * Goes on from a folder that Spark left, on a copy, with the command that `expected.json` names, and compares with what Spark did:
 * the sink's rows, distinct rows and version, the offsets and commits, the error. What differs has a kind, by which it stands in the
 * table of docs/interop.md; what has none is a problem.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { QueryReport } from '../../src/commands/query-report.js'
import { realEffects } from '../../src/effects.js'
import type { Status } from '../../src/observe/status.js'
import { Store } from '../../src/store/store.js'
import { type ExpectedNext, readExpected } from '../spark-fixtures.js'
import { commandHere } from '../command-here.js'
import { changesBetween, type Ended, listing, streamtop } from './command.js'

export interface WentOn {
  /** Kinds of what differs and has a name. */
  readonly differences: readonly string[]
  /** What differs and has none, as sentences. */
  readonly problems: readonly string[]
}

/** Where a query and its sink are. */
interface Outcome {
  readonly rows: number | null
  readonly distinct: number | null
  readonly version: number | null
  readonly offsets: readonly number[]
  readonly commits: readonly number[]
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly condition: string | null
}

/** Changes the copy before the query runs, and gives the kind of what Spark would do otherwise there. */
export type Preparation = (checkpoint: string, next: ExpectedNext) => string

/**
 * @param folder a folder whose `expected.json` has a `next`
 * @param prepare makes another case of it, in which Spark stops and streamtop goes on as if nothing had been changed
 */
export async function goOn(folder: string, prepare?: Preparation): Promise<WentOn> {
  const { next } = readExpected(folder)
  if (!next) throw new Error(`${folder} says nothing of what comes next`)
  const workspace = mkdtempSync(join(tmpdir(), 'streamtop-go-on-'))
  try {
    for (const part of ['tables', 'checkpoints']) {
      if (existsSync(join(folder, part))) cpSync(join(folder, part), join(workspace, part), { recursive: true })
    }
    const prepared = prepare?.(join(workspace, 'checkpoints', next.query), next)
    const { differences, problems } = await compareRuns(workspace, next)
    return { differences: prepared === undefined ? differences : [...differences, prepared], problems }
  } finally {
    rmSync(workspace, { recursive: true, maxRetries: 5 })
  }
}

/** A checksum of Hadoop's for the next offsets file, which is not there: a Spark that died had begun to write it. */
export function leaveChecksumBehind(checkpoint: string, next: ExpectedNext): string {
  const batchId = Math.max(...(next.offsets ?? []))
  if (existsSync(join(checkpoint, 'offsets', String(batchId)))) throw new Error('this fixture plans no further batch')
  writeFileSync(join(checkpoint, 'offsets', `.${batchId}.crc`), Buffer.from('6372630000000200deadbeef', 'hex'))
  return 'goes on: left-over .crc'
}

async function compareRuns(workspace: string, next: ExpectedNext): Promise<WentOn> {
  const before = listing(workspace)
  const wasWithoutConf = newestOffsetsLackConf(workspace, next.query)
  const spark: Outcome = { ...picked(next), offsets: next.offsets ?? [], commits: next.commits ?? [] }
  const ended = await run(workspace, next, [])
  const failure = failureOf(ended)
  const after = await outcomeOf(workspace, next)
  const wentOn = new Comparison()

  if (failure === null && next.error === null) {
    compareOutcomes(wentOn, workspace, next, after, spark)
    if (/ was skipped, 0 of its [1-9]\d* rows were written: /.test(ended.stderr)) wentOn.differs('said aloud: skip')
    checkChecksums(wentOn, workspace, next, before)
  } else if (failure === null) {
    if (wasWithoutConf) {
      wentOn.differs('goes on: no conf')
      wentOn.problems.push(...(await unfinished(workspace, next, after)))
    } else wentOn.problem(`it ran, and Spark stops: ${next.error?.sentence}`)
  } else if (next.error === null) {
    const isSo = REFUSALS[failure.code]?.(workspace, next.query)
    if (isSo) {
      wentOn.differs(`refused: ${failure.code}`)
      wentOn.problems.push(...changesBetween(before, listing(workspace)).map((change) => `refused, and ${change}`))
    } else wentOn.problem(`it failed${isSo === false ? ' for a reason that is not there' : ''}, and Spark goes on: ${failure.code}: ${failure.message}`)
    if (failure.code === 'checkpoint-gap') {
      const accepted = await run(workspace, next, ['--accept-gap'])
      if (failureOf(accepted) !== null) wentOn.problem(`--accept-gap failed: ${accepted.stderr}`)
      compareOutcomes(wentOn, workspace, next, await outcomeOf(workspace, next), spark)
    }
  } else {
    compareFailures(wentOn, failure, next.error)
    const sparkWroteAgain = isCommitsAhead(after) && (spark.rows ?? 0) > (after.rows ?? 0)
    if (sparkWroteAgain) wentOn.differs('refused first: commits ahead')
    const written = sparkWroteAgain ? { rows: spark.rows, version: (after.version ?? -1) + 1 } : {}
    wentOn.equal('after the error', { ...after, ...written }, spark)
    if (isOfCheckpoint(failure)) wentOn.problems.push(...changesBetween(before, listing(workspace)).map((change) => `refused, and ${change}`))
  }
  return wentOn
}

class Comparison implements WentOn {
  readonly differences: string[] = []
  readonly problems: string[] = []

  differs(kind: string): void {
    this.differences.push(kind)
  }

  problem(sentence: string): void {
    this.problems.push(sentence)
  }

  equal(what: string, found: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(found, expected)) this.problem(`${what}: ${JSON.stringify(found)}, and with Spark ${JSON.stringify(expected)}`)
  }
}

function compareOutcomes(wentOn: Comparison, workspace: string, next: ExpectedNext, after: Outcome, spark: Outcome): void {
  const unchanged = unchangedMerges(workspace, next.query)
  if (unchanged > 0 && after.version !== null && spark.version === after.version + unchanged) {
    wentOn.differs('no version: unchanged MERGE')
    wentOn.equal('afterwards', { ...after, version: spark.version }, spark)
  } else wentOn.equal('afterwards', after, spark)
}

function isCommitsAhead({ offsets, commits }: Pick<Outcome, 'offsets' | 'commits'>): boolean {
  return (commits.at(-1) ?? -1) > (offsets.at(-1) ?? -1) && offsets.length > 0
}

/** Delta's own name of an error is ours beside our own; where it has none, the checkpoint must be what we complain of. */
function compareFailures(wentOn: Comparison, ours: Failure, sparks: { readonly condition: string | null; readonly sentence: string }): void {
  const condition = sparks.condition ?? /\[([A-Z][A-Z0-9_.]+)\]/.exec(sparks.sentence)?.[1] ?? null
  if (condition !== null) wentOn.equal(`the name of the error (${ours.message})`, ours.condition, condition)
  else if (!isOfCheckpoint(ours)) wentOn.problem(`it failed with ${ours.code}: ${ours.message}, and Spark with: ${sparks.sentence}`)
}

function isOfCheckpoint({ code }: Failure): boolean {
  return code.startsWith('checkpoint-') || code === 'metadata-missing'
}

/** What streamtop refuses and Spark goes on from, each with whether that is what lies there. */
const REFUSALS: Readonly<Record<string, (workspace: string, query: string) => boolean>> = {
  'checkpoint-gap': (workspace, query) => {
    const { offsets, commits } = logsOf(workspace, query)
    return (commits.at(-1) ?? -1) < (offsets.at(-1) ?? 0) - 1
  },
  'stateful-checkpoint': (workspace, query) => existsSync(join(workspace, 'checkpoints', query, 'state')),
  'several-sources': (workspace, query) => newestOffsetsLines(workspace, query).length > 3,
}

/** A run that Spark cannot tell us the end of must at least be done with what was logged, and have every row, with idempotence once. */
async function unfinished(workspace: string, { query, run: options }: ExpectedNext, { offsets, commits }: Outcome): Promise<string[]> {
  const status = (await statusOf(workspace)).queries.find(({ name }) => name === query)
  const wentOn = new Comparison()
  wentOn.equal('the commits', commits, offsets)
  wentOn.equal('missing rows', status?.missing, 0)
  if (options.includes('--idempotent')) wentOn.equal('the verdict', status?.verdict, 'exactly-once')
  return wentOn.problems
}

/** Beside a file that streamtop wrote no checksum of Hadoop's may lie: Spark would compare them when it takes over again. */
function checkChecksums(wentOn: Comparison, workspace: string, { query }: ExpectedNext, before: Readonly<Record<string, string>>): void {
  for (const log of ['offsets', 'commits']) {
    for (const name of readdirSync(join(workspace, 'checkpoints', query, log))) {
      const isNew = before[join('checkpoints', query, log, name)] === undefined
      const checksum = `.${name}.crc`
      if (isNew && existsSync(join(workspace, 'checkpoints', query, log, checksum)))
        wentOn.problem(`${log}/${checksum} was left beside a file that it does not fit`)
      if (isNew && name.startsWith('.')) wentOn.problem(`${log}/${name} is left behind`)
    }
  }
}

function run(workspace: string, { query, run: options }: ExpectedNext, more: readonly string[]): Promise<Ended> {
  return streamtop(workspace, ['run', query, ...options, ...more, '--adopt', '--config', configFor(query, options), '--json'])
}

/**
 * The queries of `expected.json` have no name of their own for what their function does: an `events_copy` for which no way of
 * writing is asked is the one that writes two tables.
 */
function configFor(query: string, options: readonly string[]): string {
  const isCopy = options.includes('--idempotent') || options.includes('--no-idempotent')
  return fileURLToPath(new URL(query === 'events_copy' && !isCopy ? 'two-tables.config.mjs' : 'streamtop.config.mjs', import.meta.url))
}

function failureOf({ exitCode, stdout, stderr }: Ended): Failure | null {
  if (exitCode === 0) return null
  if (stdout !== '') {
    const [report] = (JSON.parse(stdout) as { readonly queries: readonly QueryReport[] }).queries
    if (report?.error) return report.error
  }
  const line = stderr.trim().split('\n').at(-1) ?? ''
  if (line.startsWith('{')) return JSON.parse(line).error
  throw new Error(`the command failed (${exitCode}) and does not say why: ${stderr}`)
}

async function outcomeOf(workspace: string, { query, sink }: ExpectedNext): Promise<Outcome> {
  const table = (await statusOf(workspace)).tables.find(({ name }) => name === sink)
  if (table?.error) throw new Error(`${sink} cannot be read: ${table.error.message}`)
  return { rows: table?.rows ?? null, distinct: table?.distinct ?? null, version: newestVersion(workspace, sink), ...logsOf(workspace, query) }
}

/** With what a stranger would see, and not with what the run says of itself. */
async function statusOf(workspace: string): Promise<Status> {
  const { exitCode, stdout, stderr } = await commandHere(workspace, ['status', '--json'])
  if (exitCode !== 0) throw new Error(`status failed: ${stderr}`)
  return JSON.parse(stdout)
}

function newestVersion(workspace: string, table: string): number | null {
  const folder = join(workspace, 'tables', table, '_delta_log')
  const versions = existsSync(folder) ? readdirSync(folder).flatMap((name) => /^(\d{20})\.json$/.exec(name)?.[1] ?? []) : []
  return versions.length === 0 ? null : Math.max(...versions.map(Number))
}

function logsOf(workspace: string, query: string): Pick<Outcome, 'offsets' | 'commits'> {
  const ids = (log: string) => {
    const folder = join(workspace, 'checkpoints', query, log)
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []
    return names.map(Number).sort((a, b) => a - b)
  }
  return { offsets: ids('offsets'), commits: ids('commits') }
}

function newestOffsetsLines(workspace: string, query: string): string[] {
  const newest = logsOf(workspace, query).offsets.at(-1)
  if (newest === undefined) return []
  return readFileSync(join(workspace, 'checkpoints', query, 'offsets', String(newest)), 'utf8').split('\n')
}

/** Whether the newest offsets file, which has no commit, says nothing of settings: Spark plans no batch without them. */
function newestOffsetsLackConf(workspace: string, query: string): boolean {
  const { offsets, commits } = logsOf(workspace, query)
  if (commits.at(-1) === offsets.at(-1)) return false
  try {
    return JSON.parse(newestOffsetsLines(workspace, query)[1] ?? '')['conf'] === undefined
  } catch {
    return false
  }
}

/** How many batches of a query a MERGE found nothing to change in. */
function unchangedMerges(workspace: string, query: string): number {
  const store = Store.open(workspace, realEffects)
  try {
    return store.ledger.rowsOfQuery(query).filter(({ outcome }) => outcome === 'unchanged').length
  } finally {
    store.close()
  }
}

function picked({ rows, distinct, version }: ExpectedNext): Pick<Outcome, 'rows' | 'distinct' | 'version'> {
  return { rows, distinct, version }
}
