/**
 * `npm run torture -- [--seed S] [--minutes M | --schedules N] [--workers W]`: lives of workspaces, drawn from a seed, with kills at any
 * step and before any system call, and the checker after each recovery (test/torture). The same seed does the same. A schedule in
 * which something is wrong is made shorter, and told with the command that repeats it:
 *
 *   npm run torture -- --seed S --schedule K [--only ACT,ACT...] [--keep]
 *
 * Exits 1 on a violation.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { bundle } from './torture/bundle.mjs'
import { openWorkers } from './torture/workers.mjs'

const USAGE = 'usage: npm run torture -- [--seed S] [--minutes M | --schedules N | --schedule K [--only ACT,ACT...] [--keep]] [--workers W]'
const options = Object.fromEntries(['seed', 'minutes', 'schedules', 'schedule', 'only', 'workers'].map((name) => [name, { type: 'string' }]))
const { values } = parseArgs({ options: { ...options, keep: { type: 'boolean', default: false } } })
const seed = wholeNumber('seed') ?? Math.floor(Date.now() / 1000) % 1_000_000
const [one, schedules, minutes] = [wholeNumber('schedule'), wholeNumber('schedules'), Number(values.minutes ?? 1)]
// One more than there are cores: each waits a fifth of the time for DuckDB.
const workerCount = one === undefined ? (wholeNumber('workers') ?? availableParallelism() + 1) : 1
if (!(minutes > 0) || workerCount < 1) throw new Error(USAGE)

const startedMs = performance.now()
const built = await bundle({ worker: 'test/torture/worker.ts' })
const workers = openWorkers(built.path('worker'), workerCount)
process.once('SIGINT', () => {
  close()
  process.exit(130)
})
try {
  process.exitCode = (await (one === undefined ? playMany() : playOne(one))) ? 0 : 1
} finally {
  close()
}

function close() {
  workers.close()
  built.remove()
}

function wholeNumber(name) {
  const value = values[name]
  if (value !== undefined && !/^\d+$/.test(value)) throw new Error(USAGE)
  return value === undefined ? undefined : Number(value)
}

async function playMany() {
  const sum = { schedules: 0, kills: 0, checks: 0, looks: 0, killsBy: new Map() }
  const endMs = startedMs + minutes * 60_000
  let next = 0
  let failed = null
  const isOver = () => failed !== null || (schedules === undefined ? performance.now() > endMs : next >= schedules)
  await Promise.all(
    Array.from({ length: workerCount }, async () => {
      while (!isOver()) {
        const played = await workers.play({ seed, number: next++ })
        sum.schedules++
        for (const what of ['kills', 'checks', 'looks']) sum[what] += played[what]
        for (const [what, count] of Object.entries(played.killsBy)) sum.killsBy.set(what, (sum.killsBy.get(what) ?? 0) + count)
        if (played.violations.length > 0 && !(failed?.number < played.number)) failed = played
        progress(`${sum.schedules} schedules, ${sum.kills} kills, ${Math.round((performance.now() - startedMs) / 1000)} s`)
      }
    }),
  )
  progress('')
  const kills = [...sum.killsBy].sort(([, a], [, b]) => b - a).map(([what, count]) => `  ${String(count).padStart(7)} ${what}`)
  console.log(`kills:\n${kills.join('\n')}`)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const violations = failed?.violations.length ?? 0
  console.log(
    `seed ${seed}: schedules ${sum.schedules}, kills ${sum.kills}, checks ${sum.checks}, looks of readers ${sum.looks}, violations ${violations}; ${seconds} s`,
  )
  if (failed === null) return true
  tell(failed)
  console.log(`repeat with: npm run torture -- --seed ${seed} --schedule ${failed.number}`)
  await shorten(failed)
  return false
}

async function playOne(number) {
  const only = values.only?.split(',').map(Number)
  const played = await workers.play({ seed, number, ...(only ? { only } : {}), keep: values.keep })
  tell(played)
  return played.violations.length === 0
}

function tell({ number, kills, trace, violations }) {
  console.log(`\nschedule ${number} of seed ${seed}:\n${trace.map((line) => `  ${line}\n`).join('')}kills ${kills}, violations ${violations.length}`)
  for (const violation of violations) console.log(`  ${violation}`)
}

/** Leaves out one act after the other as long as the same is wrong. The first act stays: without it there is no topic. */
async function shorten({ number, acts, violations }) {
  const kindOf = (violation) => violation.split('\n')[0].replace(/[0-9a-f-]{36}|\d+/g, '#')
  const kinds = new Set(violations.map(kindOf))
  let shortest = acts
  let found = null
  for (const act of acts.slice(1).reverse()) {
    const only = shortest.filter((other) => other !== act)
    progress(`shortening: ${shortest.length} acts`)
    const played = await workers.play({ seed, number, only })
    if (!played.violations.some((violation) => kinds.has(kindOf(violation)))) continue
    shortest = only
    found = played
  }
  progress('')
  if (found === null) return
  tell(found)
  console.log(`repeat with: npm run torture -- --seed ${seed} --schedule ${number} --only ${shortest.join()}`)
}

/** One line on a terminal; nothing elsewhere. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`)
}
