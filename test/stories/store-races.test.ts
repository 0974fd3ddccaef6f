/** Several writers on one folder, deaths inside a commit and inside a drop, and a log that is lost: the table stays one table. */
import Database from 'better-sqlite3'
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Effects, type Files, realEffects } from '../../src/effects.js'
import type { Columns } from '../../src/store/columns.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import type { MergeSpec } from '../../src/store/merge-spec.js'
import type { CommitMoment } from '../../src/store/moments.js'
import { defineSchema } from '../../src/store/schema.js'
import { countTable } from '../../src/observe/counts.js'
import { Store } from '../../src/store/store.js'
import type { WriteOptions } from '../../src/store/write.js'
import { expectSound } from '../nine-events.js'
import { temporaryStories, type Story } from './workspace.js'

const begin = temporaryStories()
let story: Story
let ours: Store
let theirs: Store
beforeEach(() => {
  story = begin()
  ours = open()
  theirs = open()
})

const schema = defineSchema({ id: 'int', name: 'string' })
const upsert: MergeSpec = { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' }

function open(fx: Effects = realEffects): Store {
  const store = Store.open(story.folder, fx)
  onTestFinished(() => store.close())
  return store
}

function rows(...pairs: readonly (readonly [id: number, name: string])[]): Columns {
  return columnsFromRows(
    schema,
    pairs.map(([id, name]) => ({ id, name })),
  )
}

async function add(store: Store, id: number, name: string, options: WriteOptions = {}) {
  return store.append('pets', rows([id, name]), { kind: 'write' }, options)
}

/** Does something once, when the write reaches a moment. */
function at(moment: CommitMoment, act: () => unknown): WriteOptions {
  let isDone = false
  return {
    onMoment: async (reached) => {
      if (reached !== moment || isDone) return
      isDone = true
      await act()
    },
  }
}

function dies(): never {
  throw new Error('died')
}

/** What the table holds, as `id name`, sorted. */
async function pets(): Promise<string[]> {
  return (await story.rows('pets')).map(({ id, name }) => `${id} ${name}`).sort()
}

/** The checker finds nothing, and counts so many rows in the table, all of them different. */
async function expectSoundPets(rowCount: number, where: Story = story): Promise<void> {
  await expectSound(where, { queries: [], said: [{ table: 'pets', rows: rowCount, distinct: rowCount }] })
}

function versionFile(version: number): string {
  return story.path('tables', 'pets', '_delta_log', `${String(version).padStart(20, '0')}.json`)
}

/** A version as another tool would write it, beside streamtop. */
function writeForeign(version: number, ...actions: readonly object[]): void {
  writeFileSync(versionFile(version), actions.map((action) => JSON.stringify(action)).join('\n') + '\n', { flag: 'wx' })
}

function actionOf<T>(version: number, kind: string): T {
  const lines = readFileSync(versionFile(version), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, T>).find((action) => kind in action)?.[kind] as T
}

describe('two writers', () => {
  test('an append that loses the race takes the next number, without writing its file again', async () => {
    await add(ours, 1, 'Ann')
    const race = at('files-written', () => add(theirs, 3, 'Cid'))
    expect(await add(ours, 2, 'Bob', race)).toMatchObject({ outcome: 'committed', version: 2 })
    expect(await pets()).toEqual(['1 Ann', '2 Bob', '3 Cid'])
    expect(story.list('tables', 'pets').filter((name) => name.endsWith('.parquet'))).toHaveLength(3)
  })

  test('of two appends that both make the table, the slower adds to what the faster made', async () => {
    const race = at('files-written', () => add(theirs, 2, 'Bob'))
    expect(await add(ours, 1, 'Ann', race)).toMatchObject({ outcome: 'committed', version: 1 })
    expect(await pets()).toEqual(['1 Ann', '2 Bob'])
  })

  test('the slower is refused when the faster made a table that its rows do not fit', async () => {
    const other = columnsFromRows(defineSchema({ id: 'int', name: 'date' }), [{ id: 2, name: '2026-10-01' }])
    const race = at('files-written', () => theirs.append('pets', other, { kind: 'write' }))
    await expect(add(ours, 1, 'Ann', race)).rejects.toMatchObject({ code: 'schema-mismatch' })
    expect(await pets()).toEqual(['2 2026-10-01'])
  })

  test('a MERGE that loses the race is computed again on what the winner left', async () => {
    await add(ours, 1, 'Ann')
    const race = at('files-written', () => add(theirs, 2, 'Bob'))
    expect(await ours.merge('pets', rows([1, 'Anna'], [2, 'Bobby']), upsert, race)).toMatchObject({ outcome: 'committed', version: 2 })
    expect(await pets()).toEqual(['1 Anna', '2 Bobby'])
  })

  test('a MERGE that loses again and again gives up, and has changed nothing', async () => {
    await add(ours, 1, 'Ann')
    let version = 0
    const create: Files['create'] = (path, content) => {
      if (path === versionFile(version + 1)) writeForeign(++version, addOfCopy(version))
      return realEffects.files.create(path, content)
    }
    const unlucky = open({ ...realEffects, files: { ...realEffects.files, create } })
    await expect(unlucky.merge('pets', rows([1, 'Anna']), upsert)).rejects.toMatchObject({ code: 'conflict', condition: 'DELTA_CONCURRENT_APPEND' })
    // The first try and three more.
    expect(version).toBe(4)
    expect(await pets()).toEqual(Array(5).fill('1 Ann'))
  })

  test('the same pair of app id and batch, written by both: one of them is skipped', async () => {
    await add(ours, 1, 'Ann')
    const txn = { appId: 'pets', version: 7 }
    const race = at('files-written', () => add(theirs, 2, 'Bob', { txn }))
    expect(await add(ours, 2, 'Bob', { ...race, txn })).toMatchObject({ outcome: 'already-committed' })
    expect(await pets()).toEqual(['1 Ann', '2 Bob'])
  })
})

describe('a version file that was not linked', () => {
  const left = (...parts: string[]) => story.list('tables', '.uncommitted', ...parts)

  test('of a dead writer is removed by the next open, of a living one it stays', async () => {
    await add(ours, 1, 'one')
    const living = `${process.pid}-${realEffects.processStart(process.pid)}-00000000-0000-4000-8000-000000000000.tmp`
    for (const name of [living, '999999999-1-00000000-0000-4000-8000-000000000000.tmp', `${process.pid}-0-00000000-0000-4000-8000-000000000000.tmp`]) {
      writeFileSync(story.path('tables', '.uncommitted', name), '{"commitInfo":{}}')
    }

    open()

    expect(left()).toEqual([living])
  })
})

describe('another tool writes versions', () => {
  beforeEach(() => add(ours, 1, 'Ann'))

  test('they are adopted by whoever looks next', async () => {
    writeForeign(1, addOfCopy(1))
    expect(theirs.newestVersion('pets')).toBe(1)
    expect(await pets()).toEqual(['1 Ann', '1 Ann'])
    expect(await add(ours, 2, 'Bob')).toMatchObject({ version: 2 })
  })

  test('a change of the metadata under a write is a conflict, and the next write goes on from it', async () => {
    const metadata = actionOf<object>(0, 'metaData')
    const changed = { metaData: { ...metadata, configuration: { 'delta.setTransactionRetentionDuration': 'interval 1 day' } } }
    const race = at('files-written', () => writeForeign(1, changed))
    await expect(add(ours, 2, 'Bob', race)).rejects.toMatchObject({ code: 'conflict', condition: 'DELTA_METADATA_CHANGED' })
    expect(await pets()).toEqual(['1 Ann'])
    expect(await add(ours, 2, 'Bob')).toMatchObject({ version: 2 })
  })
})

describe('a death between the link of a version and its record', () => {
  const attempt = { query: 'q', queryId: 'e0f1', batchId: 3, attempt: 1, rangeStart: '3', rangeEnd: '5', idempotent: false }
  const source = { attempt, writeNumber: 1 }

  beforeEach(async () => {
    await add(ours, 1, 'Ann')
    await expect(add(ours, 2, 'Bob', { ...at('version-linked', dies), source })).rejects.toThrow('died')
    ours.close()
  })

  test('is healed by the next open, with its row in the ledger', async () => {
    expect(open().ledger.attempts('e0f1', 3)).toMatchObject([{ outcome: 'committed', version: 1, rows: 1, rangeStart: '3', rangeEnd: '5' }])
    expect(await pets()).toEqual(['1 Ann', '2 Bob'])
    await expectSoundPets(2)
  })

  test('is healed by a writer that was running all along', async () => {
    expect(await add(theirs, 3, 'Cid')).toMatchObject({ version: 2 })
    expect(theirs.ledger.attempts('e0f1', 3)).toMatchObject([{ outcome: 'committed', version: 1 }])
    expect(await pets()).toEqual(['1 Ann', '2 Bob', '3 Cid'])
    await expectSoundPets(3)
  })
})

test('a writer whose version was adopted by another before it could record it has succeeded', async () => {
  await add(ours, 1, 'Ann')
  const race = at('version-linked', () => expect(theirs.newestVersion('pets')).toBe(1))
  expect(await add(ours, 2, 'Bob', race)).toMatchObject({ outcome: 'committed', version: 1 })
  expect(await pets()).toEqual(['1 Ann', '2 Bob'])
})

test('a deleted _log.db is built again: every snapshot and every change is what it was', async () => {
  await add(ours, 1, 'Ann', { txn: { appId: 'a', version: 0 } })
  await add(ours, 2, 'Bob', { txn: { appId: 'a', version: 1 } })
  await ours.merge('pets', rows([1, 'Anna'], [3, 'Cid']), upsert, { txn: { appId: 'b', version: 5 } })
  const all = (store: Store) => [0, 1, 2].map((version) => [store.snapshot('pets', version), store.changes('pets', version)])
  const before = all(ours)
  ours.close()
  theirs.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })

  expect(all(open())).toEqual(before)
  expect(await pets()).toEqual(['1 Anna', '2 Bob', '3 Cid'])
})

