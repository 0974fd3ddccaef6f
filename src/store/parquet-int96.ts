/**
 * INT96 timestamps out of a Parquet file, exact to the microsecond from year 1 to 9999: a Julian day number and nanoseconds of that
 * day, as Spark writes them. Only these columns are read here.
 */
import type { ColumnData } from 'hyparquet'
import { StreamtopError } from '../errors.js'
import type { Vector } from './columns.js'
import type { ParquetFooter } from './parquet-footer.js'
import type { Column } from './schema.js'

/** The wanted columns, each by its name in the file, as timestamps in microseconds; finer parts are cut towards the past, as Spark does. */
export async function readInt96Columns(
  bytes: Uint8Array,
  footer: ParquetFooter,
  wanted: readonly { readonly column: Column; readonly name: string }[],
): Promise<readonly Vector[]> {
  if (wanted.length === 0) return []
  const targets = new Map(
    wanted.map(({ column, name }) => [name, { column, micros: new BigInt64Array(footer.rowCount), nulls: new Uint8Array(footer.rowCount) }]),
  )
  const [{ parquetRead }, { compressors }] = await Promise.all([import('hyparquet'), import('hyparquet-compressors')])
  try {
    await parquetRead({
      file: { byteLength: bytes.length, slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer },
      metadata: footer.metadata,
      columns: wanted.map(({ name }) => name),
      compressors,
      parsers: { timestampFromNanoseconds: microsOfNanos },
      onChunk: (chunk) => storeChunk(chunk, targets.get(chunk.columnName)),
    })
  } catch (cause) {
    throw new StreamtopError('table-damaged', `a Parquet file cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  return [...targets.values()].map(({ column, micros, nulls }) => ({ column, values: micros, ...(nulls.includes(1) ? { nulls } : {}) }))
}

function storeChunk({ columnData, rowStart }: ColumnData, target: { readonly micros: BigInt64Array; readonly nulls: Uint8Array } | undefined): void {
  if (!target) return
  for (let i = 0; i < columnData.length; i++) {
    const micros: unknown = columnData[i]
    if (typeof micros === 'bigint') target.micros[rowStart + i] = micros
    else target.nulls[rowStart + i] = 1
  }
}

function microsOfNanos(nanos: bigint): bigint {
  const rest = nanos % 1000n
  return (nanos - (rest < 0n ? rest + 1000n : rest)) / 1000n
}
