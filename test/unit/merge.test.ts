import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Columns } from '../../src/store/columns.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { type MergePlan, planMerge } from '../../src/store/merge.js'
import { mergeMetrics, mergeOperation } from '../../src/store/merge-commit.js'
import { type MergeSpec, newer } from '../../src/store/merge-spec.js'
import { newestOfEach } from '../../src/store/newest-of-each.js'
import { DELETED_ROW, pickRows } from '../../src/store/pick-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { rowsOf } from '../../src/store/values.js'

const schema = defineSchema({ id: 'int', name: 'string', amount: 'decimal(10,2)', at: 'timestamp' })
const upsert: MergeSpec = { on: 'id', whenMatched: { when: newer('at'), act: 'update' }, whenNotMatched: 'insert' }

type Short = readonly [id: number | null, name: string | null, amount?: number | null, at?: number | null]

function columnsOf(rows: readonly Short[]): Columns {
  return columnsFromRows(
    schema,
    rows.map(([id, name, amount, at]) => ({ id, name, amount: amount ?? null, at: at === undefined || at === null ? null : BigInt(at) })),
  )
}

/** Rows as texts: id, name, amount, microseconds. */
function shown(columns: Columns | null): string[] {
  return columns === null
    ? []
    : [...rowsOf(columns)].map(({ id, name, amount, at }) => [id, name, amount, at === null ? null : at?.valueOf()].map(String).join(' '))
}

function shownPlan(plan: MergePlan<string>) {
  if (plan.kind === 'unchanged') return plan.kind
  return { rewritten: Object.fromEntries(plan.rewritten.map(({ file, columns }) => [file, shown(columns)])), inserted: shown(plan.inserted) }
}

function merge(files: Readonly<Record<string, readonly Short[]>>, source: readonly Short[], spec: MergeSpec): MergePlan<string> {
  const target = Object.entries(files).map(([file, rows]) => ({ file, columns: columnsOf(rows) }))
  return planMerge({ target, source: columnsOf(source), spec, schema })
}

function errorOf(run: () => unknown): { code?: string; condition?: string; message: string } {
  try {
    run()
  } catch (error) {
    return error as { code?: string; condition?: string; message: string }
  }
  throw new Error('nothing was thrown')
}

