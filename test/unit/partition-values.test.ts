/** Partition columns, mapped columns, and files that lie elsewhere: the table's log says what a row is, not the file alone. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { AddFile, Metadata } from '../../src/store/actions.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { readDataFile } from '../../src/store/data-files.js'
import { checkReadable, checkWritable } from '../../src/store/features.js'
import { filePathOf } from '../../src/store/file-path.js'
import { encodeParquet } from '../../src/store/parquet.js'
import { parseStatistics } from '../../src/store/parse-statistics.js'
import { partitionVector } from '../../src/store/partition-values.js'
import { defineSchema, parseSchemaString, type Schema } from '../../src/store/schema.js'
import { tableSchema } from '../../src/store/table-schema.js'
import { decodePath, formatVersion, parseVersion } from '../../src/store/version-text.js'
import { SPARK_TABLES, SPARK_WORKSPACES } from '../spark-fixtures.js'
import { readable } from './any-rows.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-partitions-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a partition value by type', () => {
  const values: ReadonlyArray<readonly [type: string, text: string | null, shown: string | null]> = [
    ['string', 'a/b=c %20 ü', 'a/b=c %20 ü'],
    ['string', '__HIVE_DEFAULT_PARTITION__', '__HIVE_DEFAULT_PARTITION__'],
    ['string', '', null],
    ['string', null, null],
    ['integer', '-2147483648', '-2147483648'],
    ['byte', '7', '7'],
    ['short', '-300', '-300'],
    ['long', '9223372036854775807', '9223372036854775807'],
    ['decimal(10,2)', '234.00', '234.00'],
    ['decimal(38,18)', '-99999999999999999999.999999999999999999', '-99999999999999999999.999999999999999999'],
    ['date', '0001-01-01', '0001-01-01'],
    ['timestamp', '2026-01-01 10:00:00', '2026-01-01 10:00:00'],
    ['timestamp', '2026-01-01 10:00:00.123456', '2026-01-01 10:00:00.123456'],
    ['timestamp', '2026-01-01T10:00:00.000000Z', '2026-01-01 10:00:00'],
    ['boolean', 'true', 'true'],
    ['boolean', 'false', 'false'],
    ['double', '1.0E10', '1.0E10'],
    ['double', 'NaN', 'NaN'],
    ['float', '-Infinity', '-Infinity'],
    ['binary', 'ü', 'C3BC'],
    ['date', '', null],
  ]
  test.each(values)('%s %j', (type, text, shown) => {
    const schema = defineSchema({ p: type })
    const [column = expect.fail()] = schema.columns
    const vector = partitionVector(column, { p: text }, 3)
    expect(readable({ schema, rowCount: 3, vectors: [vector] })).toEqual([[shown], [shown], [shown]])
  })

  test('what is no value of the type is an error, never another value', () => {
    for (const [type, text] of [
      ['integer', '2147483648'],
      ['integer', '1.0'],
      ['date', '2026-13-01'],
      ['timestamp', 'yesterday'],
      ['decimal(10,2)', '1.234'],
      ['boolean', '1'],
    ] as const) {
      const [column = expect.fail()] = defineSchema({ p: type }).columns
      expect(() => partitionVector(column, { p: text }, 1)).toThrow(expect.objectContaining({ code: 'table-damaged' }))
    }
  })
})

test('a file of a partitioned table: the log counts, in the order of the schema', async () => {
  const fields = ['a', 'day', 'b'].map((name) => ({ name, type: name === 'day' ? 'date' : 'integer', nullable: name !== 'day', metadata: {} }))
  const schema = tableSchema(metadata(fields, ['Day']))
  // A file may hold the partition column too; what it says there does not count.
  await write('partitioned.parquet', defineSchema({ b: 'int', day: 'date', a: 'int' }), [
    { a: 1, b: 2, day: '1999-01-01' },
    { a: 3, day: '1999-01-01' },
  ])
  const file = add('partitioned.parquet', { day: '2026-10-01' })
  expect(readable(await readDataFile(folder, schema, file, realEffects))).toEqual([
    ['1', '2026-10-01', '2'],
    ['3', '2026-10-01', null],
  ])
  const onlyDay = { columns: schema.columns.filter(({ name }) => name === 'day') }
  expect(readable(await readDataFile(folder, onlyDay, file, realEffects))).toEqual([['2026-10-01'], ['2026-10-01']])
  await expect(readDataFile(folder, schema, add('partitioned.parquet', {}), realEffects)).rejects.toMatchObject({ code: 'schema-mismatch' })
})

describe('column mapping', () => {
  /** `a` was renamed to `b` and another column is called `a` now; `gone` was dropped. */
  const fields = [field('id', 1, 'id'), field('b', 2, 'a'), field('a', 4, 'col-4'), field('part', 5, 'col-5')]

  test('by name: physical names in files, statistics and partition values', async () => {
    const schema = tableSchema(metadata(fields, ['part'], 'name'))
    await write('mapped.parquet', defineSchema({ id: 'int', a: 'int', gone: 'int', 'col-4': 'int' }), [{ id: 1, a: 10, gone: 0, 'col-4': 40 }])
    expect(readable(await readDataFile(folder, schema, add('mapped.parquet', { 'col-5': '5', part: '6' }), realEffects))).toEqual([['1', '10', '40', '5']])
    const statistics = parseStatistics('{"numRecords":1,"minValues":{"a":10,"col-4":40},"maxValues":{"a":10,"col-4":41},"nullCount":{"a":0,"col-4":1}}', schema)
    expect([statistics.min('b'), statistics.max('a'), statistics.nullCount('a'), statistics.min('part')]).toEqual([10, 41, 1, null])
  })

  test('by id: the file’s own names do not count', async () => {
    const schema = tableSchema(metadata(fields, ['part'], 'id'))
    const connection = await (await DuckDBInstance.create()).connect()
    await connection.run(
      `COPY (SELECT 1::INT AS x, 10::INT AS b, 40::INT AS whatever) TO '${join(folder, 'by-id.parquet')}' (FORMAT parquet, FIELD_IDS {x: 1, b: 4, whatever: 2})`,
    )
    expect(readable(await readDataFile(folder, schema, add('by-id.parquet', { 'col-5': null }), realEffects))).toEqual([['1', '40', '10', null]])
    await connection.run(`COPY (SELECT 1::INT AS id) TO '${join(folder, 'no-ids.parquet')}' (FORMAT parquet)`)
    connection.closeSync()
    await expect(readDataFile(folder, schema, add('no-ids.parquet', {}), realEffects)).rejects.toMatchObject({ code: 'unsupported-feature' })
  })

  test('without a mode what is left of a mapping does not count', () => {
    const left = metadata(fields, [])
    expect(tableSchema(left)).toEqual(parseSchemaString(left.schemaString))
  })

  test('a column without its physical name is an error', () => {
    expect(() => tableSchema(metadata([{ name: 'a', type: 'integer', nullable: true, metadata: {} }], [], 'name'))).toThrow(/has no physical name/)
  })
})

