/** Other writers, drops and a lost log in the middle of a commit over two tables. */
import Database from 'better-sqlite3'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Effects, type Files, realEffects } from '../../src/effects.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { halfCommits } from '../../src/store/half-commits.js'
import { jointOf } from '../../src/store/joint-version.js'
import { JointView } from '../../src/store/joint-view.js'
import type { MergeSpec } from '../../src/store/merge-spec.js'
import type { CommitMoment } from '../../src/store/moments.js'
import { defineSchema } from '../../src/store/schema.js'
import { type LoggedTable, SqliteLog } from '../../src/store/sqlite-log.js'
import { Store } from '../../src/store/store.js'
import type { TableWrite, WriteReport } from '../../src/store/write.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()
const schema = defineSchema({ id: 'int' })
const upsert: MergeSpec = { on: 'id', whenMatched: 'update', whenNotMatched: 'insert' }

let story: Story
let theirs: Store
beforeEach(async () => {
  story = begin()
  theirs = open()
  for (const table of ['left', 'right']) await theirs.append(table, rows(1), { kind: 'write' })
})

function open(fx: Effects = realEffects): Store {
  const store = Store.open(story.folder, fx)
  onTestFinished(() => store.close())
  return store
}

function rows(...ids: number[]) {
  return columnsFromRows(
    schema,
    ids.map((id) => ({ id })),
  )
}

const append = (table: string, id: number, version?: number): TableWrite => ({
  kind: 'append',
  table,
  columns: rows(id),
  operation: { kind: 'write' },
  options: { txn: version === undefined ? undefined : { appId: 'both', version } },
})
const merge = (table: string, id: number): TableWrite => ({ kind: 'merge', table, columns: rows(id), spec: upsert })
const both = (version?: number) => [append('left', 7, version), append('right', 7, version)]

/** Does something once, right before the version file of a table is linked, or right after it. */
function around(table: string, when: 'before' | 'after', act: () => void): Effects {
  let isDone = false
  const once = (isNow: boolean) => {
    if (!isNow || isDone) return
    isDone = true
    act()
  }
  const create: Files['create'] = (path, ...rest) => {
    const isIt = path.includes(`/${table}/_delta_log/`)
    once(isIt && when === 'before')
    const created = realEffects.files.create(path, ...rest)
    once(isIt && when === 'after')
    return created
  }
  return { ...realEffects, files: { ...realEffects.files, create } }
}

/** Does something once, at a moment. */
function at(moment: CommitMoment, act: () => unknown) {
  let isDone = false
  return async (reached: CommitMoment) => {
    if (reached !== moment || isDone) return
    isDone = true
    await act()
  }
}

async function ids(table: string): Promise<unknown[]> {
  return (await story.rows(table)).map((row) => row['id'])
}

function versionFile(table: string, version: number): string {
  return story.path('tables', table, '_delta_log', `${String(version).padStart(20, '0')}.json`)
}

/** What another tool writes as a table's next version. */
function writeForeign(table: string, version: number, ...actions: object[]): void {
  writeFileSync(versionFile(table, version), actions.map((action) => `${JSON.stringify(action)}\n`).join(''), { flag: 'wx' })
}

/** The metadata of a table with other columns. */
function withColumns(table: string, columns: Readonly<Record<string, string>>): object {
  const lines = readFileSync(versionFile(table, 0), 'utf8').trimEnd().split('\n')
  const { metaData } = lines.map((line) => JSON.parse(line)).find((action) => 'metaData' in action)
  const fields = Object.entries(columns).map(([name, type]) => ({ name, type, nullable: true, metadata: {} }))
  return { metaData: { ...metaData, schemaString: JSON.stringify({ type: 'struct', fields }) } }
}

const outcomes = (reports: readonly WriteReport[]) => reports.map(({ outcome, version }) => [outcome, version])
const died = () => {
  throw new Error('died')
}

