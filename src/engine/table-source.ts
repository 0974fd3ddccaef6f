/**
 * A table read as a stream: its snapshot first, then each version that adds rows, with Delta's offsets.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { Store } from '../store/store.js'
import type { Snapshot, TableLog } from '../store/table-log.js'
import { checkpointFolder } from './checkpoint.js'
import type { TableSpec } from './definition.js'
import { filterRows } from './filter-rows.js'
import type { Source, SourceRows } from './source.js'
import type { TableSourceOptions } from './source-options.js'
import { formatTableOffset, parseTableOffset, type TableOffset } from './table-offset.js'
import { settleStartingVersion } from './table-source-files.js'
import { endOfAvailable, filesOfRange, lastVersionOf, latestTableOffset, schemaOfRange } from './table-source-plan.js'

const POLL_MS = 20

/** The source of a query that reads a table. */
export function tableSource(workspace: string, query: string, spec: TableSpec, asked: TableSourceOptions, store: Store, fx: Effects): Source {
  const folder = checkpointFolder(workspace, query)
  const where = join(folder, 'offsets')
  const log = keepingSnapshot(store)
  let options = asked
  let upTo: TableOffset | null = null
  const parse = (text: string | null): TableOffset | null => (text === null ? null : parseTableOffset(text, where))

  return {
    description: `DeltaSource[${join(store.tablesFolder, spec.name)}]`,
    isThere: () => store.newestVersion(spec.name) !== null,
    missing: () => sourceIsMissing(spec.name),
    async begin(isNew) {
      options = { ...asked, startingVersion: settleStartingVersion(folder, isNew, asked.startingVersion, fx) }
    },
    initialOffset: async () => null,
    async fixEnd() {
      upTo = endOfAvailable(store, spec.name)
    },
    async plan(start) {
      const from = parse(start)
      if (from !== null && !from.isInitialSnapshot) log.forgetSnapshot()
      const end = latestTableOffset(log, spec.name, from, options, upTo)
      return end && formatTableOffset(end)
    },
    async read(start, end): Promise<SourceRows> {
      const to = parse(end) as TableOffset
      const { files, skipped } = filesOfRange(log, spec.name, parse(start), to, options)
      // Not the whole snapshot: a batch must cost the same however many files the table has.
      const newest = store.base(spec.name)?.shape.schema
      const atEnd = store.schemaAt(spec.name, lastVersionOf(to))
      if (!newest || !atEnd) throw sourceIsMissing(spec.name)
      const read: Columns = await store.read(spec.name, schemaOfRange(atEnd, newest), files)
      return {
        columns: filterRows(read, spec.filters),
        inputRowCount: read.rowCount,
        notes: skipped.map(
          ({ version, rows }) =>
            `version ${version} of ${spec.name} changes rows and is skipped (skipChangeCommits)${rows ? `: ${rows} rows that it added are left out` : ''}`,
        ),
      }
    },
    latestOffset() {
      const end = endOfAvailable(store, spec.name)
      return end && formatTableOffset(end)
    },
    async waitForMore(start, signal) {
      const past = parse(start)
      while (!signal.aborted) {
        const now = store.base(spec.name)
        // A table that was dropped and made again may have fewer versions: the next plan says that it is another.
        if (now !== null && (now.version >= (past?.version ?? 0) || now.table.tableId !== past?.tableId)) return
        await fx.sleep(POLL_MS, signal)
      }
    },
    async close() {},
  }
}

/**
 * The log with the last snapshot of a numbered version kept: a stream that begins with a table's snapshot asks for it at every
 * batch inside it, and all its files would be read each time.
 */
function keepingSnapshot(log: TableLog): TableLog & { forgetSnapshot(): void } {
  let kept: Snapshot | null = null
  return {
    tableNames: () => log.tableNames(),
    tableId: (table) => log.tableId(table),
    newestVersion: (table) => log.newestVersion(table),
    oldestVersion: (table) => log.oldestVersion(table),
    oldestSnapshotVersion: (table) => log.oldestSnapshotVersion(table),
    changes: (table, version) => log.changes(table, version),
    snapshot(table, version) {
      if (version === undefined) return log.snapshot(table)
      if (kept?.table !== table || kept.version !== version) kept = log.snapshot(table, version)
      return kept
    },
    forgetSnapshot() {
      kept = null
    },
  }
}

function sourceIsMissing(table: string): StreamtopError {
  return new StreamtopError('source-missing', `there is no table ${table} to read from`, {
    hint: 'run the query that writes it first, or both together: "streamtop run bronze_orders events_copy"',
    condition: 'DELTA_TABLE_NOT_FOUND',
  })
}
