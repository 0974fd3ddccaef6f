/**
 * A workspace as one status object, read-only: not a byte in it is written, whoever made it. Checkpoints are looked at first, then
 * every table and the ledger in one moment, then rows are counted; so a table is never shown behind what is said of it.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { readLockHolder } from '../engine/lock.js'
import { StreamtopError } from '../errors.js'
import type { Run } from '../store/runs.js'
import { tablesFolderOf } from '../store/workspace-paths.js'
import { openDatabaseToRead } from '../database-to-read.js'
import { explained, partitionReader, topicRows, topicsPath } from '../topic/topic-database.js'
import { checkpointFacts } from './checkpoint-facts.js'
import { FileRows } from './file-rows.js'
import { OverlaidLog } from './overlaid-log.js'
import { type QueryFacts, queryFacts } from './query-facts.js'
import { queryStatus } from './query-status.js'
import { SinkComparison } from './sink-comparison.js'
import type { Status, StatusError, TopicStatus } from './status.js'
import { statusErrorOf } from './status-error.js'
import { TableCounter } from './table-counter.js'
import { type TableFacts, tableFacts, tableStatus } from './table-status.js'

/** One look at a workspace. */
export function observe(workspace: string, queries: readonly QueryDefinition[], fx: Effects): Promise<Status> {
  return new Observer(workspace, queries, fx).observe()
}

/** Looks at a workspace again and again; what it has counted it keeps up. One look at a time. */
export class Observer {
  readonly #workspace: string
  readonly #queries: readonly QueryDefinition[]
  readonly #fx: Effects
  readonly #fileRows: FileRows
  readonly #counters = new Map<string, TableCounter>()
  readonly #comparisons = new Map<string, SinkComparison>()

  constructor(workspace: string, queries: readonly QueryDefinition[], fx: Effects) {
    this.#workspace = workspace
    this.#queries = queries
    this.#fx = fx
    this.#fileRows = new FileRows(tablesFolderOf(workspace), fx)
  }

  async observe(): Promise<Status> {
    const { topics, tables, queries, errors } = this.#look()
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
      return { format: 1, workspace: this.#workspace, topics, queries: queryStatuses, tables: tableStatuses, errors }
    } finally {
      this.#fileRows.close()
    }
  }

  /** Everything that is looked up, without a pause in between. */
  #look(): {
    readonly topics: readonly TopicStatus[]
    readonly tables: readonly TableFacts[]
    readonly queries: readonly QueryFacts[]
    readonly errors: readonly StatusError[]
  } {
    const fx = this.#fx
    const errors: StatusError[] = []
    const known = this.#queries.map((definition) => ({ name: definition.name, definition }))
    const checkpoints = [...known, ...this.#otherCheckpoints()].map(({ name, definition }) => ({
      name,
      definition,
      checkpoint: checkpointFacts(this.#workspace, name, definition?.source ?? null, fx),
      holder: readLockHolder(this.#workspace, name, fx),
    }))
    const log = OverlaidLog.open(this.#workspace, fx)
    try {
      if (log.damage) errors.push(statusErrorOf(log.damage))
      const tables = log.tableNames().map((name) => tableFacts(log, name, fx))
      const runs = new Map((log.sqlite?.runs.all() ?? []).map((run): [string, Run] => [run.query, run]))
      const topics = this.#topics(errors)
      const queries = checkpoints.map((found) => queryFacts(log, { ...found, run: runs.get(found.name) ?? null, tables, topics }))
      return { topics, tables, queries, errors }
    } finally {
      log.close()
    }
  }

  /** Checkpoints of queries that nobody told us of. */
  #otherCheckpoints(): { readonly name: string; readonly definition: null }[] {
    const folder = join(this.#workspace, 'checkpoints')
    const isKnown = (name: string) => this.#queries.some((query) => query.name === name)
    return this.#fx.files
      .list(folder)
      .filter((name) => !name.startsWith('.') && !isKnown(name))
      .filter((name) => ['metadata', 'offsets', 'commits'].some((part) => this.#fx.files.exists(join(folder, name, part))))
      .sort()
      .map((name) => ({ name, definition: null }))
  }

  #topics(errors: StatusError[]): TopicStatus[] {
    const path = topicsPath(this.#workspace)
    try {
      const database = openDatabaseToRead(path, this.#fx)
      if (database === null) return []
      try {
        return explained(path, () => {
          if (database.pragma('user_version', { simple: true }) === 0) return []
          return topicRows(database).map(({ number, name, partitions }) => ({
            name,
            kind: 'embedded' as const,
            partitions,
            endOffsets: Object.fromEntries(partitionReader(database, number)().map((row) => [row.partition, String(row.endOffset)])),
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