describe('another writer is faster', () => {
  test('with the second table: its part takes the next number', async () => {
    const ours = open(around('right', 'before', () => writeForeign('right', 1, { commitInfo: { operation: 'OPTIMIZE' } })))
    expect(outcomes(await ours.commitTogether(both()))).toEqual([
      ['committed', 1],
      ['committed', 2],
    ])
    expect([await ids('left'), await ids('right')]).toEqual([
      [1, 7],
      [1, 7],
    ])
  })

  test('with the table of the MERGE: it is computed again, and nothing stays prepared', async () => {
    const ours = open()
    const race = at('files-written', () => theirs.append('left', rows(7), { kind: 'write' }))
    expect(outcomes(await ours.commitTogether([append('right', 7), merge('left', 7)], race))).toEqual([
      ['committed', 1],
      ['committed', 2],
    ])
    expect([await ids('left'), await ids('right')]).toEqual([
      [1, 7],
      [1, 7],
    ])
    expect(ours.log.joint.unsettled()).toEqual([])
  })

  test('in the last moment with the first table: everything is looked at again', async () => {
    const ours = open(around('left', 'before', () => writeForeign('left', 1, { commitInfo: { operation: 'OPTIMIZE' } })))
    expect(outcomes(await ours.commitTogether([append('right', 7), merge('left', 7)]))).toEqual([
      ['committed', 1],
      ['committed', 2],
    ])
    expect(ours.log.joint.unsettled()).toEqual([])
  })

  test('and makes the table that the commit was to make: its part joins that table', async () => {
    const other = begin()
    await other.store((store) => store.append('fresh', rows(5), { kind: 'write' }))
    const text = readFileSync(other.path('tables', 'fresh', '_delta_log', '00000000000000000000.json'), 'utf8')
    const ours = open(around('fresh', 'before', () => writeFileSync(versionFile('fresh', 0), text)))
    const [, fresh] = await ours.commitTogether([append('made', 7), append('fresh', 7)])
    expect(fresh).toMatchObject({ outcome: 'committed', version: 1 })
    expect(ours.changes('fresh', 1)).toMatchObject({ metadata: null, protocol: null })
  })

  test('and writes the same pair to the second table: that part is skipped, as in Delta', async () => {
    const ours = open(around('right', 'before', () => writeForeign('right', 1, { txn: { appId: 'both', version: 3 } })))
    expect(outcomes(await ours.commitTogether(both(3)))).toEqual([
      ['committed', 1],
      ['already-committed', null],
    ])
    expect(await ids('right')).toEqual([1])
  })

  test('by a joint commit that crosses it: neither can be recorded before the other, so both are at once', async () => {
    const tables = ['left', 'right'].map((table) => ({ table, id: theirs.tableId(table) }))
    const text = (table: string) =>
      `${JSON.stringify({ commitInfo: { operation: `crossing ${table}`, txnId: 'crossing', streamtop: { together: tables } } })}\n`
    const prepared = (table: string, position: number, version: number) => {
      return { jointId: 'crossing', position, table, tableKey: theirs.log.table(table)?.tableKey ?? null, version, text: text(table) }
    }
    // Ours has left 1 and right 2, the other one right 1 and left 2.
    const crossing = () => {
      theirs.log.joint.prepare([prepared('right', 0, 1), prepared('left', 1, 1)], 'another')
      writeFileSync(versionFile('right', 1), text('right'))
    }
    const ours = open(around('left', 'after', crossing))
    expect(outcomes(await ours.commitTogether(both(3)))).toEqual([
      ['committed', 1],
      ['committed', 2],
    ])
    expect([ours.changes('right', 1), ours.changes('left', 2)]).toMatchObject([{ commitInfo: { txnId: 'crossing' } }, { commitInfo: { txnId: 'crossing' } }])
    expect(ours.log.joint.unsettled()).toEqual([])
  })
})

