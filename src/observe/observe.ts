/**
 * A workspace as one status object, read-only: not a byte in it is written, whoever made it. Checkpoints are looked at first, then
 * every table and the ledger in one moment, then rows are counted; so a table is never shown behind what is said of it.
 */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import type { LockHolder } from '../engine/lock.js'
import { StreamtopError } from '../errors.js'
import type { Run } from '../store/runs.js'
import { tablesFolderOf } from '../store/workspace-paths.js'
import { openDatabaseToRead } from '../database-to-read.js'
import { checkWholeTopics, explained, partitionReader, topicRows, topicsPath } from '../topic/topic-database.js'
import { type BatchLine, batchLines } from './batch-lines.js'
import { MarkedValue } from './disk-marks.js'
import { FileRows } from './file-rows.js'
import { HalfCommitErrors } from './half-commit-errors.js'
import type { TopicsElsewhere } from './kafka-topics.js'
import { OverlaidLog } from './overlaid-log.js'
import { type QueryFacts, queryFacts } from './query-facts.js'
import { isInFlight, queryStatus } from './query-status.js'
import { SinkComparison } from './sink-comparison.js'
import type { KafkaStatus, Status, StatusError, TopicStatus } from './status.js'
import { statusErrorOf } from './status-error.js'
import { TableCounter } from './table-counter.js'
import { type HistoryLine, tableHistory } from './table-history.js'
import { type TableFacts, tableFacts, tableStatus } from './table-status.js'
import { otherCheckpoints, WorkspaceMemory } from './workspace-memory.js'

export { otherCheckpoints } from './workspace-memory.js'

/** One look at a workspace. */
export function observe(workspace: string, queries: readonly QueryDefinition[], fx: Effects): Promise<Status> {
  return new Observer(workspace, queries, fx).observe()
}

export interface ObserverOptions {
  /**
   * How long a look counts rows at most, in milliseconds; what it does not get to is null, and the next look goes on with it. Without it
   * a look counts to the end.
   */
  readonly patienceMs?: number
  /** Looks at topics that are not in the workspace; instead of its own. */
  readonly topicsElsewhere?: () => Promise<TopicsElsewhere>
}

export interface CloserLook {
  readonly query: string
  readonly batches: readonly BatchLine[]
  readonly table: string | null
  readonly versions: readonly HistoryLine[]
}

/** What a look found, before any row is counted. */
interface Found {
  readonly topics: readonly TopicStatus[]
  readonly tables: readonly TableFacts[]
  readonly queries: readonly QueryFacts[]
  readonly errors: readonly StatusError[]
  readonly kafka: KafkaStatus | null
  /** Something of it is of a moment ago. */
  readonly isBehind: boolean
}

/**
 * Looks at a workspace again and again; what it has counted it keeps up, and where nothing on disk has moved it gives the same status
 * again. One look at a time.
 */
export class Observer {
  readonly #workspace: string
  readonly #queries: readonly QueryDefinition[]
  readonly #fx: Effects
  readonly #patienceMs: number | null
  readonly #topicsElsewhere: () => Promise<TopicsElsewhere | null>
  readonly #fileRows: FileRows
  readonly #memory = new WorkspaceMemory()
  readonly #counters = new Map<string, TableCounter>()
  readonly #comparisons = new Map<string, SinkComparison>()
  readonly #halfCommits = new HalfCommitErrors()
  readonly #closer = new MarkedValue<CloserLook>()
  #isComplete = false
  #before: { readonly mark: string; readonly queries: readonly QueryFacts[]; readonly status: Status } | null = null

  constructor(workspace: string, queries: readonly QueryDefinition[], fx: Effects, options: ObserverOptions = {}) {
    this.#workspace = workspace
    this.#queries = queries
    this.#fx = fx
    this.#patienceMs = options.patienceMs ?? null
    this.#topicsElsewhere = options.topicsElsewhere ?? (async () => null)
    this.#fileRows = new FileRows(tablesFolderOf(workspace), fx)
  }

