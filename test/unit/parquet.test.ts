/** Parquet: what is written comes back, another engine reads it alike, and Spark's and others' files are read right. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { afterAll, describe, expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { concatColumns } from '../../src/store/columns.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { decodeParquet, encodeParquet, warmParquet } from '../../src/store/parquet.js'
import { defineSchema, parseSchemaString } from '../../src/store/schema.js'
import { formatTimestamp } from '../../src/store/timestamp.js'
import { readExpected, sparkWorkspace } from '../spark-fixtures.js'
import { anyRows, EVERY_KIND, readable } from './any-rows.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-parquet-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return error instanceof StreamtopError ? `${error.code}: ${error.message}` : String(error)
  }
  return 'no error'
}

/** Rows of a query as DuckDB prints each value, null as null. */
async function askDuckDb(sql: string): Promise<(string | null)[][]> {
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run("SET TimeZone = 'UTC'")
  const rows = (await connection.runAndReadAll(sql)).getRowsJson()
  connection.closeSync()
  return rows as (string | null)[][]
}

test('rows of every kind come back as they were', async () => {
  await warmParquet()
  await fc.assert(
    fc.asyncProperty(anyRows(30), async (rows) => {
      const columns = columnsFromRows(EVERY_KIND, rows)
      const back = await decodeParquet(await encodeParquet(columns), EVERY_KIND)
      expect(readable(back)).toEqual(readable(columns))
      for (const vector of back.vectors) {
        // What lies under a null is zero: the hash of a row may rely on it.
        vector.nulls?.forEach((isNull, row) => {
          if (isNull === 1 && !vector.offsets) expect(Number(vector.values[row * (vector.values.length / back.rowCount)])).toBe(0)
        })
      }
    }),
    { numRuns: 60 },
  )
})