describe('a table that is swapped under a running writer', () => {
  /** Another table's folder in place of ours, with so many versions. */
  async function swap(versions: number): Promise<void> {
    const other = begin()
    await other.store(async (store) => {
      for (let version = 0; version < versions; version++) await store.append('pets', rows([100 + version, 'theirs']), { kind: 'write' })
    })
    rmSync(story.path('tables', 'pets'), { recursive: true })
    cpSync(other.path('tables', 'pets'), story.path('tables', 'pets'), { recursive: true })
  }

  test.each([1, 4])('is not written into, and not taken for ours, with %i versions', async (versions) => {
    await add(ours, 1, 'Ann')
    await add(ours, 2, 'Bob')
    await swap(versions)

    await expect(add(ours, 3, 'Cid')).rejects.toMatchObject({ code: 'table-recreated' })
    expect(ours.log.newestVersion(ours.log.table('pets')?.tableKey ?? -1)).toBe(1)
  })
})

describe('a drop', () => {
  beforeEach(() => add(ours, 1, 'Ann'))

  test('killed before, in or after each of its file effects is ended by the next open', async () => {
    let points = 0
    for (let isDropped = false; !isDropped; points++) {
      const victim = begin(story)
      const mortal = mortalEffects()
      const store = Store.open(victim.folder, mortal.fx)
      mortal.dieAt(points)
      try {
        isDropped = store.drop('pets')
      } catch (error) {
        expect(error).toMatchObject({ message: 'died' })
      }
      store.close()

      await victim.store(async (after) => {
        expect(after.tableNames()).toEqual([])
        expect(victim.list('tables').filter((name) => !name.startsWith('_') && name !== '.uncommitted')).toEqual([])
        expect(await add(after, 9, 'Zoe')).toMatchObject({ version: 0 })
      })
      await expectSoundPets(1, victim)
    }
    // Rename and removal, each with three points; then the one that is never reached.
    expect(points).toBe(7)
  })

  test('that two end at once takes nothing of a table that is made meanwhile', async () => {
    const mortal = mortalEffects()
    const dropping = Store.open(story.folder, mortal.fx)
    mortal.dieAt(0)
    expect(() => dropping.drop('pets')).toThrow('died')
    dropping.close()

    let made: Promise<unknown> | null = null
    const slow: Effects = {
      ...realEffects,
      // What it looked up is old by now.
      randomUuid() {
        const other = made === null ? open() : null
        if (other !== null) made = add(other, 2, 'Bob')
        return realEffects.randomUuid()
      },
    }
    open(slow)
    await made
    expect(made).not.toBeNull()
    expect(await story.rows('pets')).toEqual([{ id: 2, name: 'Bob' }])
  })

  test('is seen by others, who then make another table', async () => {
    const { tableId } = theirs.snapshot('pets') ?? {}
    ours.drop('pets')
    expect(theirs.snapshot('pets')).toBeNull()
    await add(theirs, 2, 'Bob')
    expect(ours.snapshot('pets')?.tableId).not.toBe(tableId)
    expect(await pets()).toEqual(['2 Bob'])
  })

  test.each(['mid-write', 'files-written'] as const)('under a write at %s: the write is a conflict, and the new table is whole', async (moment) => {
    await add(ours, 1, 'dropped')

    const late = add(
      ours,
      2,
      'late',
      at(moment, async () => {
        theirs.drop('pets')
        await add(theirs, 3, 'new')
      }),
    )

    await expect(late).rejects.toMatchObject({ code: 'conflict' })
    expect(await story.rows('pets')).toEqual([{ id: 3, name: 'new' }])
  })

  test('is final: a folder put back under its name, or another, is not adopted', async () => {
    cpSync(story.path('tables', 'pets'), story.path('kept'), { recursive: true })
    ours.drop('pets')
    cpSync(story.path('kept'), story.path('tables', 'pets'), { recursive: true })
    renameSync(story.path('kept'), story.path('tables', 'cats'))

    expect(open().tableNames()).toEqual([])
    await expect(add(ours, 2, 'Bob')).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('tables/pets') })
    expect(existsSync(versionFile(1))).toBe(false)
  })
})

