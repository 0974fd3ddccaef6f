/**
 * The benchmark: every budget of docs/ARCHITECTURE.md, each beside its floor from the same run. Progress
 * goes to stderr, one table to stdout, everything to bench/results.json or where `--json` says.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Bench, Figure } from './figure.js'
import { comparePeers } from './peers.js'
import { counts } from './rows/counts.js'
import { dashboard } from './rows/dashboard.js'
import { flatness } from './rows/flatness.js'
import { kafka } from './rows/kafka.js'
import { merge } from './rows/merge.js'
import { oneRowBatch } from './rows/one-row-batch.js'
import { start } from './rows/start.js'
import { threeQueries } from './rows/three-queries.js'
import { throughput } from './rows/throughput.js'
import { walkThrough } from './rows/walk-through.js'
import { tableOf } from './table.js'

const BENCHES: readonly Bench[] = [oneRowBatch, threeQueries, walkThrough, throughput, flatness, merge, counts, start, dashboard, kafka]

const USAGE = `npm run bench -- [options]
  --only NAME    one of ${BENCHES.map(({ name }) => name).join(', ')}; may be given several times
  --quick        fewer rounds: a look, not a measurement
  --long         also what takes ten minutes: whether the dashboard's memory grows
  --kafka BROKER also the topic on a real Kafka, HOST:PORT ("npm run kafka" starts one)
  --peers        Spark and delta-rs on the same work, beside ours (after npm run test:spark has fetched them)
  --json FILE    where the figures go, bench/results.json unless given
  --no-build     measure dist as it is
`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    kafka: { type: 'string' },
    peers: { type: 'boolean', default: false },
    json: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const unknown = options.only.find((name) => !BENCHES.some((bench) => bench.name === name))
if (options.help || unknown !== undefined) {
  process.stderr.write(unknown === undefined ? USAGE : `there is no benchmark ${unknown}\n${USAGE}`)
  process.exit(options.help ? 0 : 2)
}

// On the disk of the repository: the temporary folder may lie in memory, where a sync costs nothing.
const dist = fileURLToPath(new URL('.', import.meta.url))
mkdirSync(dist, { recursive: true })
const scratch = mkdtempSync(join(dist, 'run-'))
const say = (text: string) => void process.stderr.write(`${text}\n`)
let folders = 0
const context = {
  isQuick: options.quick,
  isLong: options.long,
  kafka: options.kafka === undefined ? null : { brokers: options.kafka, propertiesFile: null },
  say,
  folder() {
    const path = join(scratch, String(++folders))
    mkdirSync(path)
    return path
  },
}

try {
  const figures: Figure[] = []
  const everything = BENCHES.filter((bench) => bench !== kafka || context.kafka !== null)
  const chosen = options.only.length > 0 ? BENCHES.filter(({ name }) => options.only.includes(name)) : options.peers ? [] : everything
  for (const bench of chosen) {
    say(bench.name)
    figures.push(...(await bench.run(context)))
  }
  if (figures.length > 0) process.stdout.write(tableOf(figures))
  const peers = options.peers ? await comparePeers(context) : []
  const path = options.json ?? fileURLToPath(new URL('../results.json', import.meta.url))
  const machine = { node: process.version, cores: cpus().length, processor: cpus()[0]?.model ?? 'unknown', isQuick: options.quick }
  writeFileSync(path, `${JSON.stringify({ machine, figures, peers }, null, 2)}\n`)
  say(`figures are in ${path}`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