describe('a table changes under it', () => {
  test.each(['left', 'right'])('%s, before anything is linked: a conflict, and nothing is there', async (table) => {
    const ours = open()
    const race = at('files-written', () => writeForeign(table, 1, withColumns(table, { id: 'integer', more: 'string' })))
    await expect(ours.commitTogether(both(), race)).rejects.toMatchObject({ code: 'conflict', condition: 'DELTA_METADATA_CHANGED' })
    expect([await ids('left'), await ids('right')]).toEqual([[1], [1]])
    expect(ours.log.joint.unsettled()).toEqual([])
  })

  test('between the links, by a column more: its part fits all the same', async () => {
    const ours = open(around('right', 'before', () => writeForeign('right', 1, withColumns('right', { id: 'integer', more: 'string' }))))
    await ours.commitTogether(both())
    expect(await story.rows('right')).toEqual([
      { id: 1, more: null },
      { id: 7, more: null },
    ])
  })

  test('between the links, so that its part does not fit: said by both tables until that one is dropped, then the rest is there', async () => {
    const ours = open(around('right', 'before', () => writeForeign('right', 1, withColumns('right', { other: 'string' }))))
    await expect(ours.commitTogether(both())).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('column id is gone') })
    expect(() => open().newestVersion('left')).toThrow('column id is gone')

    expect(open().drop('right')).toBe(true)

    expect(await ids('left')).toEqual([1, 7])
    expect(open().log.joint.unsettled()).toEqual([])
  })
})

describe('a table is dropped under it', () => {
  test('before anything is linked: a conflict, and nothing is there', async () => {
    const ours = open()
    await expect(
      ours.commitTogether(
        both(),
        at('files-written', () => theirs.drop('right')),
      ),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(await ids('left')).toEqual([1])
  })

  test('between the links: the other part stays, and once more it is written to a new table alone', async () => {
    const ours = open(around('left', 'after', () => theirs.log.markDropping(theirs.log.table('right') as LoggedTable)))
    await expect(ours.commitTogether(both(3))).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('right was dropped') })
    expect(await ids('left')).toEqual([1, 7])

    expect(outcomes(await open().commitTogether(both(3)))).toEqual([
      ['already-committed', null],
      ['committed', 0],
    ])
    expect([await ids('left'), await ids('right')]).toEqual([[1, 7], [7]])
  })
})

describe('prepared writes', () => {
  test('of a living writer are left alone by whoever opens the store', async () => {
    const ours = open(around('left', 'before', () => open()))
    expect(outcomes(await ours.commitTogether(both()))).toEqual([
      ['committed', 1],
      ['committed', 1],
    ])
  })

  test('are finished by a reader that meets the first version while its writer is at work', async () => {
    const ours = open(around('left', 'after', () => void theirs.snapshot('left')))
    expect(outcomes(await ours.commitTogether(both()))).toEqual([
      ['committed', 1],
      ['committed', 1],
    ])
    expect([await ids('left'), await ids('right')]).toEqual([
      [1, 7],
      [1, 7],
    ])
  })

  test('a reader whose log is older than the commit sees nothing of it, however much is linked', async () => {
    const reader = SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects)
    const view = new JointView(reader, story.path('tables'), () => SqliteLog.openToRead(story.path('tables', '_log.db'), realEffects), realEffects)
    await theirs.commitTogether(both())
    for (const name of ['left', 'right']) {
      const text = readFileSync(versionFile(name, 1), 'utf8')
      const onDisk = [{ version: 1, text, actions: theirs.changes(name, 1) }]
      expect(view.overlay({ name, tableKey: reader?.table(name)?.tableKey ?? null }, 0, onDisk)).toEqual([])
    }
    reader?.close()
  })
})