/** Files that end in an error before, half-way through, or after the n-th change that they are asked for. */
function mortalEffects(): { readonly fx: Effects; dieAt(point: number): void } {
  let left = Number.POSITIVE_INFINITY
  const point = () => {
    if (left-- === 0) dies()
  }
  const mortal = <Arguments extends unknown[], Result>(half: (...given: Arguments) => void, whole: (...given: Arguments) => Result) => {
    return (...given: Arguments): Result => {
      point()
      if (left === 0) half(...given)
      point()
      const result = whole(...given)
      point()
      return result
    }
  }
  const { files } = realEffects
  const rename = mortal((_from: string, _to: string) => {}, files.rename)
  const removeFolder = mortal((path: string) => {
    for (const name of files.list(path)) if (name.endsWith('.parquet')) rmSync(join(path, name))
  }, files.removeFolder)
  return {
    fx: { ...realEffects, files: { ...files, rename, removeFolder } },
    dieAt: (at) => {
      left = at
    },
  }
}

/** The add of a copy of version 0's data file, under a name that says the version. */
function addOfCopy(version: number): object {
  const first = actionOf<{ readonly path: string }>(0, 'add')
  const path = `foreign-${version}.parquet`
  cpSync(story.path('tables', 'pets', first.path), story.path('tables', 'pets', path))
  return { add: { ...first, path } }
}

test('a dropped table leaves nothing in the cache of counts', async () => {
  await add(ours, 1, 'Ann')
  await ours.append('petshop', rows([2, 'Bob']), { kind: 'write' })
  ours.tidyUp()

  ours.drop('pets')

  const cache = new Database(story.path('tables', '_counts.db'), { readonly: true })
  const paths = cache.prepare('SELECT path FROM row_hashes').pluck().all()
  cache.close()
  expect(paths).toEqual([expect.stringMatching(/^petshop\//)])
})

test('a damaged cache of counts is nobody’s error: it begins anew', async () => {
  await add(ours, 1, 'Ann')
  ours.tidyUp()
  const cache = story.path('tables', '_counts.db')
  const bytes = readFileSync(cache)
  bytes.fill(0xa5, 4096)
  writeFileSync(cache, bytes)

  const next = open()
  await add(next, 2, 'Bob')
  next.tidyUp()
  await add(next, 3, 'Cid')
  next.tidyUp()

  expect(await countTable(story.folder, 'pets', realEffects)).toMatchObject({ rows: 3, distinct: 3 })
})