describe('a MERGE', () => {
  const files = {
    a: [
      [1, 'one', 1.5, 100],
      [2, 'two', 2.5, 100],
    ],
    b: [
      [3, 'three', 3.5, 100],
      [4, null, null, null],
    ],
  } as const

  test('updates what is newer, inserts what is new, and rewrites only the files that change', () => {
    const plan = merge(
      files,
      [
        [9, 'nine', 9, 1],
        [1, 'ONE, longer', -1.25, 101],
        [3, 'same time', 0, 100],
      ],
      upsert,
    )
    expect(shownPlan(plan)).toEqual({ rewritten: { a: ['1 ONE, longer -1.25 101', '2 two 2.50 100'] }, inserted: ['9 nine 9.00 1'] })
    expect(plan.counts).toEqual({ sourceRows: 3, inserted: 1, updated: 1, deleted: 0, copied: 1 })
  })

  test('that finds nothing newer changes nothing', () => {
    const plan = merge(files, [...files.a, [4, 'null is not older', 0, 5]], upsert)
    expect(plan).toEqual({ kind: 'unchanged', counts: { sourceRows: 3, inserted: 0, updated: 0, deleted: 0, copied: 0 } })
  })

  test('of no rows changes nothing', () => expect(merge(files, [], upsert).kind).toBe('unchanged'))

  test('deletes, and leaves a file without rows', () => {
    const plan = merge(
      files,
      [
        [1, null],
        [2, null],
        [4, null],
      ],
      { on: 'id', whenMatched: 'delete' },
    )
    expect(shownPlan(plan)).toEqual({ rewritten: { a: [], b: ['3 three 3.50 100'] }, inserted: [] })
    expect(plan.counts).toMatchObject({ deleted: 3, copied: 1 })
  })

  test('takes the first clause whose condition is true', () => {
    const spec: MergeSpec = {
      on: 'id',
      whenMatched: [
        { when: (s) => s['name'] === 'gone', act: 'delete' },
        { when: (s, t) => (s['at'] ?? 0) > (t['at'] ?? 0), act: 'update' },
        { when: (s) => (s['name'] === 'unknown' ? (null as unknown as boolean) : false), act: 'delete' },
      ],
      whenNotMatched: { when: (s) => s['name'] !== 'not me', act: 'insert' },
    }
    const plan = merge(
      files,
      [
        [1, 'gone', 1, 500],
        [2, 'later', 2, 500],
        [3, 'unknown', 3, 1],
        [7, 'not me'],
        [8, 'me'],
      ],
      spec,
    )
    expect(shownPlan(plan)).toEqual({ rewritten: { a: ['2 later 2.00 500'] }, inserted: ['8 me null null'] })
  })

  test('updates every target row of a key, and inserts every source row of a new key', () => {
    const twice = {
      a: [
        [1, 'x'],
        [1, 'y'],
      ],
      b: [[1, 'z']],
    } as const
    const plan = merge(
      twice,
      [
        [1, 'new'],
        [5, 'p'],
        [5, 'q'],
      ],
      { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' },
    )
    expect(shownPlan(plan)).toEqual({
      rewritten: { a: ['1 new null null', '1 new null null'], b: ['1 new null null'] },
      inserted: ['5 p null null', '5 q null null'],
    })
  })

  test('never matches null keys', () => {
    const plan = merge({ a: [[null, 'there']] }, [[null, 'comes']], { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' })
    expect(shownPlan(plan)).toEqual({ rewritten: {}, inserted: ['null comes null null'] })
  })

  test('takes values for equal and greater as Spark does', () => {
    const keyed = defineSchema({ d: 'double', s: 'string', n: 'double' })
    const columns = (rows: readonly (readonly [number, string, number])[]) =>
      columnsFromRows(
        keyed,
        rows.map(([d, s, n]) => ({ d, s, n })),
      )
    const target = [
      [Number.NaN, '\u{1f600}', 5],
      [0, 'a', Number.NaN],
      [1, 'ab', -1],
    ] as const
    const source = [
      [1, '\uffee', 0],
      [Number.NaN, '\uffee', Number.NaN],
      [-0, 'b', Number.POSITIVE_INFINITY],
    ] as const
    const updated = (column: string) => {
      const spec: MergeSpec = { on: 'd', whenMatched: { when: newer(column), act: 'update' }, whenNotMatched: 'insert' }
      const plan = planMerge({ target: [{ file: 'a', columns: columns(target) }], source: columns(source), spec, schema: keyed })
      expect(plan.counts.inserted).toBe(0)
      return plan.kind === 'changed' ? plan.rewritten.flatMap((file) => [...rowsOf(file.columns)].map(({ s }) => s)) : []
    }
    expect(updated('n')).toEqual(['\uffee', 'a', '\uffee'])
    expect(updated('s')).toEqual(['\u{1f600}', 'b', '\uffee'])
  })

  test('refuses two source rows for one target row, whatever the conditions say', () => {
    const error = errorOf(() => merge(files, [...files.a, [2, 'again', 1, 1]], upsert))
    expect(error).toMatchObject({ code: 'merge-ambiguous', condition: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE' })
    expect(error.message).toContain('id 2')
  })

  test('takes two source rows for one target row when it only deletes or only inserts', () => {
    const source = [
      [1, 'x'],
      [1, 'y'],
    ] as const
    expect(merge(files, source, { on: 'id', whenMatched: 'delete' }).counts.deleted).toBe(1)
    expect(merge(files, source, { on: 'id', whenNotMatched: 'insert' }).kind).toBe('unchanged')
    expect(() => merge(files, source, { on: 'id', whenMatched: { when: () => true, act: 'delete' } })).toThrow('several rows')
  })

  test('finds columns in any case and order, and leaves out what the table does not have', () => {
    const wide = defineSchema({ extra: 'string', AT: 'timestamp', Amount: 'decimal(10,2)', NAME: 'string', Id: 'int' })
    const source = columnsFromRows(wide, [{ extra: 'e', AT: 7n, Amount: 1, NAME: 'n', Id: 1 }])
    const plan = planMerge({
      target: [{ file: 'a', columns: columnsOf([[1, 'one']]) }],
      source,
      spec: { on: 'ID', whenMatched: { when: (s) => s['extra'] === 'e', act: 'update' } },
      schema,
    })
    expect(shownPlan(plan)).toEqual({ rewritten: { a: ['1 n 1.00 7'] }, inserted: [] })
  })

  test('needs all columns of the table to write a row, and the key alone to delete one', () => {
    const source = columnsFromRows(defineSchema({ id: 'int' }), [{ id: 1 }])
    const target = [{ file: 'a', columns: columnsOf([[1, 'one']]) }]
    expect(planMerge({ target, source, spec: { on: 'id', whenMatched: 'delete' }, schema }).counts.deleted).toBe(1)
    expect(errorOf(() => planMerge({ target, source, spec: upsert, schema }))).toMatchObject({ code: 'schema-mismatch' })
  })

  test('compares columns of one type only, also in an empty table', () => {
    const source = columnsFromRows(defineSchema({ id: 'bigint', at: 'date' }), [{ id: 1n, at: '2026-10-01' }])
    expect(errorOf(() => planMerge({ target: [], source, spec: { on: 'id', whenMatched: 'delete' }, schema }))).toMatchObject({ code: 'schema-mismatch' })
    const dated = columnsFromRows(defineSchema({ id: 'int', at: 'date' }), [])
    const spec: MergeSpec = { on: 'id', whenMatched: { when: newer('at'), act: 'delete' } }
    expect(errorOf(() => planMerge({ target: [], source: dated, spec, schema })).message).toContain('at is date on one side and timestamp on the other')
  })

  test('lets an error of a condition through', () => {
    const failing: MergeSpec = {
      on: 'id',
      whenMatched: {
        when: () => {
          throw new RangeError('mine')
        },
        act: 'update',
      },
    }
    expect(() => merge(files, [[1, 'x']], failing)).toThrow(new RangeError('mine'))
  })

  test('refuses clauses that make no sense', () => {
    expect(errorOf(() => merge(files, [], { on: 'id' }))).toMatchObject({ code: 'usage' })
    expect(errorOf(() => merge(files, [], { on: 'id', whenMatched: ['update', 'delete'] }))).toMatchObject({
      code: 'usage',
      condition: 'DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION',
    })
    const async = { on: 'id', whenMatched: { when: (async () => true) as unknown as () => boolean, act: 'update' } } as const
    expect(errorOf(() => merge(files, [[1, 'x']], async))).toMatchObject({ code: 'usage' })
    expect(errorOf(() => merge(files, [], { on: 'nothing', whenMatched: 'delete' }))).toMatchObject({ code: 'schema-mismatch' })
  })

  test.each([
    ['an action that there is not', { whenMatched: 'upsert' }, 'acts with "update" or "delete", not "upsert"'],
    ['an action in capitals', { whenMatched: { when: newer('at'), act: 'UPDATE' } }, 'not "UPDATE"'],
    ['other words for when and act', { whenMatched: { if: newer('at'), do: 'update' } }, 'not undefined'],
    ['a word more', { whenMatched: { condition: newer('at'), act: 'update' } }, 'no condition'],
    ['a delete of what is not there', { whenNotMatched: 'delete' }, 'acts with "insert", not "delete"'],
    ['null for a clause', { whenMatched: [null] }, 'not null'],
    ['a condition in words', { whenMatched: { when: 's.at > t.at', act: 'update' } }, 'not of type string'],
    ['a comparison without a second row', { whenNotMatched: { when: newer('at'), act: 'insert' } }, 'is a function, not of type object'],
    ['no columns to match on', { on: undefined, whenMatched: 'update' }, 'at least one column'],
  ])('refuses %s, and changes no row', (_, spec, message) => {
    const refused = errorOf(() => merge(files, [[1, 'x']], { on: 'id', ...spec } as unknown as MergeSpec))
    expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(message) })
  })

  test('has the words and the counts that Delta puts into a version', () => {
    expect(mergeOperation({ ...upsert, on: 'ID' }, schema, { source: 's', target: 't' })).toEqual({
      predicate: '["(t.id = s.id)"]',
      matchedPredicates: '[{"predicate":"(s.at > t.at)","actionType":"update"}]',
      notMatchedPredicates: '[{"actionType":"insert"}]',
      notMatchedBySourcePredicates: '[]',
    })
    expect(mergeOperation({ on: ['id', 'name'], whenMatched: { when: () => true, act: 'delete', text: '(s.gone)' } }, schema)).toMatchObject({
      predicate: '["((t.id = s.id) AND (t.name = s.name))"]',
      matchedPredicates: '[{"predicate":"(s.gone)","actionType":"delete"}]',
      notMatchedPredicates: '[]',
    })
    const work = { filesAdded: 1, filesRemoved: 2, bytesAdded: 3, bytesRemoved: 4, executionTimeMs: 5, scanTimeMs: 6, rewriteTimeMs: 7 }
    const metrics = mergeMetrics({ sourceRows: 10, inserted: 1, updated: 2, deleted: 3, copied: 4 }, work)
    expect(Object.keys(metrics)).toHaveLength(22)
    expect(metrics).toMatchObject({ numOutputRows: '7', numTargetRowsMatchedUpdated: '2', numTargetRowsDeleted: '3', numTargetBytesRemoved: '4' })
  })
})

test('a MERGE does what trying each pair of rows does', () => {
  const key = fc.option(fc.nat(6))
  const row = fc.tuple(key, fc.option(fc.constantFrom('', 'a', 'bb')), fc.option(fc.nat(3)), fc.option(fc.nat(4))) as fc.Arbitrary<Short>
  const rows = fc.array(row, { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 3 }), rows, fc.constantFrom(...specs), (files, source, spec) => {
      const named = Object.fromEntries(files.map((file, at) => [`file ${at}`, file]))
      const expected = mergeByPairs(named, source, spec)
      if (expected === 'ambiguous') expect(errorOf(() => merge(named, source, spec.spec)).code).toBe('merge-ambiguous')
      else expect(shownPlan(merge(named, source, spec.spec))).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
})

interface ModelSpec {
  readonly spec: MergeSpec
  readonly keys: readonly number[]
  readonly matched: (source: Short, target: Short) => 'update' | 'delete' | null
  readonly inserts: (source: Short) => boolean
  readonly allowsSeveral: boolean
}

const isNewer = (source: Short, target: Short) => (source[3] ?? -1) > (target[3] ?? 99)

const specs: ModelSpec[] = [
  { spec: upsert, keys: [0], matched: (s, t) => (isNewer(s, t) ? 'update' : null), inserts: () => true, allowsSeveral: false },
  { spec: { on: ['id', 'name'], whenMatched: 'update' }, keys: [0, 1], matched: () => 'update', inserts: () => false, allowsSeveral: false },
  { spec: { on: 'name', whenMatched: 'delete', whenNotMatched: 'insert' }, keys: [1], matched: () => 'delete', inserts: () => true, allowsSeveral: true },
  { spec: { on: ['name', 'id'], whenNotMatched: 'insert' }, keys: [0, 1], matched: () => null, inserts: () => true, allowsSeveral: true },
  {
    spec: {
      on: ['id'],
      whenMatched: [{ when: newer('at'), act: 'delete' }, { when: (s, t) => s['name'] === t['name'], act: 'update' }, 'delete'],
      whenNotMatched: [
        { when: (s) => s['id'] === null, act: 'insert' },
        { when: (s) => s['name'] === 'a', act: 'insert' },
      ],
    },
    keys: [0],
    matched: (s, t) => (isNewer(s, t) ? 'delete' : s[1] === t[1] ? 'update' : 'delete'),
    inserts: (s) => s[0] === null || s[1] === 'a',
    allowsSeveral: false,
  },
]

/** The naive MERGE that the real one is held against. */
function mergeByPairs(files: Readonly<Record<string, readonly Short[]>>, source: readonly Short[], spec: ModelSpec) {
  const matches = (s: Short, t: Short) => spec.keys.every((key) => s[key] !== null && s[key] === t[key])
  const rewritten: Record<string, string[]> = {}
  for (const [file, rows] of Object.entries(files)) {
    const after: Short[] = []
    let isTouched = false
    for (const row of rows) {
      const found = source.filter((s) => matches(s, row))
      if (found.length > 1 && !spec.allowsSeveral) return 'ambiguous'
      const action = found[0] === undefined ? null : spec.matched(found[0], row)
      if (action !== null) isTouched = true
      if (action === null) after.push(row)
      if (action === 'update') after.push(found[0] as Short)
    }
    if (isTouched) rewritten[file] = shown(columnsOf(after))
  }
  const all = Object.values(files).flat()
  const inserted = source.filter((s) => !all.some((t) => matches(s, t)) && spec.inserts(s))
  if (inserted.length === 0 && Object.keys(rewritten).length === 0) return 'unchanged'
  return { rewritten, inserted: shown(columnsOf(inserted)) }
}

test('picked rows come from where they lie', () => {
  const base = columnsOf([
    [1, 'b1', 1, 1],
    [2, 'b2', 2, 2],
  ])
  const other = columnsOf([
    [3, null],
    [4, 'o4', 4, 4],
  ])
  const picked = pickRows(base, other, Int32Array.of(1, 2, 3, DELETED_ROW, 0, 0, 3))
  expect(shown(picked)).toEqual(['2 b2 2.00 2', '3 null null null', '4 o4 4.00 4', '1 b1 1.00 1', '1 b1 1.00 1', '4 o4 4.00 4'])
  expect(pickRows(base, null, Int32Array.of(DELETED_ROW, 1)).rowCount).toBe(1)
})

describe('the newest row of each key', () => {
  const events = [
    [1, 'first', null, 5],
    [2, 'only', null, 1],
    [1, 'newest', 1, 9],
    [null, 'no key', 0, 1],
    [1, 'as new, lower tie-breaker', 0, 9],
    [null, 'no key', 0, 1],
    [3, 'no time', 0, null],
    [3, 'later row', 0, null],
  ] as const

  test('is by time, then by tie-breakers, then the later row; null is oldest', () => {
    expect(shown(newestOfEach(columnsOf(events), ['id'], 'at', 'amount'))).toEqual([
      '2 only null 1',
      '1 newest 1.00 9',
      'null no key 0.00 1',
      'null no key 0.00 1',
      '3 later row 0.00 null',
    ])
    expect(shown(newestOfEach(columnsOf(events.slice(0, 5)), ['id'], 'at'))).toEqual([
      '2 only null 1',
      'null no key 0.00 1',
      '1 as new, lower tie-breaker 0.00 9',
    ])
  })
})
