/**
 * `vacuum`: what no reader of the newest version needs goes, once it is old enough, and nothing else ever: no file of a living writer,
 * no file that a version names, nothing outside of the table's folder.
 */
import { spawn } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { vacuum } from '../../src/commands/vacuum.js'
import { type Effects, realEffects as fx } from '../../src/effects.js'
import { observe } from '../../src/observe/observe.js'
import { readTableRows } from '../../src/observe/read-table.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { BUILT_IN_QUERIES } from '../../src/queries/built-in.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { RowCounts } from '../../src/store/row-counts.js'
import { Store } from '../../src/store/store.js'
import type { Snapshot } from '../../src/store/table-log.js'
import type { VacuumChoices, VacuumReport } from '../../src/store/vacuum.js'
import type { TableWrite } from '../../src/store/write.js'
import { commandHere } from '../command-here.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { type Story, temporaryStories } from './workspace.js'

const begin = temporaryStories()
const DAY_MS = 86_400_000
const NOW: VacuumChoices = { olderThanMs: 0, force: true }

/** Bronze, and `orders` after two MERGEs: its first file was taken out by the second. */
async function merged(): Promise<Story> {
  const story = begin()
  for (const part of [1, 2]) {
    await story.produce(part)
    await story.run(bronzeOrders)
    await story.run(orders)
  }
  return story
}

/** A vacuum by a later process, and so many days later. */
async function vacuumed(story: Story, table: string, choices: VacuumChoices = {}, daysLater = 0): Promise<VacuumReport> {
  const later: Effects = { ...fx, nowMs: () => fx.nowMs() + daysLater * DAY_MS, processStart: (pid) => (pid === process.pid ? 'later' : fx.processStart(pid)) }
  const store = Store.open(story.folder, later)
  try {
    return store.vacuum(table, choices)
  } finally {
    store.close()
  }
}

const dataFiles = (story: Story, table: string) => story.list('tables', table).filter((name) => name.endsWith('.parquet'))
const kinds = ({ files }: VacuumReport) => files.map(({ kind }) => kind)

test('what was removed, and orphans, stay for a week and then go; the newest version is whole, an older one says why it is not', async () => {
  const story = await merged()
  await story.produce(3)
  await story.run(bronzeOrders)
  await story.run(orders, { killAt: 'files-written' })
  expect(dataFiles(story, 'orders')).toHaveLength(3)

  expect(await vacuumed(story, 'orders', {}, 6)).toMatchObject({ version: 2, files: [], bytes: 0, wholeFrom: null })
  const listed = await vacuumed(story, 'orders', { dryRun: true }, 8)
  expect(kinds(listed).sort()).toEqual(['orphan', 'removed'])
  expect(dataFiles(story, 'orders')).toHaveLength(3)
  expect(await vacuumed(story, 'orders', {}, 8)).toEqual({ ...listed, wholeFrom: 2 })
  expect(dataFiles(story, 'orders')).toHaveLength(1)

  expect(await story.rows('orders')).toHaveLength(4)
  await expect(readTableRows(story.folder, 'orders', { version: 1 }, fx)).rejects.toMatchObject({ code: 'version-vacuumed' })
  await story.run(orders)
  expect(await story.rows('orders')).toHaveLength(6)
  await story.expectSound()
})

test('less than the table keeps is refused, with the reason, unless it is forced', async () => {
  const story = await merged()
  await expect(vacuumed(story, 'orders', { olderThanMs: DAY_MS })).rejects.toMatchObject({
    code: 'retention-too-short',
    message: 'table orders keeps removed files for 7 days, and 1 day is less',
    condition: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
  })
  expect(kinds(await vacuumed(story, 'orders', { olderThanMs: DAY_MS, force: true }, 2))).toEqual(['removed'])
})

test('a file of a living writer stays, whatever is asked for; of one that is dead it goes', async () => {
  const story = await merged()
  await story.produce(3)
  await story.run(bronzeOrders)
  for (const step of ['mid-write', 'files-written', 'version-linked'] as const) {
    await story.run(orders, { killAt: step })
    const before = dataFiles(story, 'orders')
    const report = await story.store((store) => store.vacuum('orders', NOW))
    expect({ step, orphans: kinds(report).filter((kind) => kind === 'orphan'), unfinished: report.unfinished }).toEqual({
      step,
      orphans: [],
      unfinished: step === 'mid-write' ? 1 : 2,
    })
    expect(before.filter((name) => !dataFiles(story, 'orders').includes(name))).toEqual(report.files.map(({ path }) => path))
  }
  expect(kinds(await vacuumed(story, 'orders', NOW))).toEqual(['orphan', 'orphan'])
  await story.run(orders)
  await story.expectSound()
})

