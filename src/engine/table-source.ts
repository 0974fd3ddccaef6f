/**
 * A table read as a stream: its snapshot first, then each version that adds rows, with Delta's offsets.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Columns } from '../store/columns.js'
import type { Store } from '../store/store.js'
import { checkpointFolder } from './checkpoint.js'
import type { TableSpec } from './definition.js'
import { filterRows } from './filter-rows.js'
import type { Source, SourceRows } from './source.js'
import type { TableSourceOptions } from './source-options.js'
import { formatTableOffset, parseTableOffset, type TableOffset } from './table-offset.js'
import { endOfAvailable, filesOfRange, latestTableOffset } from './table-source-plan.js'

const POLL_MS = 20

/** The source of a query that reads a table. */
export function tableSource(workspace: string, query: string, spec: TableSpec, options: TableSourceOptions, store: Store, fx: Effects): Source {
  const where = join(checkpointFolder(workspace, query), 'offsets')
  let upTo: TableOffset | null = null
  const parse = (text: string | null): TableOffset | null => (text === null ? null : parseTableOffset(text, where))

  return {
    description: `DeltaSource[${join(store.tablesFolder, spec.name)}]`,
    isThere: () => store.newestVersion(spec.name) !== null,
    missing: () => sourceIsMissing(spec.name),
    async begin() {},
    initialOffset: async () => null,
    async fixEnd() {
      upTo = endOfAvailable(store, spec.name)
    },
    async plan(start) {
      const end = latestTableOffset(store, spec.name, parse(start), options, upTo)
      return end && formatTableOffset(end)
    },
    async read(start, end): Promise<SourceRows> {
      const to = parse(end) as TableOffset
      const { files, skipped } = filesOfRange(store, spec.name, parse(start), to, options)
      const schema = store.snapshot(spec.name)?.schema
      if (!schema) throw sourceIsMissing(spec.name)
      const read: Columns = await store.read(spec.name, schema, files)
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
      while (!signal.aborted) {
        const newest = store.newestVersion(spec.name)
        if (newest !== null && newest >= (parse(start)?.version ?? 0)) return
        await fx.sleep(POLL_MS, signal)
      }
    },
    async close() {},
  }
}

function sourceIsMissing(table: string): StreamtopError {
  return new StreamtopError('source-missing', `there is no table ${table} to read from`, {
    hint: 'run the query that writes it first, or both together: "streamtop run bronze_orders events_copy"',
    condition: 'DELTA_TABLE_NOT_FOUND',
  })
}
