/**
 * OPTIMIZE and VACUUM, by streamtop and by Spark over the same tables: what one has put together or cleared up the other reads, writes
 * and puts together again, and a stream of either goes on over it.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Bases } from './bases.js'
import { readRows, readVersions, sortedLines } from './found-on-disk.js'
import { SparkWorker } from './spark-worker.js'
import { streamtop } from './streamtop-command.js'

const fetched = inject('spark')
const dist = inject('dist')
const ALL = ['--older-than', '0', '--force']

describe.skipIf(fetched === null)('optimize and vacuum', () => {
  let spark: SparkWorker
  let bases: Bases
  beforeAll(() => {
    if (fetched) spark = new SparkWorker(fetched)
    bases = new Bases(dist)
  })
  afterAll(async () => {
    await spark?.stop()
    bases.remove()
  })

  /** Bronze in several versions, copied, and merged; the last of them is not read yet. */
  async function workspaceWithWork(): Promise<string> {
    const workspace = bases.copy((await bases.get('orders-1')).folder)
    for (let run = 0; run < 2; run++) {
      await streamtop(dist, workspace, 'run', 'events_copy', 'orders', '--idempotent')
      await bases.more(workspace)
    }
    return workspace
  }
  const tableOf = (workspace: string, table: string) => join(workspace, 'tables', table)
  const files = (workspace: string, table: string) => readdirSync(tableOf(workspace, table)).filter((name) => name.endsWith('.parquet'))
  const newest = (workspace: string, table: string) => readVersions(workspace, table).length - 1

  /** Streamtop, Spark and delta-rs, which reads no deletion vectors, read the same rows of the newest version. */
  async function rowsOf(workspace: string, table: string, { hasVectors = false } = {}): Promise<string[]> {
    const version = newest(workspace, table)
    const path = tableOf(workspace, table)
    const others = [spark.read(path, [version]), ...(hasVectors ? [] : [spark.readDeltaRs(path, [version])])]
    const rows = sortedLines(await readRows(workspace, table))
    for (const read of await Promise.all(others)) expect(sortedLines(read[version] ?? []), table).toEqual(rows)
    return rows
  }

  test('what streamtop has put together and cleared up, Spark reads, and goes on with', async () => {
    const workspace = await workspaceWithWork()
    const before = await Promise.all(['bronze_orders', 'events_copy', 'orders'].map((table) => rowsOf(workspace, table)))

    for (const table of ['bronze_orders', 'events_copy', 'orders']) {
      await streamtop(dist, workspace, 'optimize', table)
      if (table !== 'bronze_orders') await streamtop(dist, workspace, 'vacuum', table, ...ALL)
    }

    expect(await Promise.all(['bronze_orders', 'events_copy', 'orders'].map((table) => rowsOf(workspace, table)))).toEqual(before)
    expect(files(workspace, 'events_copy')).toHaveLength(1)
    const history = await spark.history(tableOf(workspace, 'events_copy'))
    expect(history.at(-1)).toMatchObject({ operation: 'OPTIMIZE', metrics: { numRemovedFiles: '2', numAddedFiles: '1' } })
    await expect(spark.read(tableOf(workspace, 'events_copy'), [0]), 'a version that was cleared up').rejects.toThrow(/FILE_NOT_EXIST|does not exist/)

    // Spark's stream goes on with streamtop's checkpoint: it reads the version from before the OPTIMIZE, and passes over that.
    const copy = {
      workspace,
      query: 'copy',
      name: 'events_copy',
      source: 'bronze_orders',
      sink: 'events_copy',
      idempotent: true,
      appId: 'events_copy',
    } as const
    expect(await spark.stream(copy)).toEqual({ died: false, error: null })
    expect(await rowsOf(workspace, 'events_copy')).toEqual(before[0])
    await bases.more(workspace)
    await streamtop(dist, workspace, 'run', 'events_copy', 'orders', '--idempotent')
    expect(await rowsOf(workspace, 'events_copy')).toEqual(await rowsOf(workspace, 'bronze_orders'))
    expect(await spark.sql(tableOf(workspace, 'orders'), 'OPTIMIZE {table}')).toHaveLength(1)
    await rowsOf(workspace, 'orders')
  })

  test('where Spark has put together, deleted with vectors and cleared up, streamtop goes on', async () => {
    const workspace = await workspaceWithWork()
    const bronze = tableOf(workspace, 'bronze_orders')
    const copy = tableOf(workspace, 'events_copy')
    const all = await rowsOf(workspace, 'bronze_orders')

    await spark.sql(bronze, 'OPTIMIZE {table}')
    await streamtop(dist, workspace, 'run', 'events_copy', 'orders', '--idempotent')
    expect(await rowsOf(workspace, 'events_copy')).toEqual(all)
    await spark.sql(bronze, 'VACUUM {table} RETAIN 0 HOURS')
    expect(files(workspace, 'bronze_orders')).toHaveLength(1)
    const { queries } = JSON.parse(await streamtop(dist, workspace, 'status', '--json')) as { queries: { name: string; verdict: string; missing: number }[] }
    const built = queries.filter(({ name }) => name !== 'placed').map(({ verdict, missing }) => ({ verdict, missing }))
    expect(built).toEqual([1, 2, 3].map(() => ({ verdict: 'exactly-once', missing: 0 })))

    await spark.sql(copy, "ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    await spark.sql(copy, 'DELETE FROM {table} WHERE `offset` % 3 = 1')
    const left = await rowsOf(workspace, 'events_copy', { hasVectors: true })
    expect(left.length).toBeLessThan(all.length)
    expect(readdirSync(copy).some((name) => name.endsWith('.bin'))).toBe(true)
    expect(await streamtop(dist, workspace, 'optimize', 'events_copy')).toMatch(/files are now 1,/)
    await streamtop(dist, workspace, 'vacuum', 'events_copy', ...ALL)
    expect(await rowsOf(workspace, 'events_copy', { hasVectors: true })).toEqual(left)
    expect(readdirSync(copy).filter((name) => name.endsWith('.parquet') || name.endsWith('.bin'))).toHaveLength(1)

    await bases.more(workspace)
    await streamtop(dist, workspace, 'run', 'orders')
    for (const table of ['bronze_orders', 'orders']) {
      await streamtop(dist, workspace, 'optimize', table)
      await spark.sql(tableOf(workspace, table), 'VACUUM {table} RETAIN 0 HOURS')
      await rowsOf(workspace, table)
      expect(files(workspace, table)).toHaveLength(1)
    }
  })

  test('a partition whose name is spelled in a path: for Spark too the old files are gone', async () => {
    const workspace = bases.copy((await bases.get('orders-1')).folder)
    const cities = tableOf(workspace, 'cities')
    await spark.sql(cities, 'CREATE TABLE {table} (id INT, city STRING) USING delta PARTITIONED BY (city)')
    for (const id of [1, 2, 3]) await spark.sql(cities, `INSERT INTO {table} VALUES (${id}, 'Zürich+1'), (${id}, 'a b%20:=?#')`)
    const before = await rowsOf(workspace, 'cities')
    expect(before).toHaveLength(6)
    expect(await streamtop(dist, workspace, 'optimize', 'cities')).toMatch(/6 files are now 2,/)
    expect(await rowsOf(workspace, 'cities')).toEqual(before)
    await streamtop(dist, workspace, 'vacuum', 'cities', ...ALL)
    expect(await rowsOf(workspace, 'cities')).toEqual(before)
  })
})