test('a living writer is known by its process, in whichever process the vacuum runs', async () => {
  const story = await merged()
  const writer = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const ended = new Promise((resolve) => writer.once('exit', resolve))
  try {
    const pid = writer.pid ?? 0
    const name = `part-00000-00000000-0000-4000-8000-000000000000.${pid}-${fx.processStart(pid)}.snappy.parquet`
    writeFileSync(story.path('tables', 'orders', name), '')
    const run = async () => JSON.parse((await commandHere(story.folder, ['vacuum', 'orders', '--older-than', '0', '--force', '--json'])).stdout)
    expect(await run()).toMatchObject({ files: [{ kind: 'removed' }], unfinished: 1 })
    writer.kill('SIGKILL')
    await ended
    expect(await run()).toMatchObject({ files: [{ kind: 'orphan', path: name }], unfinished: 0 })
  } finally {
    writer.kill('SIGKILL')
  }
})

test('a writer that commits and ends between two looks of the vacuum loses nothing', async () => {
  const story = await merged()
  await story.produce(3)
  await story.run(bronzeOrders)
  await story.run(orders, { killAt: 'files-written' })
  // The death is noticed at the moment when a writer with the same file would have linked it: what it linked must count.
  const [orphan = ''] = dataFiles(story, 'orders').filter((name) => !named(story).includes(name))
  const racing: Effects = {
    ...fx,
    processStart(pid) {
      if (pid === process.pid && !existsSync(log(story, 3))) {
        const size = fx.files.status(story.path('tables', 'orders', orphan))?.size
        writeFileSync(log(story, 3), `${JSON.stringify({ add: { path: orphan, partitionValues: {}, size, modificationTime: 1, dataChange: true } })}\n`)
      }
      return 'another'
    },
  }
  const store = Store.open(story.folder, fx)
  Object.assign(store, { fx: racing })
  const report = store.vacuum('orders', NOW)
  store.close()
  expect(existsSync(log(story, 3))).toBe(true)
  expect(report.files.map(({ path }) => path)).not.toContain(orphan)
})

const log = (story: Story, version: number) => story.path('tables', 'orders', '_delta_log', `${String(version).padStart(20, '0')}.json`)
const named = (story: Story) =>
  Object.values(story.files('tables', 'orders', '_delta_log')).flatMap((text) => [...text.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path))

test('what a joint commit is about to link is live, whoever is thought to be dead', async () => {
  const story = await merged()
  const later: Effects = { ...fx, processStart: () => 'later' }
  const other = Store.open(story.folder, later)
  const found: VacuumReport[] = []
  const linking: Effects = {
    ...fx,
    files: {
      ...fx.files,
      create(path, content, temporary) {
        if (path.includes('_delta_log')) for (const table of ['bronze_orders', 'orders']) found.push(other.vacuum(table, NOW))
        return fx.files.create(path, content, temporary)
      },
    },
  }
  const store = Store.open(story.folder, linking)
  const writes = ['bronze_orders', 'orders'].map(async (table) => {
    const { schema, files } = store.snapshot(table) as Snapshot
    return { kind: 'append', table, columns: await store.read(table, schema, files), operation: { kind: 'write' } } as const
  })
  await store.commitTogether(await Promise.all(writes))
  for (const open of [store, other]) open.close()
  expect(found.map(kinds)).toEqual([[], ['removed'], [], []])
  expect(await story.rows('orders')).toHaveLength(8)
})