describe('_log.db is deleted between the links', () => {
  /** Dies after the first link, and loses the log with what was prepared. */
  async function halfLinked(writes: TableWrite[]): Promise<void> {
    const dying = open(around('left', 'after', died))
    await expect(dying.commitTogether(writes)).rejects.toThrow('died')
    dying.close()
    theirs.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
  }

  test('what is linked is adopted alone, and the log tells that it is half of a commit', async () => {
    await halfLinked(both(3))
    const after = open()
    expect([await ids('left'), await ids('right')]).toEqual([[1, 7], [1]])
    expect(halfCommits(after.log)).toEqual([{ table: 'left', version: 1, missing: ['right'] }])
    expect(jointOf(after.changes('left', 1))?.tables.map(({ name }) => name)).toEqual(['left', 'right'])
    expect(after.drop('right')).toBe(true)
    expect(halfCommits(after.log)).toEqual([])
  })

  test.each([
    ['both', both(3)],
    ['one', [append('left', 7, 3), append('right', 7)]],
  ])('with ids on %s, written again, the missing half comes and nothing is there twice', async (_, writes) => {
    await halfLinked(writes)
    expect(outcomes(await open().commitTogether(writes))).toEqual([
      ['already-committed', null],
      ['committed', 1],
    ])
    expect([await ids('left'), await ids('right')]).toEqual([
      [1, 7],
      [1, 7],
    ])
  })
})

test('one id guards both tables, as long as both got their part', async () => {
  const writes = [append('left', 7, 3), append('right', 7)]
  await theirs.commitTogether(writes)
  expect(outcomes(await theirs.commitTogether(writes))).toEqual([
    ['already-committed', null],
    ['already-committed', null],
  ])
  theirs.drop('right')
  expect(outcomes(await theirs.commitTogether(writes))).toEqual([
    ['already-committed', null],
    ['committed', 0],
  ])
})

test('one id that was set alone guards only its own table', async () => {
  await theirs.append('left', rows(7), { kind: 'write' }, { txn: { appId: 'both', version: 3 } })
  expect(outcomes(await theirs.commitTogether([append('left', 7, 3), append('right', 7)]))).toEqual([
    ['already-committed', null],
    ['committed', 1],
  ])
})

test('a MERGE that changes nothing leaves no version, and the append beside it is written', async () => {
  const nothing: TableWrite = { kind: 'merge', table: 'left', columns: rows(1), spec: { on: 'id', whenNotMatched: 'insert' } }
  expect(outcomes(await theirs.commitTogether([nothing, append('right', 7)]))).toEqual([
    ['unchanged', null],
    ['committed', 1],
  ])
  expect(jointOf(theirs.changes('right', 1))).toBeNull()
})

test('what cannot be one commit is refused before anything is written', async () => {
  await expect(theirs.commitTogether([append('left', 7), append('left', 8)])).rejects.toMatchObject({ code: 'usage' })
  await expect(theirs.commitTogether([merge('left', 7), merge('right', 8)])).rejects.toMatchObject({ code: 'usage' })
  await expect(theirs.commitTogether([append('left', 7), merge('nowhere', 8)])).rejects.toMatchObject({ code: 'unknown-table' })
  expect(await theirs.commitTogether([])).toEqual([])
  expect([await ids('left'), await ids('right')]).toEqual([[1], [1]])
})

test.each([1, 2])('a log of format %i is read as it is, and brought up to date by a writer', async (format) => {
  theirs.close()
  const path = story.path('tables', '_log.db')
  const database = new Database(path)
  for (const [table, column] of [
    ['versions', 'live_files'],
    ['shapes', 'crc32'],
    ['files', 'crc32'],
    ['txns', 'crc32'],
  ])
    database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  if (format === 1) database.exec('DROP TABLE prepared; DROP TABLE joint_versions')
  database.pragma(`user_version = ${format}`)
  database.close()
  const before = readFileSync(path)

  const reader = SqliteLog.openToRead(path, realEffects)
  const [left] = reader?.tables() ?? []
  expect([left && reader?.snapshot(left, 0).files.length, reader?.joint.unsettled()]).toEqual([1, []])
  reader?.close()
  expect(readFileSync(path).equals(before)).toBe(true)

  await open().commitTogether(both(3))
  expect([await ids('left'), await ids('right')]).toEqual([
    [1, 7],
    [1, 7],
  ])
  expect(outcomes(await open().commitTogether(both(3)))).toEqual([
    ['already-committed', null],
    ['already-committed', null],
  ])
})