describe('features', () => {
  const plain = metadata([field('a', 1, 'a')], [])
  const check = (protocol: Parameters<typeof checkReadable>[1], meta = plain) => {
    const outcome = (run: () => void) => {
      try {
        run()
        return 'yes'
      } catch (error) {
        return (error as Error).message
      }
    }
    return [outcome(() => checkReadable('t', protocol, meta)), outcome(() => checkWritable('t', protocol, meta, false))]
  }
  const features = (reader: string[], writer = reader) => ({ minReaderVersion: 3, minWriterVersion: 7, readerFeatures: reader, writerFeatures: writer })

  test('a column with a length is read, and written by Spark alone, which measures', () => {
    const withLength = metadata([{ name: 'a', type: 'string', nullable: true, metadata: { __CHAR_VARCHAR_TYPE_STRING: 'varchar(5)' } }], [])
    expect(check({ minReaderVersion: 1, minWriterVersion: 2 }, withLength)).toEqual([
      'yes',
      'table t uses char or varchar columns, which streamtop cannot write',
    ])
  })

  test('what is read, what is written, and the name of what is not', () => {
    expect(check({ minReaderVersion: 1, minWriterVersion: 2 })).toEqual(['yes', 'yes'])
    expect(check({ minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ['appendOnly', 'invariants'] })).toEqual(['yes', 'yes'])
    expect(check(features(['deletionVectors'], ['deletionVectors', 'appendOnly']))).toEqual([
      'yes',
      'table t uses the writer feature deletionVectors, which streamtop cannot write',
    ])
    expect(check(features(['columnMapping', 'v2Checkpoint', 'vacuumProtocolCheck', 'timestampNtz']))[0]).toBe('yes')
    expect(check(features(['catalogManaged', 'variantType', 'deletionVectors']))[0]).toMatch(/uses the reader features catalogManaged, variantType, which/)
    expect(check({ minReaderVersion: 4, minWriterVersion: 7 })[0]).toMatch(/reader version 4/)
    expect(check({ minReaderVersion: 2, minWriterVersion: 5 }, metadata([field('a', 1, 'a')], [], 'name'))).toEqual([
      'yes',
      expect.stringMatching(/writer version 5/),
    ])
    expect(check({ minReaderVersion: 1, minWriterVersion: 2 }, metadata([field('a', 1, 'a')], [], 'other'))[0]).toMatch(/column mapping \(mode other\)/)
    expect(check({ minReaderVersion: 1, minWriterVersion: 2 }, metadata([field('a', 1, 'a')], ['a']))).toEqual([
      'yes',
      expect.stringMatching(/partitions \(by a\)/),
    ])
  })
})