test.each(['alone', 'together with another table'])('a MERGE whose files were put together and cleared up under it, %s, is computed again', async (how) => {
  const story = await merged()
  const table = story.path('tables', 'bronze_orders')
  const other = Store.open(story.folder, { ...fx, processStart: () => 'later' })
  let reads = 0
  const slow: Effects = {
    ...fx,
    files: {
      ...fx.files,
      readIfPresent(path) {
        // Between the first file and the second, another engine writes the second again and clears up.
        if (path.endsWith('.parquet') && ++reads === 2) {
          const [, file] = other.snapshot('bronze_orders')?.files ?? []
          if (file === undefined) throw new Error('one file')
          copyFileSync(`${table}/${file.path}`, `${table}/again.parquet`)
          const { path: old, size, statistics: stats } = file
          const [add, remove] = [
            { path: 'again.parquet', partitionValues: {}, size, modificationTime: 1, dataChange: false, stats },
            { path: old, deletionTimestamp: 1, dataChange: false },
          ]
          writeFileSync(
            `${table}/_delta_log/00000000000000000002.json`,
            [{ commitInfo: {} }, { remove }, { add }].map((line) => `${JSON.stringify(line)}\n`).join(''),
          )
          expect(other.vacuum('bronze_orders', NOW).files).toMatchObject([{ path: old, kind: 'removed' }])
        }
        return fx.files.readIfPresent(path)
      },
    },
  }
  const store = Store.open(story.folder, slow)
  const { schema, files } = store.snapshot('bronze_orders') as Snapshot
  const rows = await other.read('bronze_orders', schema, files)
  const spec = { on: ['partition', 'offset'], whenMatched: 'update', whenNotMatched: 'insert' } as const
  const merge: TableWrite = { kind: 'merge', table: 'bronze_orders', columns: rows, spec }
  const beside: TableWrite = { kind: 'append', table: 'beside', columns: rows, operation: { kind: 'write' } }
  const [report] = how === 'alone' ? [await store.merge('bronze_orders', rows, spec)] : await store.commitTogether([merge, beside])
  expect(report).toMatchObject({ outcome: 'committed', version: 3 })
  if (how !== 'alone') expect(await story.rows('beside')).toHaveLength(rows.rowCount)
  for (const open of [store, other]) open.close()
  expect(reads).toBeGreaterThan(3)
  expect(await story.rows('bronze_orders')).toHaveLength(5)
})

test('a clone beside the table keeps the files that it names', async () => {
  const story = await merged()
  const [first] = await story.store((store) => store.snapshot('orders', 1)?.files ?? [])
  const path = story.path('tables', 'orders', first?.path ?? '')
  const version = readFileSync(story.path('tables', 'orders', '_delta_log', `${'0'.repeat(20)}.json`), 'utf8').replace(/"id":"[\da-f-]+"/, '"id":"a-clone"')
  const add = { path, partitionValues: {}, size: first?.size, modificationTime: 1, dataChange: true, stats: first?.statistics }
  mkdirSync(story.path('tables', 'clone', '_delta_log'), { recursive: true })
  const withoutInfo = version
    .split('\n')
    .filter((line) => !line.includes('commitInfo'))
    .join('\n')
  writeFileSync(story.path('tables', 'clone', '_delta_log', `${'0'.repeat(20)}.json`), `${withoutInfo}${JSON.stringify({ add })}\n`)

  expect(await vacuumed(story, 'orders', NOW)).toMatchObject({ files: [] })
  expect(await story.rows('clone')).toHaveLength(3)
  await story.store((store) => store.drop('clone'))
  expect(kinds(await vacuumed(story, 'orders', NOW))).toEqual(['removed'])
})

test('a clone beside the table keeps the deletion vector that it names, and files that it names by another way to the workspace', async () => {
  const story = begin()
  cpSync(sparkWorkspace('deletion-vector'), story.folder, { recursive: true })
  const before = await story.rows('bronze_orders')
  const [file] = await story.store((store) => store.snapshot('bronze_orders')?.files.filter(({ deletionVector }) => deletionVector !== null) ?? [])
  const vector = story.list('tables', 'bronze_orders').find((name) => name.endsWith('.bin')) ?? ''
  // As Spark writes it whom another path led here.
  const link = `${story.folder}-link`
  symlinkSync(story.folder, link)
  try {
    for (const [clone, root] of Object.entries({ here: story.folder, there: link })) {
      const whole = (name: string) => `file:${root}/tables/bronze_orders/${name}`
      const deletionVector = { ...file?.deletionVector, storageType: 'p', pathOrInlineDv: whole(vector) }
      const add = { path: whole(file?.path ?? ''), partitionValues: {}, size: file?.size, modificationTime: 1, dataChange: true, deletionVector }
      mkdirSync(story.path('tables', clone, '_delta_log'), { recursive: true })
      writeFileSync(story.path('tables', clone, '_delta_log', `${'0'.repeat(20)}.json`), shapeOf(story, clone) + `${JSON.stringify({ add })}\n`)
    }
    await story.store((store) => store.optimize('bronze_orders'))
    expect(await vacuumed(story, 'bronze_orders', NOW)).toMatchObject({ files: [] })
    await story.store((store) => store.drop('there'))
    expect(await vacuumed(story, 'bronze_orders', NOW)).toMatchObject({ files: [] })
    expect(await story.rows('here')).toHaveLength(before.length)
    await story.store((store) => store.drop('here'))
    expect(kinds(await vacuumed(story, 'bronze_orders', NOW))).toEqual(['removed', 'removed'])
  } finally {
    rmSync(link)
  }
})

