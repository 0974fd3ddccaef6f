/**
 * MERGE of rows that change one file, against the time to rewrite that file: read, decode, encode, write, sync. The two take
 * turns, on files of 50,000 rows and of 5,000.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { realEffects as fx } from '../../src/effects.js'
import { decodeParquet, encodeParquet } from '../../src/store/parquet.js'
import { Store } from '../../src/store/store.js'
import { ordersSchema } from '../../src/queries/orders-schema.js'
import { againstFloor, type Bench, type BenchContext, type Figure, median } from '../figure.js'
import { newerFirst, ordersOf } from '../orders-rows.js'

const ROWS_MERGED = 1_000

export const merge: Bench = {
  name: 'merge',
  async run(context: BenchContext): Promise<Figure[]> {
    const figures: Figure[] = []
    for (const rowsPerFile of [50_000, 5_000]) figures.push(await mergeInto(rowsPerFile, context))
    figures.push(await mergeIntoMany(context))
    return figures
  },
}

async function mergeInto(rowsPerFile: number, { isQuick, folder }: BenchContext): Promise<Figure> {
  const workspace = folder()
  const store = Store.open(workspace, fx)
  const merges: number[] = []
  const rewrites: number[] = []
  try {
    await store.createTable('orders', ordersSchema)
    await store.append('orders', ordersOf(1_000_000, rowsPerFile, 1, 0), { kind: 'write' })
    for (let round = 0; round < (isQuick ? 8 : 25); round++) {
      const file = store.snapshot('orders')?.files[0]
      if (!file) throw new Error('the table has no file')
      rewrites.push(await rewrite(join(workspace, 'tables', 'orders', file.path), join(folder(), 'rewritten.parquet')))
      // Every 5th key of the file, with a newer time than the last round's.
      const source = ordersOf(1_000_000, Math.min(ROWS_MERGED, rowsPerFile / 5), 5, round + 1)
      const startedMs = performance.now()
      const { outcome } = await store.merge('orders', source, newerFirst)
      merges.push(performance.now() - startedMs)
      if (outcome !== 'committed') throw new Error(`the MERGE was ${outcome}`)
      store.tidyUp()
    }
  } finally {
    store.close()
  }
  return againstFloor(
    `MERGE of 1,000 into a file of ${rowsPerFile.toLocaleString('en-US')} rows`,
    { value: median(merges.slice(3)), unit: 'ms' },
    { what: 'read, decode, encode, write, sync that file', value: median(rewrites.slice(3)) },
    2,
  )
}

/** The later budget's case, told now: keys over all of a table of a million rows. */
async function mergeIntoMany({ isQuick, folder }: BenchContext): Promise<Figure> {
  const workspace = folder()
  const store = Store.open(workspace, fx)
  const merges: number[] = []
  const rewrites: number[] = []
  const rowCount = isQuick ? 200_000 : 1_000_000
  try {
    await store.createTable('orders', ordersSchema)
    for (let start = 0; start < rowCount; start += 50_000) await store.append('orders', ordersOf(1_000_000 + start, 50_000, 1, 0), { kind: 'write' })
    for (let round = 0; round < (isQuick ? 2 : 4); round++) {
      let rewriteMs = 0
      for (const file of store.snapshot('orders')?.files ?? []) {
        rewriteMs += await rewrite(join(workspace, 'tables', 'orders', file.path), join(folder(), 'rewritten.parquet'))
      }
      rewrites.push(rewriteMs)
      const startedMs = performance.now()
      await store.merge('orders', ordersOf(1_000_000, ROWS_MERGED, rowCount / ROWS_MERGED, round + 1), newerFirst)
      merges.push(performance.now() - startedMs)
      store.tidyUp()
    }
  } finally {
    store.close()
  }
  return againstFloor(
    `MERGE of 1,000 spread over ${rowCount.toLocaleString('en-US')} rows in files of 50,000`,
    { value: median(merges), unit: 'ms' },
    { what: 'rewriting them all', value: median(rewrites) },
    2,
  )
}

async function rewrite(from: string, to: string): Promise<number> {
  const startedMs = performance.now()
  const columns = await decodeParquet(readFileSync(from), ordersSchema)
  const bytes = await encodeParquet(columns)
  await fx.files.writeInHalves(to, bytes, async () => {})
  return performance.now() - startedMs
}
