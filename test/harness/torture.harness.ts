/** A thousand seeded schedules of kills, replays, toggles and records that arrive while queries are down (`npm run torture` plays any number). */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SEED } from '../seed.js'

const SCHEDULES = Number(process.env['STREAMTOP_SCHEDULES'] ?? 1_000)

function torture(...line: string[]) {
  const script = fileURLToPath(new URL('../torture.mjs', import.meta.url))
  return spawnSync(process.execPath, [script, '--seed', String(SEED), ...line], { encoding: 'utf8' })
}

test(`${SCHEDULES} schedules, and nothing is lost, doubled or half seen`, { timeout: 1_200_000 }, () => {
  const { status, stdout, stderr } = torture('--schedules', String(SCHEDULES))
  console.log(stdout.trimEnd())
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(new RegExp(`seed ${SEED}: schedules ${SCHEDULES}, kills \\d+, .*violations 0;`))
})

test('a schedule that is played again does the same, to the byte', { timeout: 120_000 }, () => {
  const [first, second] = [torture('--schedule', '7'), torture('--schedule', '7')]
  expect(first.status).toBe(0)
  expect(first.stdout).toMatch(/at the end: [0-9a-f]{16}\n/)
  expect(second.stdout).toBe(first.stdout)
})