test('a live file stays whatever the disk calls it', async () => {
  const story = await merged()
  const [file] = await story.store((store) => store.snapshot('orders')?.files ?? [])
  const path = file?.path ?? ''
  // A disk that does not tell names apart as the log does finds the file by the log's name, and lists it by another.
  const lists: Effects = {
    ...fx,
    processStart: () => 'later',
    files: {
      ...fx.files,
      list: (folder) => fx.files.list(folder).map((name) => (name === path ? name.toUpperCase().replace('PARQUET', 'parquet') : name)),
      isLink: (at) => fx.files.isLink(at.replace(/PART-[^/]+$/, path)),
      status: (at) => fx.files.status(at.replace(/PART-[^/]+$/, path)),
    },
  }
  const store = Store.open(story.folder, lists)
  const { files } = store.vacuum('orders', NOW)
  store.close()
  expect(kinds({ files } as VacuumReport)).toEqual(['removed'])
})

test('nothing but data files of its folder is touched: no link is followed, no hidden name, no other file', async () => {
  const story = await merged()
  const table = (...parts: string[]) => story.path('tables', 'orders', ...parts)
  const outside = story.path('outside')
  mkdirSync(outside)
  for (const folder of [outside, table('day=1'), table('_change_data'), table('.hidden')]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'part-1.parquet'), '')
  }
  for (const name of [
    'part-1.parquet',
    '.part-1.parquet.crc',
    'notes.txt',
    '_part-2.parquet',
    '.part-3.parquet',
    'deletion_vector_00000000-0000-4000-8000-000000000000.bin',
  ]) {
    writeFileSync(table(name), '')
  }
  symlinkSync(outside, table('linked'))
  symlinkSync(join(outside, 'part-1.parquet'), table('part-4.parquet'))
  const before = everything(story)

  const { files } = await vacuumed(story, 'orders', NOW)

  const orphans = files.filter(({ kind }) => kind === 'orphan').map(({ path }) => path)
  expect(orphans.sort()).toEqual(['day=1/part-1.parquet', 'deletion_vector_00000000-0000-4000-8000-000000000000.bin', 'part-1.parquet'])
  const gone = before.filter((path) => !everything(story).includes(path))
  expect(gone.sort()).toEqual([...files.map(({ path }) => `tables/orders/${path}`), 'tables/orders/.part-1.parquet.crc'].sort())

  renameSync(table(), story.path('elsewhere'))
  symlinkSync(story.path('elsewhere'), table())
  await expect(vacuumed(story, 'orders', NOW)).rejects.toMatchObject({ code: 'unsupported-feature' })
})

/** Metadata and protocol of Spark's bronze, under another id. */
function shapeOf(story: Story, id: string): string {
  const lines = readFileSync(story.path('tables', 'bronze_orders', '_delta_log', `${'0'.repeat(20)}.json`), 'utf8').split('\n')
  const shape = lines.filter((line) => line.startsWith('{"metaData"') || line.startsWith('{"protocol"'))
  return shape.map((line) => `${line.replace(/"id":"[\da-f-]{36}"/, `"id":"${id}"`)}\n`).join('')
}

const everything = (story: Story) => (readdirSync(story.folder, { recursive: true }) as string[]).filter((path) => !path.includes('.db'))

