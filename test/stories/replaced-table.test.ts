/** A table that another writer replaced: its log goes on, and its id is another from a version on (Delta's CREATE OR REPLACE TABLE). */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import type { Store } from '../../src/store/store.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()
const SCHEMA = defineSchema({ a: 'integer', c: 'string' })
const NEW_ID = idAt(2)

let story: Story
beforeEach(() => {
  story = begin()
  putTable()
})

function putTable(): void {
  cpSync(join(sparkWorkspace('source-replaced'), 'tables', 'replaced'), story.path('tables', 'replaced'), { recursive: true })
}

/** The id that version 0 or 2 of the fixture gives the table. */
function idAt(version: number): string {
  const path = join(sparkWorkspace('source-replaced'), 'tables', 'replaced', '_delta_log', `${String(version).padStart(20, '0')}.json`)
  return /"metaData":\{"id":"([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1] ?? ''
}

function add(store: Store): Promise<unknown> {
  return store.append('replaced', columnsFromRows(SCHEMA, [{ a: 4, c: 'ours' }]), { kind: 'write' })
}

describe('is adopted with its newest id', () => {
  test('at once, or when only its beginning was known', async () => {
    expect(idAt(0)).not.toBe(NEW_ID)
    const later = story.path('later')
    for (const version of [2, 3]) cpSync(versionPath(version), `${later}-${version}`)
    for (const version of [2, 3]) rmSync(versionPath(version))
    await story.store((store) => expect(store.tableId('replaced')).toBe(idAt(0)))
    for (const version of [2, 3]) cpSync(`${later}-${version}`, versionPath(version))
    await story.store((store) => {
      expect(store.tableId('replaced')).toBe(NEW_ID)
      expect(store.snapshot('replaced', 1)?.tableId).toBe(idAt(0))
      expect(store.snapshot('replaced', 1)?.schema.columns.map(({ name }) => name)).toEqual(['a', 'b'])
    })
  })

  test('and written to with its newest columns; the ledger and the log name it by that id', async () => {
    await story.store(add)
    expect(await story.rows('replaced')).toEqual([
      { a: 3, c: 'z' },
      { a: 4, c: 'ours' },
    ])
  })
})

test('a RESTORE to before gives it its first id again', async () => {
  await story.store(() => undefined)
  const [metadata] = /.*"metaData".*/.exec(readFileSync(versionPath(0), 'utf8')) ?? []
  writeFileSync(versionPath(4), `{"commitInfo":{"operation":"RESTORE"}}\n${metadata}\n`)
  await story.store((store) => {
    expect(store.tableId('replaced')).toBe(idAt(0))
    expect(store.snapshot('replaced', 3)?.tableId).toBe(NEW_ID)
    store.drop('replaced')
  })
  putTable()
  await story.store((store) => expect(store.tableId('replaced')).toBe(null))
})

test('a folder that was swapped for another table is still noticed', async () => {
  await story.store(add)
  const other = begin()
  await other.store((store) => store.append('replaced', columnsFromRows(SCHEMA, [{ a: 9, c: 'theirs' }]), { kind: 'write' }))
  rmSync(story.path('tables', 'replaced'), { recursive: true })
  cpSync(other.path('tables', 'replaced'), story.path('tables', 'replaced'), { recursive: true })
  await expect(story.store(add)).rejects.toMatchObject({ code: 'table-recreated' })
})

test('a newest version that is changed is damage, and not another table', async () => {
  await story.store(() => undefined)
  writeFileSync(versionPath(3), readFileSync(versionPath(3), 'utf8').replace('"size":', '"size": '))
  await expect(story.store(add)).rejects.toMatchObject({ code: 'table-damaged' })
})

test.each([
  ['whole', [] as number[]],
  ['as it was before it was replaced', [2, 3]],
])('once dropped it is never adopted again, %s', async (_, left) => {
  await story.store((store) => expect(store.drop('replaced')).toBe(true))
  expect(story.list('tables')).not.toContain('replaced')
  putTable()
  for (const version of left) rmSync(versionPath(version))
  await story.store((store) => expect(store.tableId('replaced')).toBe(null))
})

function versionPath(version: number): string {
  return story.path('tables', 'replaced', '_delta_log', `${String(version).padStart(20, '0')}.json`)
}