test('DuckDB reads what was written, value for value', async () => {
  const seed = 20261001
  const rows = fc.sample(anyRows(200), { numRuns: 12, seed }).flat()
  const columns = columnsFromRows(EVERY_KIND, rows)
  const file = join(folder, 'every-kind.parquet')
  writeFileSync(file, await encodeParquet(columns))
  const wanted = EVERY_KIND.columns.map(({ name, type }) => {
    if (type.kind === 'binary') return `hex("${name}")`
    if (type.kind === 'string') return `hex(encode("${name}"))`
    if (type.kind === 'float' || type.kind === 'double') return `"${name}"::DOUBLE::VARCHAR`
    if (type.kind === 'timestamp') return `epoch_us("${name}")::VARCHAR`
    return `"${name}"::VARCHAR`
  })
  const theirs = await askDuckDb(`SELECT ${wanted.join(', ')} FROM read_parquet('${file}')`)
  const ours = readable(columns).map((row, r) =>
    row.map((text, c) => {
      const vector = columns.vectors[c]
      const kind = vector?.column.type.kind
      if (text === null) return null
      if (kind === 'string') return Buffer.from(text).toString('hex').toUpperCase()
      if (kind === 'timestamp') return String(vector?.values[r])
      return kind === 'float' || kind === 'double' ? numberText(vector?.values[r] as number) : text
    }),
  )
  const isFloating = EVERY_KIND.columns.map(({ type }) => type.kind === 'float' || type.kind === 'double')
  const theirsAlike = theirs.map((row) => row.map((text, c) => (text !== null && isFloating[c] ? numberText(Number(text.replace('inf', 'Infinity'))) : text)))
  expect(theirsAlike, `seed ${seed}`).toEqual(ours)

  const types = await askDuckDb(
    `SELECT name, type, coalesce(converted_type, ''), logical_type, repetition_type FROM parquet_schema('${file}') WHERE num_children IS NULL`,
  )
  const described = Object.fromEntries(types.map(([name, ...rest]) => [name, rest.join(' ')]))
  expect(described['tiny']).toMatch(/^INT32 INT_8 .* OPTIONAL$/)
  expect(described['small']).toMatch(/^INT32 INT_16 .* OPTIONAL$/)
  expect(described['price']).toBe('INT32 DECIMAL DecimalType(scale=2, precision=9) OPTIONAL')
  expect(described['sum']).toBe('INT64 DECIMAL DecimalType(scale=4, precision=18) OPTIONAL')
  expect(described['huge']).toBe('FIXED_LEN_BYTE_ARRAY DECIMAL DecimalType(scale=18, precision=38) OPTIONAL')
  expect(described['at']).toMatch(/^INT64 TIMESTAMP_MICROS TimestampType\(isAdjustedToUTC=1, .*MICROS=MicroSeconds\(\).* OPTIONAL$/)
  expect(described['text.with dot']).toMatch(/^BYTE_ARRAY UTF8 .* OPTIONAL$/)
})

test('a column with NaN has no extremes in the footer: Spark has NaN above all numbers, and would leave its rows out', async () => {
  const schema = defineSchema({ whole: 'double', holed: 'double' })
  const file = join(folder, 'nan.parquet')
  const rows = [1.5, 2.5, -3.5].map((value, row) => ({ whole: value, holed: row === 1 ? Number.NaN : value }))
  writeFileSync(file, await encodeParquet(columnsFromRows(schema, rows)))
  expect(await askDuckDb(`SELECT path_in_schema, stats_min_value, stats_max_value FROM parquet_metadata('${file}') ORDER BY column_id`)).toEqual([
    ['whole', '-3.5', '2.5'],
    ['holed', null, null],
  ])
})

/** Engines print floats in different ways; as JavaScript's they are the same text when they are the same number. */
function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

describe('files of others', () => {
  for (const [name, table] of [
    ['types', 'types'],
    ['column-added', 'bronze_orders'],
  ] as const) {
    test(`Spark’s fixture ${name}, INT96 timestamps to the ends of the type`, async () => {
      const path = pathToFileURL(join(sparkWorkspace(name), 'tables', table, '/'))
      const log = new URL('_delta_log/', path)
      const actions = readdirSync(log)
        .filter((file) => /^\d+\.json$/.test(file))
        .sort()
        .flatMap((file) => readFileSync(new URL(file, log), 'utf8').trim().split('\n'))
        .map((line) => JSON.parse(line))
      const schema = parseSchemaString(actions.filter(({ metaData }) => metaData).at(-1).metaData.schemaString)
      const parts = await Promise.all(actions.filter(({ add }) => add).map(({ add }) => decodeParquet(readFileSync(new URL(add.path, path)), schema)))
      const rows = readable(concatColumns(schema, parts))
      const expected = readExpected(sparkWorkspace(name)).tables[table]?.rows ?? []
      const inOrder = (all: readonly (readonly (string | null)[])[]) => all.map((row) => JSON.stringify(row)).sort()
      expect(inOrder(rows)).toEqual(inOrder(expected))
    })
  }

  test('DuckDB’s: other units of time, other codecs, several row groups, dictionaries', async () => {
    const file = join(folder, 'duck.parquet')
    await askDuckDb(`COPY (SELECT i::INTEGER AS n, CASE WHEN i % 3 = 0 THEN NULL ELSE 'status ' || i % 5 END AS status, i % 2 = 0 AS even,
      make_timestamp(i * 86400000000 * 300 - 1000)::TIMESTAMP_MS AS ms, make_timestamp_ns(i * 86400000000000 * 30 - 1) AS ns, (i * 1.5)::DECIMAL(12,2) AS amount, DATE '0001-01-01' + i::INTEGER * 1000 AS day
      FROM range(3000) t(i)) TO '${file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`)
    const schema = defineSchema({
      STATUS: 'string',
      n: 'int',
      even: 'boolean',
      ms: 'timestamp',
      ns: 'timestamp',
      amount: 'decimal(12,2)',
      day: 'date',
      absent: 'string',
    })
    const rows = readable(await decodeParquet(readFileSync(file), schema))
    expect(rows).toHaveLength(3000)
    expect(rows[0]).toEqual([null, '0', 'true', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999', '0.00', '0001-01-01', null])
    expect(rows[2999]).toEqual([
      'status 4',
      '2999',
      'false',
      formatTimestamp(2999n * 86_400_000_000n * 300n - 1000n),
      formatTimestamp(2999n * 86_400_000_000n * 30n - 1n),
      '4498.50',
      expect.stringMatching(/^8\d\d\d-/),
      null,
    ])
  })

  test('a file that is cut, that is none, or that holds another type is a named error', async () => {
    const schema = defineSchema({ n: 'int', at: 'timestamp' })
    const whole = await encodeParquet(columnsFromRows(schema, [{ n: 1, at: '2026-10-01' }]))
    expect(await codeOf(decodeParquet(whole.subarray(0, whole.length >> 1), schema))).toMatch(
      /^table-damaged: a data file of \d+ bytes is not a whole Parquet file/,
    )
    expect(await codeOf(decodeParquet(new Uint8Array(0), schema))).toMatch(/^table-damaged/)
    expect(
      await codeOf(
        decodeParquet(
          whole.map((byte, i) => (i > 20 && i < 60 ? 255 - byte : byte)),
          schema,
        ),
      ),
    ).toMatch(/^table-damaged/)
    expect(await codeOf(decodeParquet(whole, defineSchema({ n: 'string' })))).toMatch(
      /^table-damaged: column n is string in the table and Int32 in a data file/,
    )
    expect(await codeOf(decodeParquet(whole, defineSchema({ n: 'timestamp' })))).toMatch(/^table-damaged: column n is timestamp/)
    expect(await codeOf(decodeParquet(whole, defineSchema({ more: 'string not null' })))).toMatch(/^schema-mismatch: column more/)
  })
})

test('only the wanted columns, in the wanted order, from any view of memory', async () => {
  const bytes = await encodeParquet(columnsFromRows(EVERY_KIND, [{ tiny: 1, 'text.with dot': 'a', price: '1.00' }]))
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  const schema = defineSchema({ price: 'decimal(9,2)', 'Text.With Dot': 'string' })
  expect(readable(await decodeParquet(shifted.subarray(3), schema))).toEqual([['1.00', 'a']])
  expect(readable(await decodeParquet(bytes, defineSchema({ other: 'string' })))).toEqual([[null]])
})

test('a column that may not be null is REQUIRED in the file', async () => {
  const schema = defineSchema({ id: 'int not null', name: 'string' })
  const bytes = await encodeParquet(columnsFromRows(schema, [{ id: 1 }]))
  expect(
    parquetMetadata(bytes)
      .schema.map(({ repetition_type }) => repetition_type)
      .slice(1),
  ).toEqual(['REQUIRED', 'OPTIONAL'])
  expect(readable(await decodeParquet(bytes, schema))).toEqual([['1', null]])
})

test('a thousand files leave nothing behind in the memory of parquet-wasm', async () => {
  const columns = columnsFromRows(EVERY_KIND, fc.sample(anyRows(50), { numRuns: 3, seed: 7 }).flat())
  const once = async () => decodeParquet(await encodeParquet(columns), EVERY_KIND)
  for (let i = 0; i < 50; i++) await once()
  const { wasmMemory } = await import('parquet-wasm')
  const size = () => (wasmMemory() as unknown as { readonly buffer: ArrayBuffer }).buffer.byteLength
  const before = size()
  for (let i = 0; i < 1000; i++) await once()
  expect(size()).toBe(before)
})
