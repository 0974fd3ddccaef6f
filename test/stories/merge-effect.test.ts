/** What a MERGE says it did to its table, written alone and in one commit with another write. */
import { expect, test } from 'vitest'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { type MergeSpec, newer } from '../../src/store/merge-spec.js'
import { defineSchema } from '../../src/store/schema.js'
import type { MergeEffect } from '../../src/store/write.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()
const schema = defineSchema({ id: 'int', at: 'int' })
const rows = (...pairs: (readonly [id: number, at: number])[]) =>
  columnsFromRows(
    schema,
    pairs.map(([id, at]) => ({ id, at })),
  )

/** Merges a new row, a newer one, an older one and one of the same moment into three rows. */
async function effectOf(spec: Omit<MergeSpec, 'on'>, isTogether: boolean): Promise<MergeEffect | undefined> {
  return begin().store(async (store) => {
    await store.append('t', rows([1, 5], [2, 5], [3, 5]), { kind: 'write' })
    const merge = { kind: 'merge', table: 't', columns: rows([1, 6], [2, 4], [3, 5], [4, 1]), spec: { on: 'id', ...spec } } as const
    const audit = { kind: 'append', table: 'audit', columns: rows([1, 1]), operation: { kind: 'write' } } as const
    const reports = isTogether ? await store.commitTogether([audit, merge]) : [await store.merge('t', merge.columns, merge.spec)]
    return reports.at(-1)?.counts
  })
}

test.each([false, true])('counts of all that came of the rows, where it is known also why (together with another write: %s)', async (isTogether) => {
  const ifNewer = { when: newer('at'), act: 'update' } as const
  expect(await effectOf({ whenMatched: ifNewer, whenNotMatched: 'insert' }, isTogether)).toEqual({
    inserted: 1,
    updated: 1,
    deleted: 0,
    ignored: 2,
    isIgnoredLate: true,
  })
  // A new row may be among those left out, and a condition that is a function may be about anything.
  expect(await effectOf({ whenMatched: ifNewer }, isTogether)).toMatchObject({ inserted: 0, updated: 1, ignored: 3, isIgnoredLate: false })
  const byFunction = { when: (source: Readonly<Record<string, unknown>>) => source['at'] === 6, act: 'delete' } as const
  expect(await effectOf({ whenMatched: byFunction, whenNotMatched: 'insert' }, isTogether)).toMatchObject({ deleted: 1, ignored: 2, isIgnoredLate: false })
})
