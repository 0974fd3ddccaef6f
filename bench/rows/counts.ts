/**
 * Rows and distinct rows kept up: 10,000 new rows in a table of 100,000 and of 1,000,000. What the writer does for it between
 * batches (hashing the rows, keeping the hashes) and what the reader does (finding the new file, counting its hashes) are
 * one figure. The floor is hashing the rows alone.
 */
import { realEffects as fx } from '../../src/effects.js'
import { FileRows } from '../../src/observe/file-rows.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { TableCounter } from '../../src/observe/table-counter.js'
import { viewOf } from '../../src/observe/table-view.js'
import { hashRows } from '../../src/store/row-hash.js'
import { Store } from '../../src/store/store.js'
import { againstFloor, type Bench, type BenchContext, type Figure, median, withBudget } from '../figure.js'
import { ordersOf } from '../orders-rows.js'

const NEW_ROWS = 10_000

export const counts: Bench = {
  name: 'counts',
  async run(context: BenchContext): Promise<Figure[]> {
    return [await keptUp(100_000, context), await keptUp(1_000_000, context)]
  },
}

async function keptUp(rowCount: number, { isQuick, say, folder }: BenchContext): Promise<Figure> {
  const workspace = folder()
  const store = Store.open(workspace, fx)
  const fileRows = new FileRows(store.tablesFolder, fx)
  const counter = new TableCounter()
  const times: number[] = []
  const readTimes: number[] = []
  const floors: number[] = []
  let nextId = 1_000_000
  const append = async (count: number) => {
    const columns = ordersOf(nextId, count, 1, 0)
    nextId += count
    await store.append('orders', columns, { kind: 'write' })
    return columns
  }
  const count = async () => {
    const log = OverlaidLog.open(workspace, fx)
    try {
      const view = viewOf(log, 'orders')
      if (!view) throw new Error('there is no table orders')
      return await counter.count(view, fileRows)
    } finally {
      log.close()
      fileRows.close()
    }
  }
  try {
    while (nextId < 1_000_000 + rowCount) {
      await append(50_000)
      store.tidyUp()
    }
    await count()
    for (let round = 0; round < (isQuick ? 6 : 15); round++) {
      const columns = await append(NEW_ROWS)
      const hashStartedMs = performance.now()
      hashRows(columns)
      floors.push(performance.now() - hashStartedMs)
      const startedMs = performance.now()
      store.tidyUp()
      const keptMs = performance.now()
      const { rows, distinct } = await count()
      times.push(performance.now() - startedMs)
      readTimes.push(performance.now() - keptMs)
      if (rows !== nextId - 1_000_000 || distinct !== rows) throw new Error(`${rows} rows, ${distinct} distinct were counted of ${nextId - 1_000_000}`)
    }
  } finally {
    fileRows.close()
    store.close()
  }
  say(`  of ${median(times).toFixed(1)} ms the reader took ${median(readTimes).toFixed(1)} ms`)
  return withBudget(
    againstFloor(
      `counts kept up, 10,000 new rows at ${rowCount.toLocaleString('en-US')}`,
      { value: median(times.slice(2)), unit: 'ms' },
      { what: 'hashing the 10,000 alone', value: median(floors.slice(2)) },
      null,
    ),
    { atMost: 20 },
  )
}
