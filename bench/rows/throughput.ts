/**
 * Rows a second through real query processes: topic to table with 10,000-row batches, then table to table; and the memory of
 * those processes. The floor of the first is what cannot be left out of it: JSON.parse of every value, and the bytes of the data
 * files written and synced. The floor of the second: reading the bytes, and writing and syncing as many.
 */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orderGenerator } from '../../src/queries/order-generator.js'
import { orderRecord } from '../../src/queries/order-event.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { againstFloor, type Bench, type BenchContext, type Figure, median, plain, withBudget } from '../figure.js'
import { sendOrders } from '../generated-orders.js'
import { CLI, ended, type ProcessChoices, processFacts, startProcess } from '../query-process.js'
import { timed } from '../timed-process.js'

const ROWS_PER_BATCH = 10_000

export const throughput: Bench = {
  name: 'throughput',
  async run({ isQuick, say, folder }: BenchContext): Promise<Figure[]> {
    const rowCount = isQuick ? 300_000 : 1_000_000
    const workspace = folder()
    say(`  sending ${rowCount} records`)
    await sendOrders(workspace, rowCount)
    const bronze = await rate(workspace, bronzeOrders, `maxOffsetsPerTrigger=${ROWS_PER_BATCH}`)
    const copy = await rate(workspace, eventsCopy, 'maxFilesPerTrigger=1')
    for (const command of ['reset', 'drop']) timed([CLI, command, 'events_copy'], workspace)
    const copyOfFive = await rate(workspace, eventsCopy, 'maxFilesPerTrigger=5')

    const dataFolder = join(workspace, 'tables', 'bronze_orders')
    const files = readdirSync(dataFolder).filter((name) => name.endsWith('.parquet'))
    const bytesPerFile = median(files.map((name) => statSync(join(dataFolder, name)).size))
    const parseMs = parseFloor()
    const scratch = folder()
    const writeMs = median(Array.from({ length: 20 }, (_, index) => writeFloor(join(scratch, String(index)), bytesPerFile)))
    const readMs = median(files.slice(0, 20).map((name) => timedMs(() => readFileSync(join(dataFolder, name)))))
    const perSecond = (batchMs: number) => (ROWS_PER_BATCH * 1_000) / batchMs
    return [
      withBudget(
        againstFloor(
          'topic → table, 10,000-row batches',
          { value: bronze.rowsPerSecond, unit: 'rows/s' },
          { what: 'JSON.parse of the values, then the bytes written and synced', value: perSecond(parseMs + writeMs) },
          null,
        ),
        { atLeast: 100_000 },
      ),
      withBudget(
        againstFloor(
          'table → table append, 50,000-row batches',
          { value: copyOfFive.rowsPerSecond, unit: 'rows/s' },
          { what: 'the bytes read, written and synced', value: perSecond(readMs + writeMs) },
          null,
        ),
        { atLeast: 300_000 },
      ),
      againstFloor(
        'table → table append, 10,000-row batches',
        { value: copy.rowsPerSecond, unit: 'rows/s' },
        { what: 'the bytes read, written and synced', value: perSecond(readMs + writeMs) },
        null,
      ),
      withBudget(plain(`memory of the bronze_orders process after ${rowCount.toLocaleString('en-US')} rows, at most`, bronze.peakMb, 'MB'), { atMost: 250 }),
      withBudget(plain('memory of the events_copy process, 50,000-row batches, at most', copyOfFive.peakMb, 'MB'), { atMost: 250 }),
    ]
  },
}

export interface Rate {
  readonly rowsPerSecond: number
  readonly peakMb: number
}

/** From the end of the third batch, when everything is loaded and compiled, to the end of the last. */
export async function rate(
  workspace: string,
  definition: QueryDefinition,
  option: string,
  choices: Pick<ProcessChoices, 'kafka' | 'topic'> = {},
): Promise<Rate> {
  const ends: { readonly ms: number; readonly rows: number }[] = []
  let peakMb = Number.NaN
  const running = startProcess(workspace, definition, {
    ...choices,
    sourceOptions: [option],
    listen(event, nowMs) {
      if (event.kind !== 'batch') return
      ends.push({ ms: nowMs, rows: event.progress.numInputRows })
      peakMb = processFacts(running.pid)?.peakMb ?? peakMb
    },
  })
  await ended(running)
  const first = ends[2]
  const last = ends.at(-1)
  if (!first || !last || ends.length < 4) throw new Error(`${definition.name} ran only ${ends.length} batches`)
  const rows = ends.slice(3).reduce((sum, end) => sum + end.rows, 0)
  return { rowsPerSecond: (rows * 1_000) / (last.ms - first.ms), peakMb }
}

/** Milliseconds to parse the values of a batch as JSON, and to do nothing with them. */
function parseFloor(): number {
  const events = orderGenerator('floor')
  const values = Array.from({ length: ROWS_PER_BATCH }, () => String(Buffer.from(orderRecord(events.next().value).value ?? [])))
  let amounts = 0
  const parse = () => {
    for (const value of values) amounts += (JSON.parse(value) as { amount: number }).amount
  }
  const ms = median(Array.from({ length: 20 }, () => timedMs(parse)))
  if (amounts === 0) throw new Error('nothing was parsed')
  return ms
}

/** Milliseconds to write a file of so many bytes and to sync it. */
function writeFloor(path: string, bytes: number): number {
  const content = Buffer.alloc(bytes, 7)
  return timedMs(() => {
    const file = openSync(path, 'wx')
    writeSync(file, content)
    fsyncSync(file)
    closeSync(file)
  })
}

function timedMs(work: () => void): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}
