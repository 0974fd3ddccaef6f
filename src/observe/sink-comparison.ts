/**
 * What a query's table holds against what its source has: rows that are missing, and rows that were written more often than the
 * source has them. Exact, from the data alone; kept for a query from look to look, so that a look costs what has changed.
 */
import type { Holds } from '../engine/definition.js'
import { StreamtopError } from '../errors.js'
import type { AddFile } from '../store/actions.js'
import { duplicateCount, missingFrom, NO_OFFSETS, type OffsetRange, unionOffsets } from '../store/offset-ranges.js'
import { fileKey } from '../store/replay.js'
import { type Schema, sameName, sameType } from '../store/schema.js'
import { type FileRows, StillCounting } from './file-rows.js'
import { FollowedKeys, FollowedRecords } from './followed-files.js'
import { NewestByKey } from './newest-by-key.js'
import { RowBalance } from './row-balance.js'
import type { TableSourceFacts } from './source-facts.js'
import type { TableView } from './table-view.js'

export interface TopicSourceFacts {
  readonly kind: 'topic'
  readonly name: string
  /** The records up to the newest commit, or null when the checkpoint does not say. */
  readonly committed: readonly OffsetRange[] | null
}

export interface Comparison {
  /** Null when it is not known. */
  readonly missing: number | null
  readonly writtenTwice: number | null
  /** Rows that are in the table although they are behind the newest commit; null when that is not known. */
  readonly uncommitted: number | null
  /** Not known yet, and known after the next looks. */
  readonly isCounting?: boolean
  /** Why something is not known, in a sentence. */
  readonly because: string | null
}

export interface Compared {
  readonly holds: Holds
  /** Whether the query leaves rows of its source out. */
  readonly isFiltered: boolean
  readonly source: TableSourceFacts | TopicSourceFacts
  /** Null when the table is not there. */
  readonly sink: TableView | StreamtopError | null
  /** Where records are that are no rows; null when there is no such table. */
  readonly rejected: TableView | StreamtopError | null
}

export class SinkComparison {
  readonly #balance = new RowBalance()
  readonly #records = new FollowedRecords()
  readonly #rejected = new FollowedRecords()
  readonly #expectedKeys = new FollowedKeys()
  readonly #presentKeys = new FollowedKeys()
  #memo: { readonly key: string; readonly comparison: Comparison } | null = null

  /** Never throws: what cannot be read is not known. */
  async compare(compared: Compared, fileRows: FileRows): Promise<Comparison> {
    const key = keyOf(compared)
    if (this.#memo?.key === key) return this.#memo.comparison
    let comparison: Comparison
    try {
      comparison = await this.#compare(compared, fileRows)
    } catch (error) {
      if (error instanceof StillCounting) return { ...unknown('its rows are still being counted'), isCounting: true }
      if (!(error instanceof StreamtopError)) throw error
      return unknown(error.message)
    }
    this.#memo = { key, comparison }
    return comparison
  }

  async #compare({ holds, isFiltered, source, sink, rejected }: Compared, fileRows: FileRows): Promise<Comparison> {
    if (holds === 'unknown') return unknown('what its table is to hold is not said')
    if (sink instanceof StreamtopError) return unknown(sink.message)
    let comparison: Comparison
    if (rejected instanceof StreamtopError) return unknown(rejected.message)
    if (source.kind === 'topic') comparison = await this.#recordsAgainst(source, sink, rejected, holds, fileRows)
    else if (holds === 'every-row') comparison = await this.#rowsAgainst(source, sink, fileRows)
    else comparison = await this.#keysAgainst(source, sink, holds, fileRows)
    return isFiltered && comparison.missing !== null ? { ...comparison, missing: null, because: 'it leaves out rows of its source' } : comparison
  }