  /** Whether the last look got to everything; if not, the next one says more even when nothing on disk moves. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  async observe(): Promise<Status> {
    const [workspace, fx] = [this.#workspace, this.#fx]
    const elsewhere = await this.#topicsElsewhere()
    const names = [...this.#queries.map(({ name }) => name), ...otherCheckpoints(workspace, this.#queries, fx)]
    const holders = new Map(names.map((name) => [name, this.#memory.query(name).holder(workspace, name, fx)]))
    // Before anything is read: what moves in between is then seen at the next look.
    const onDisk = this.#memory.mark(workspace, holders, fx)
    const mark = onDisk === null || elsewhere === null ? onDisk : onDisk + JSON.stringify(elsewhere)
    const same = this.#sameAgain(mark)
    if (same !== null) return same
    const found = this.#look(holders, elsewhere)
    this.#fileRows.limitTo(this.#patienceMs ?? Number.POSITIVE_INFINITY)
    const status = await this.#count(found)
    this.#isComplete = !this.#fileRows.ranOut && !found.isBehind
    this.#before = mark === null || !this.#isComplete ? null : { mark, queries: found.queries, status }
    return status
  }

  /**
   * One query closer, as of the last `observe` or later: its newest batches, and the newest versions of a table, both newest first. Never
   * throws: what cannot be read is left out, and why is in the status. Where nothing has moved it gives the same again.
   */
  closer(query: string, table: string | null, limit: number): CloserLook {
    const mark = this.#before === null ? null : JSON.stringify([this.#before.mark, query, table, limit])
    return this.#closer.get(mark, () => {
      const log = OverlaidLog.open(this.#workspace, this.#fx, this.#memory.log)
      try {
        const definition = this.#queries.find(({ name }) => name === query) ?? null
        const batches = batchLines(this.#workspace, query, definition, limit, this.#fx, log)
        return { query, batches, table, versions: table === null ? [] : versionsOf(this.#workspace, table, limit, this.#fx, log) }
      } finally {
        log.close()
      }
    })
  }

  /** The status of before, when all that it was made of is as it was; null else. */
  #sameAgain(mark: string | null): Status | null {
    if (mark === null || this.#before?.mark !== mark) return null
    const { queries, status } = this.#before
    const inFlight = queries.map((facts) => isInFlight(facts, this.#fx.nowMs()))
    if (status.queries.every((query, place) => query.inFlight === inFlight[place])) return status
    // Time goes on all the same.
    const now = { ...status, queries: status.queries.map((query, place) => ({ ...query, inFlight: inFlight[place] ?? query.inFlight })) }
    this.#before = { mark, queries, status: now }
    return now
  }

  async #count({ topics, tables, queries, errors, kafka }: Found): Promise<Status> {
    try {
      const tableStatuses = []
      for (const table of tables)
        tableStatuses.push(
          await tableStatus(
            table,
            kept(this.#counters, table.name, () => new TableCounter()),
            this.#fileRows,
          ),
        )
      forgetOthers(this.#counters, tables)
      const queryStatuses = []
      for (const facts of queries) {
        const comparison = kept(this.#comparisons, facts.name, () => new SinkComparison())
        queryStatuses.push(await queryStatus(facts, tableStatuses, comparison, this.#fileRows, this.#fx.nowMs()))
      }
      forgetOthers(this.#comparisons, queries)
      const status = { format: 1, workspace: this.#workspace, topics, queries: queryStatuses, tables: tableStatuses, errors } as const
      return kafka === null ? status : { ...status, kafka }
    } finally {
      this.#fileRows.close()
    }
  }

  /** Everything that is looked up, without a pause in between: checkpoints and locks first, then all tables in one moment. */
  #look(holders: ReadonlyMap<string, LockHolder | null>, elsewhere: TopicsElsewhere | null): Found {
    const fx = this.#fx
    const memory = this.#memory
    const errors: StatusError[] = []
    const checkpoints = [...holders].map(([name, holder]) => {
      const definition = this.#queries.find((query) => query.name === name) ?? null
      return { name, definition, checkpoint: memory.query(name).checkpoint(this.#workspace, name, definition?.source ?? null, fx), holder }
    })
    const log = OverlaidLog.open(this.#workspace, fx, memory.log)
    try {
      if (log.damage) errors.push(statusErrorOf(log.damage))
      errors.push(...this.#halfCommits.of(log))
      const names = log.tableNames()
      const tables = names.map((name) => tableFacts(log, name, memory.listing(name), fx))
      const runs = new Map((log.sqlite?.runs.all() ?? []).map((run): [string, Run] => [run.query, run]))
      const topics = elsewhere?.topics ?? this.#topics(errors)
      errors.push(...(elsewhere?.errors ?? []))
      const queries = checkpoints.map((found) => queryFacts(log, { ...found, run: runs.get(found.name) ?? null, tables, topics }, memory.query(found.name)))
      memory.keep(
        tables,
        queries.map(({ name }) => name),
      )
      return { topics, tables, queries, errors, kafka: elsewhere?.kafka ?? null, isBehind: names.some((name) => memory.listing(name).isBehind) }
    } finally {
      log.close()
    }
  }

  #topics(errors: StatusError[]): TopicStatus[] {
    const path = topicsPath(this.#workspace)
    try {
      checkWholeTopics(path, this.#fx)
      const database = openDatabaseToRead(path, this.#fx)
      if (database === null) return []
      try {
        return explained(path, () => {
          if (database.pragma('user_version', { simple: true }) === 0) return []
          return topicRows(database).map(({ number, name, partitions }) => ({
            name,
            kind: 'embedded' as const,
            partitions,
            endOffsets: Object.fromEntries(partitionReader(database, { number, name })().map((row) => [row.partition, String(row.endOffset)])),
          }))
        })
      } finally {
        database.close()
      }
    } catch (error) {
      errors.push(statusErrorOf(error instanceof StreamtopError ? error : new StreamtopError('data-loss', `${path} cannot be read`, { cause: error })))
      return []
    }
  }
}

function versionsOf(workspace: string, table: string, limit: number, fx: Effects, log: OverlaidLog): readonly HistoryLine[] {
  try {
    return tableHistory(workspace, table, limit, fx, log) ?? []
  } catch (error) {
    if (error instanceof StreamtopError) return []
    throw error
  }
}

function kept<T>(all: Map<string, T>, name: string, make: () => T): T {
  const known = all.get(name)
  if (known !== undefined) return known
  const made = make()
  all.set(name, made)
  return made
}

function forgetOthers(all: Map<string, unknown>, named: readonly { readonly name: string }[]): void {
  const names = new Set(named.map(({ name }) => name))
  for (const name of all.keys()) if (!names.has(name)) all.delete(name)
}