test('paths in the log are decoded once; a file may lie elsewhere on this machine', () => {
  expect(decodePath('status=a%252Fb%253Dc%20%252520%20ü/part.parquet')).toBe('status=a%2Fb%3Dc %2520 ü/part.parquet')
  expect(decodePath('100%')).toBe('100%')
  expect(filePathOf('/t', 'at=10:00/part.parquet')).toBe('/t/at=10:00/part.parquet')
  expect(filePathOf('/t', 'a:b=1/part.parquet')).toBe('/t/a:b=1/part.parquet')
  expect(filePathOf('/t', '/other/part.parquet')).toBe('/other/part.parquet')
  expect(filePathOf('/t', 'file:/other/part.parquet')).toBe('/other/part.parquet')
  expect(filePathOf('/t', 'file:///other/part.parquet')).toBe('/other/part.parquet')
  expect(() => filePathOf('/t', 's3://bucket/part.parquet')).toThrow(/not on this machine/)
})

function field(name: string, id: number, physicalName: string) {
  return { name, type: 'integer', nullable: true, metadata: { 'delta.columnMapping.id': id, 'delta.columnMapping.physicalName': physicalName } }
}

function metadata(fields: readonly object[], partitionColumns: readonly string[], mode?: string): Metadata {
  const configuration: Record<string, string> = mode === undefined ? {} : { 'delta.columnMapping.mode': mode }
  return { id: 'id', schemaString: JSON.stringify({ type: 'struct', fields }), partitionColumns, configuration, createdTimeMs: 0 }
}

function add(path: string, partitionValues: Record<string, string | null>): AddFile {
  return { path, size: 1, modifiedMs: 0, dataChange: true, partitionValues, statistics: null, deletionVector: null }
}

async function write(name: string, schema: Schema, rows: readonly object[]): Promise<void> {
  writeFileSync(join(folder, name), await encodeParquet(columnsFromRows(schema, rows)))
}

test('a path is written letter by letter as Spark wrote it, or Spark would not find the file that a remove takes out', () => {
  const names = [SPARK_WORKSPACES, SPARK_TABLES].flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)))
  const texts = names.filter((name) => /_delta_log.\d{20}\.json$/.test(name)).map((name) => readFileSync(name, 'utf8'))
  const written = texts.flatMap((text) => [...text.matchAll(/^\{"add":\{"path":"([^"]+)"/gm)].map(([, path = '']) => path))
  const elsewhere = ['file:/elsewhere/a%20b/tables/orders/part-1.parquet', 'p=a+b,c@d&e;f$g!(h)*~/part-1.parquet', 'p=a%253Ab/%22%5B%C2%A0%5D.parquet']
  expect(written.some((path) => path.includes('ü'))).toBe(true)
  for (const path of [...written, ...elsewhere]) {
    const { adds } = parseVersion(`{"add":{"path":"${path}","size":1}}\n`, 'there')
    const removes = adds.map((add) => ({ ...add, deletedMs: 1, rowCount: null }))
    const text = formatVersion({ commitInfo: null, metadata: null, protocol: null, txns: [], adds, removes })
    expect([...text.matchAll(/"path":"([^"]+)"/g)].map(([, said]) => said)).toEqual([path, path])
  }
})