  async #rowsAgainst(source: TableSourceFacts, sink: TableView | null, fileRows: FileRows): Promise<Comparison> {
    const { view, committed, logged, removed } = source
    if (view instanceof StreamtopError) return unknown(view.message)
    if (view === null) return withoutSource(committed)
    if (sink !== null && !haveSameColumns(view.snapshot.schema, sink.snapshot.schema)) return unknown(`${source.name} and its table have different columns`)
    const right = sink && { view: sink, files: sink.snapshot.files }
    let missing: number | null = null
    let uncommitted: number | null = null
    if (!(committed instanceof StreamtopError)) {
      const at = await this.#balance.compare({ view, files: committed }, right, fileRows)
      missing = at.onlyLeft
      uncommitted = at.onlyRight
    }
    if (logged instanceof StreamtopError) return { missing, uncommitted, writtenTwice: null, because: logged.message }
    let writtenTwice =
      logged === committed && uncommitted !== null ? uncommitted : (await this.#balance.compare({ view, files: logged }, right, fileRows)).onlyRight
    // A row that a later version changed or deleted was read as it was before.
    if (writtenTwice > 0 && removed.length > 0) {
      writtenTwice = (await this.#balance.compare({ view, files: withFiles(logged, removed) }, right, fileRows)).onlyRight
    }
    return { missing, uncommitted, writtenTwice, because: committed instanceof StreamtopError ? committed.message : null }
  }

  /** A record that is no row is not missing: it is in the other table. */
  async #recordsAgainst(source: TopicSourceFacts, sink: TableView | null, rejected: TableView | null, holds: Holds, fileRows: FileRows): Promise<Comparison> {
    if (holds !== 'every-row') return unknown('a table of the newest rows is compared with a table only')
    const rows = sink === null ? NO_OFFSETS : await this.#records.of(sink, fileRows)
    const others = rejected === null ? NO_OFFSETS : await this.#rejected.of(rejected, fileRows)
    if (others === null) return unknown('the table of its rejected records has no columns partition and offset to know records by')
    const present = rows === null || rejected === null ? rows : unionOffsets(rows, others)
    if (present === null) return unknown('its table has no columns partition and offset to know records by')
    const writtenTwice = duplicateCount(present)
    if (source.committed === null) return { missing: null, uncommitted: null, writtenTwice, because: 'where it began in its topic is not recorded' }
    return {
      missing: Number(missingFrom(source.committed, present.ranges)),
      uncommitted: Number(missingFrom(present.ranges, source.committed)),
      writtenTwice,
      because: null,
    }
  }

  async #keysAgainst(source: TableSourceFacts, sink: TableView | null, holds: Exclude<Holds, string>, fileRows: FileRows): Promise<Comparison> {
    const { view, committed } = source
    if (view instanceof StreamtopError) return unknown(view.message)
    if (view === null) return withoutSource(committed)
    const { of: key, newestBy } = holds
    const there = sink === null ? new NewestByKey() : await this.#presentKeys.of(sink, sink.snapshot.files, key, newestBy, fileRows)
    if (there === null) return unknown(`${newestBy} is not of a type that is compared`)
    const writtenTwice = there.rowCount - there.keyCount
    if (committed instanceof StreamtopError) return { missing: null, uncommitted: null, writtenTwice, because: committed.message }
    const expected = await this.#expectedKeys.of(view, committed, key, newestBy, fileRows)
    if (expected === null) return unknown(`${newestBy} is not of a type that is compared`)
    return { missing: expected.keysBehind(there), uncommitted: there.keysBehind(expected), writtenTwice, because: null }
  }
}

function withoutSource(committed: readonly AddFile[] | StreamtopError): Comparison {
  if (committed instanceof StreamtopError) return unknown(committed.message)
  return { missing: 0, uncommitted: null, writtenTwice: null, because: 'there is no source to compare with' }
}

function unknown(because: string): Comparison {
  return { missing: null, writtenTwice: null, uncommitted: null, because }
}

/** Row by row the same columns, so that equal rows hash alike. */
function haveSameColumns(a: Schema, b: Schema): boolean {
  return (
    a.columns.length === b.columns.length &&
    a.columns.every((column, i) => {
      const other = b.columns[i]
      return other !== undefined && sameName(column.name, other.name) && sameType(column.type, other.type)
    })
  )
}

function withFiles(files: readonly AddFile[], more: readonly AddFile[]): AddFile[] {
  return [...new Map([...files, ...more].map((file) => [fileKey(file), file])).values()]
}

/** The same when nothing has changed that a comparison depends on. Files are never changed, so their names say what is in them. */
function keyOf({ source, sink, rejected }: Compared): string {
  const ofTable = (table: Compared['sink']) => (table instanceof StreamtopError ? table.message : table && [table.snapshot.tableId, table.snapshot.version])
  const ofSink = ofTable(sink)
  if (source.kind === 'topic') {
    return JSON.stringify([ofSink, ofTable(rejected), source.committed?.map(({ partition, start, end }) => `${partition} ${start} ${end}`)])
  }
  const ofFiles = (files: readonly AddFile[] | StreamtopError) =>
    files instanceof StreamtopError ? files.message : [files.length, files.at(0)?.path, files.at(-1)?.path]
  const { view } = source
  const ofView = view instanceof StreamtopError ? view.message : view && [view.snapshot.tableId, view.snapshot.metadata.schemaString]
  return JSON.stringify([ofSink, ofView, ofFiles(source.committed), ofFiles(source.logged), source.removed.length])
}
