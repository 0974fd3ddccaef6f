import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AddFile } from '../../src/store/actions.js'
import { candidateFiles } from '../../src/store/candidate-files.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { indexByKey, matchRows } from '../../src/store/key-index.js'
import { defineSchema, type Schema } from '../../src/store/schema.js'
import { statisticsOf } from '../../src/store/statistics.js'

function file(path: string, statistics: string | null): AddFile {
  return { path, size: 1, modifiedMs: 0, dataChange: true, partitionValues: {}, statistics, deletionVector: null }
}

function pathsFor(
  schema: Schema,
  on: readonly string[],
  files: Readonly<Record<string, readonly object[] | string | null>>,
  source: readonly object[],
): string[] {
  const adds = Object.entries(files).map(([path, rows]) =>
    file(path, rows === null || typeof rows === 'string' ? rows : statisticsOf(columnsFromRows(schema, rows))),
  )
  return candidateFiles(adds, indexByKey(columnsFromRows(schema, source), on), schema).map(({ path }) => path)
}

test('scattered keys are looked for one by one', () => {
  const schema = defineSchema({ id: 'int' })
  const files = { low: [{ id: -1 }, { id: 10 }], middle: [{ id: 20 }, { id: 30 }], high: [{ id: 40 }, { id: 50 }], nulls: [{ id: null }] }
  const paths = (...ids: (number | null)[]) =>
    pathsFor(
      schema,
      ['ID'],
      files,
      ids.map((id) => ({ id })),
    )
  expect(paths(10, 40)).toEqual(['low', 'high'])
  expect(paths(11, 19, 31, 51)).toEqual([])
  expect(paths(null, 25)).toEqual(['middle'])
  expect(paths(null)).toEqual([])
})

test('a file without statistics, or with broken ones, is a candidate', () => {
  const schema = defineSchema({ id: 'bigint', flag: 'boolean' })
  const files = { none: null, broken: '{"numRecords"', half: '{"numRecords":3,"minValues":{"id":5},"maxValues":{},"nullCount":{}}', other: '{"numRecords":1}' }
  expect(pathsFor(schema, ['id'], files, [{ id: 7n }])).toEqual(['none', 'broken', 'half', 'other'])
  expect(pathsFor(schema, ['id'], files, [{ id: 4n }])).toEqual(['none', 'broken', 'other'])
  expect(pathsFor(schema, ['flag'], { a: [{ id: 1n, flag: true }] }, [{ flag: false }])).toEqual(['a'])
})

test('no file that holds a matching row is left out, whatever the key is', () => {
  const types = {
    i: fc.option(fc.integer({ min: -5, max: 5 })),
    l: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    d: fc.option(fc.constantFrom(0, -0, 1.5, -1e300, Number.NaN, Number.NEGATIVE_INFINITY)),
    s: fc.option(fc.string({ maxLength: 40, unit: fc.constantFrom('a', '\uffee', '\u{1f600}') })),
    amount: fc.option(fc.constantFrom('-1', '0.01', '99999999999999999999999999.99')),
    at: fc.option(fc.bigInt({ min: -2001n, max: 2001n })),
  }
  const schema = defineSchema({ i: 'int', l: 'bigint', d: 'double', s: 'string', amount: 'decimal(38,2)', at: 'timestamp' })
  const rows = fc.array(fc.record(types), { minLength: 1, maxLength: 6 })
  const on = fc.subarray(
    schema.columns.map(({ name }) => name),
    { minLength: 1, maxLength: 2 },
  )
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 3 }), rows, fc.integer({ min: 0, max: 5 }), on, (files, source, shared, names) => {
      // Some source rows are a file's own, so that there is something to find.
      const mixed = [...source, ...(files[0] ?? []).slice(0, shared)]
      const index = indexByKey(columnsFromRows(schema, mixed), names)
      const adds = files.map((held, at) => file(String(at), statisticsOf(columnsFromRows(schema, held))))
      const candidates = new Set(candidateFiles(adds, index, schema).map(({ path }) => path))
      files.forEach((held, at) => {
        const matches = matchRows(index, columnsFromRows(schema, held), names)
        if (matches.some((row) => row >= 0)) expect(candidates).toContain(String(at))
      })
    }),
    { numRuns: 300 },
  )
})
