/**
 * `npm run test:mutants -- [--only NAME,NAME...] [--seed S]`: the test of the tests. Each planted bug (test/mutants/planted-bugs.mjs) is
 * built alone into a program of its own, of which src knows nothing; schedules with kills are played with it, or losses of power, until
 * something is wrong. Without a bug nothing may be. Exits 1 when a bug survives, or when something is wrong without one.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { PLANTED_BUGS, planted } from './mutants/planted-bugs.mjs'
import { bundle } from './torture/bundle.mjs'
import { openWorkers } from './torture/workers.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } } })
const seed = Number(values.seed)
const only = values.only?.split(',')

/** By who finds it: the program, and how many cases are tried. */
const HARNESSES = {
  schedules: { entry: 'test/torture/worker.ts', isWatched: true, most: 100, clean: 40 },
  'power loss': { entry: 'test/mutants/power-loss-worker.ts', isWatched: false, most: 24, clean: 8 },
}

const CONTROLS = Object.keys(HARNESSES).map((findBy) => ({ name: `no bug (${findBy})`, edits: [], findBy, isControl: true }))
const wanted = [...PLANTED_BUGS, ...CONTROLS].filter(({ name }) => only === undefined || only.includes(name))
const unknown = (only ?? []).filter((name) => !wanted.some((one) => one.name === name))
// Nothing tried would be nothing wrong.
if (unknown.length > 0) throw new Error(`there is no planted bug ${unknown.join(', ')}: test/mutants/planted-bugs.mjs has their names`)
const startedMs = performance.now()
const results = []
const queue = [...wanted]
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      if (process.stderr.isTTY) process.stderr.write(`\r${results.length} of ${wanted.length}, now ${mutant.name}\u001b[K`)
      const result = await tried(mutant)
      results.push(result)
      tell(result)
    }
  }),
)

const wrong = results.filter(({ isRight }) => !isRight).length
const bugs = results.filter(({ mutant }) => !mutant.isControl)
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
console.log(`${bugs.filter(({ isRight }) => isRight).length} of ${bugs.length} planted bugs found, ${wrong} wrong; seed ${seed}, ${seconds} s`)
if (wrong > 0) process.exitCode = 1

function tell({ mutant, isRight, cases, tookMs, found }) {
  const what = mutant.isControl ? (found === null ? 'clean' : 'CRIES') : found === null ? 'SURVIVES' : `found by ${mutant.findBy ?? 'schedules'}`
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  console.log(
    `${isRight ? ' ' : '!'} ${mutant.name.padEnd(32)} ${what.padEnd(20)} ${String(cases).padStart(4)} cases ${(tookMs / 1000).toFixed(1).padStart(6)} s`,
  )
  if (found !== null) console.log(`    ${found.split('\n')[0].slice(0, 150)}`)
}

/** Plays until something is wrong, or for as many cases as there are. */
async function tried(mutant) {
  const { entry, isWatched, most, clean } = HARNESSES[mutant.findBy ?? 'schedules']
  const beganMs = performance.now()
  const built = await bundle({ worker: entry }, { replaced: planted(mutant), isWatched })
  const workers = openWorkers(built.path('worker'), 1, { isQuiet: !mutant.isControl })
  let [found, cases] = [null, 0]
  try {
    while (found === null && cases < (mutant.isControl ? clean : most)) found = (await workers.play({ seed, number: cases++ })).violations[0] ?? null
  } finally {
    workers.close()
    built.remove()
  }
  return { mutant, isRight: (found === null) === (mutant.isControl ?? false), cases, tookMs: performance.now() - beganMs, found }
}