test('a file from the future stays, and so does one that was removed before the clock went back', async () => {
  const story = await merged()
  const future = new Date(Date.now() + DAY_MS)
  writeFileSync(story.path('tables', 'orders', 'part-1.parquet'), '')
  utimesSync(story.path('tables', 'orders', 'part-1.parquet'), future, future)
  expect(kinds(await vacuumed(story, 'orders', NOW))).toEqual(['removed'])
  expect(kinds(await vacuumed(story, 'orders', NOW, 2))).toEqual(['orphan'])

  const other = await merged()
  expect(kinds(await vacuumed(other, 'orders', NOW, -2))).toEqual([])
})

test("Spark's deletion vectors go with the versions that had them, and the live one stays", async () => {
  const story = begin()
  cpSync(sparkWorkspace('deletion-vector'), story.folder, { recursive: true })
  const before = await story.rows('bronze_orders')
  expect(await vacuumed(story, 'bronze_orders', NOW)).toMatchObject({ files: [] })
  expect(await story.rows('bronze_orders')).toEqual(before)
  await story.store((store) => store.optimize('bronze_orders'))
  const { files } = await vacuumed(story, 'bronze_orders', NOW)
  expect(files.map(({ path }) => path.replace(/[\da-f]{8}-.*(?=\.)/, 'ID')).sort()).toEqual(['deletion_vector_ID.bin', 'part-00000-ID.parquet'])
  expect(await story.rows('bronze_orders')).toEqual(before)
})

test('after an optimize and a vacuum counts and verdicts are what they were, and what was kept of the files is gone', async () => {
  const story = begin()
  for (const part of [1, 2, 3]) {
    await story.produce(part)
    await story.run(bronzeOrders)
    await story.run(eventsCopy, { idempotent: true })
  }
  const facts = async () => {
    const { queries, tables } = await observe(story.folder, BUILT_IN_QUERIES, fx)
    return [
      queries.map(({ rows, missing, verdict, lag }) => ({ rows, missing, verdict, lag })),
      tables.map(({ rows, distinct, orphans }) => ({ rows, distinct, orphans })),
    ]
  }
  const before = await facts()
  await story.store((store) => store.optimize('bronze_orders'))
  const { files } = await vacuumed(story, 'bronze_orders', NOW)
  expect(kinds(await vacuumed(story, 'events_copy', NOW))).toEqual([])
  expect(files).toHaveLength(3)
  expect(await facts()).toEqual(before)
  const kept = RowCounts.openForReading(story.path('tables'), fx)
  expect(files.map(({ path }) => kept?.find('bronze_orders', path))).toEqual([null, null, null])
  kept?.close()
  await story.run(eventsCopy, { idempotent: true })
  await story.produce(4)
  await story.run(bronzeOrders)
  await story.run(eventsCopy, { idempotent: true })
  expect(await story.rows('events_copy')).toHaveLength(9)
})

test('on the command line: what it would do, what it did, and what is refused', async () => {
  const story = await merged()
  const run = (...words: string[]) => commandHere(story.folder, ['vacuum', 'orders', ...words])
  expect(await run('--older-than', '0')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--force does it all the same') })
  expect(await run('--older-than', '7')).toMatchObject({ exitCode: 2 })
  expect((await run('--older-than', '0', '--force', '--dry-run')).stdout).toMatch(/^file +why +bytes\npart-\S+ +removed +\d+\norders: would remove 1 file, /)
  expect(JSON.parse((await run('--older-than', '0', '--force', '--json')).stdout)).toMatchObject({
    table: 'orders',
    files: [{ kind: 'removed' }],
    dryRun: false,
  })
  expect(await run()).toMatchObject({ exitCode: 0, stdout: 'orders has nothing to remove\n' })
  expect(await commandHere(story.folder, ['optimize', 'bronze_orders'])).toMatchObject({
    stdout: expect.stringMatching(/^bronze_orders: 2 files are now 1, .* in version 2\n$/),
  })
  expect(await commandHere(story.folder, ['vacuum', 'nothing'])).toMatchObject({ exitCode: 1 })
  expect(vacuum.examples).toHaveLength(2)

  const foreign = begin()
  cpSync(sparkWorkspace('source-optimized'), foreign.folder, { recursive: true })
  const before = foreign.files()
  for (const verb of ['vacuum', 'optimize']) expect(await commandHere(foreign.folder, [verb, 'bronze_orders'])).toMatchObject({ exitCode: 1 })
  expect(foreign.files()).toEqual(before)
})
