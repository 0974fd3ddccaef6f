/**
 * A commit over two tables, killed before, in and after each of its effects, and again in the recovery. At every point somebody
 * who reads beside it must see all of it or nothing; and written once more it must be there as often as its ids promise.
 */
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { readVersionText, versionPath } from '../../src/store/delta-log.js'
import { halfCommits } from '../../src/store/half-commits.js'
import { JointView, type LaidVersion } from '../../src/store/joint-view.js'
import type { MergeSpec } from '../../src/store/merge-spec.js'
import { defineSchema } from '../../src/store/schema.js'
import { SqliteLog } from '../../src/store/sqlite-log.js'
import { Store } from '../../src/store/store.js'
import { parseVersion } from '../../src/store/version-text.js'
import type { TableWrite, WriteOptions } from '../../src/store/write.js'
import { type Death, deathsOf, type Points } from './deaths.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()
const schema = defineSchema({ id: 'int' })
const upsert: MergeSpec = { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' }
const txn = { appId: 'both', version: 7 }

type Ids = 'none' | 'one' | 'both'

const row = (id: number) => columnsFromRows(schema, [{ id }])

/** The commit under test: row 7 into both tables. */
function writesOf(left: 'append' | 'merge', ids: Ids): TableWrite[] {
  const options = (hasTxn: boolean): WriteOptions => ({ txn: hasTxn ? txn : undefined, onSkip: () => ({ leftOutRows: 0, reason: 'there' }) })
  const first = { table: 'left', columns: row(7), options: options(ids !== 'none') }
  return [
    { kind: 'append', table: 'right', columns: row(7), operation: { kind: 'write' }, options: options(ids === 'both') },
    left === 'merge' ? { kind: 'merge', ...first, spec: upsert } : { kind: 'append', ...first, operation: { kind: 'write' } },
  ]
}

const WAYS = [
  { name: 'append and append', left: 'append', isNew: false },
  { name: 'append and append that make their tables', left: 'append', isNew: true },
  { name: 'append and MERGE', left: 'merge', isNew: false },
] as const
const CASES = WAYS.flatMap((way) => (way.isNew ? (['one'] as const) : (['none', 'one', 'both'] as const)).map((ids) => ({ ...way, ids })))

/** A workspace in which both tables have a row, unless they are to be made. */
async function workspace(isNew: boolean): Promise<Story> {
  const story = begin()
  await story.store(async (store) => {
    if (!isNew) for (const table of ['left', 'right']) await store.append(table, row(1), { kind: 'write' })
  })
  return story
}

/** Every death of a life that does something with the store, between two transactions of its log too; readers look in at each point. */
async function deaths(story: Story, act: (store: Store, points: Points) => unknown): Promise<Death[]> {
  const live = async (points: Points) => {
    const { transaction } = SqliteLog.prototype
    const spied = vi.spyOn(SqliteLog.prototype, 'transaction').mockImplementation(function (this: SqliteLog, body) {
      const result = transaction.call(this, body)
      points.point('after a transaction of the log')
      return result
    })
    const store = Store.open(story.folder, points.fx)
    try {
      await act(store, points)
      points.point('the end')
    } finally {
      store.close()
      spied.mockRestore()
    }
  }
  return deathsOf(story, live, () => expectWholeOrAbsent(story), begin)
}

async function commit(store: Store, writes: TableWrite[], { point }: Pick<Points, 'point'> = { point() {} }): Promise<void> {
  await store.commitTogether(writes, async (moment) => point(moment))
}

test.each(CASES)('$name, ids on $ids: killed at every effect it is whole or absent, and then as often there as promised', async ({ left, isNew, ids }) => {
  const before = isNew ? [] : [1]
  const found = await deaths(await workspace(isNew), (store, points) => commit(store, writesOf(left, ids), points))
  for (const { at, story } of found) {
    expectWholeOrAbsent(story)
    await story.store(() => {})
    expectNothingPending(story)
    const isThere = countOf(story, 'left') > before.length

    await story.store((store) => commit(store, writesOf(left, ids)))

    const again = isThere && ids === 'none' ? [7] : []
    expect({ at, right: await rowsOf(story, 'right') }).toEqual({ at, right: [...before, 7, ...again] })
    expect({ at, left: await rowsOf(story, 'left') }).toEqual({ at, left: [...before, 7, ...(left === 'append' ? again : [])] })
  }
  // Both files half, both versions prepared and in the making, each of the two linked, all of it recorded.
  const points = found.map(({ at }) => at).join('\n')
  for (const table of ['left', 'right']) {
    expect(points).toContain(`in write a data file of ${table}`)
    expect(points).toContain(`in create ${table}/_delta_log/`)
    expect(points).toContain(`after create ${table}/_delta_log/`)
  }
  expect(points).toContain('after a transaction of the log')
})

test.each(WAYS)('$name: killed in the recovery at every effect, and recovered again, it is the same', async ({ left, isNew }) => {
  const before = isNew ? [] : [1]
  let recoveries = 0
  for (const first of await deaths(await workspace(isNew), (store, points) => commit(store, writesOf(left, 'both'), points))) {
    for (const { at, story } of await deaths(first.story, () => {})) {
      recoveries++
      await story.store((store) => commit(store, writesOf(left, 'both')))
      const rows = { left: await rowsOf(story, 'left'), right: await rowsOf(story, 'right') }
      expect({ at: [first.at, at], ...rows }).toEqual({ at: [first.at, at], left: [...before, 7], right: [...before, 7] })
      expectNothingPending(story)
    }
  }
  expect(recoveries).toBeGreaterThan(15)
})

async function rowsOf(story: Story, table: string): Promise<unknown[]> {
  return (await story.rows(table)).map((found) => found['id']).sort()
}

/** Both readers: the log at one moment, and the log with what is on disk laid over it. */
function expectWholeOrAbsent(story: Story): void {
  const log = SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects)
  try {
    const logged = ['left', 'right'].map((table) => countIn(log, table))
    const view = new JointView(log, story.path('tables'), () => SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects), realEffects)
    const laid = ['left', 'right'].map((table, at) => (logged[at] ?? 0) + overlay(log, view, story, table).length)
    if (logged[0] !== logged[1] || laid[0] !== laid[1])
      throw new Error(`half of the commit is there: ${logged.join(' and ')} in the log, ${laid.join(' and ')} with the files`)
  } finally {
    log?.close()
  }
}

function countIn(log: SqliteLog | null, table: string): number {
  const found = log?.table(table)
  return found && log ? (log.newestVersion(found.tableKey) ?? -1) + 1 : 0
}

function countOf(story: Story, table: string): number {
  const log = SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects)
  const count = countIn(log, table)
  log?.close()
  return count
}

/** What lies on disk behind the versions of the log, as a reader sees it. */
function overlay(log: SqliteLog | null, view: JointView, story: Story, table: string): readonly LaidVersion[] {
  const folder = join(story.path('tables'), table)
  const newest = countIn(log, table) - 1
  const onDisk: LaidVersion[] = []
  for (let version = newest + 1; ; version++) {
    const text = readVersionText(folder, version, realEffects)
    if (text === null) break
    onDisk.push({ version, text, actions: parseVersion(text, versionPath(folder, version)) })
  }
  return view.overlay({ name: table, tableKey: log?.table(table)?.tableKey ?? null }, newest, onDisk)
}

function expectNothingPending(story: Story): void {
  const log = SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects)
  expect(log?.joint.unsettled()).toEqual([])
  expect(log && halfCommits(log)).toEqual([])
  log?.close()
  expect(story.list('tables', '.uncommitted')).toEqual([])
}
