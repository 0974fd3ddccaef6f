/** A short run of `node test/kill-nine.mjs`: real queries, killed from outside at random moments. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SEED } from '../seed.js'

test('six kills at random moments, and nothing is lost or doubled', { timeout: 120_000 }, () => {
  const script = fileURLToPath(new URL('../kill-nine.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--kills', '6', `--seed=${SEED}`], { encoding: 'utf8' })
  console.log(stdout.trimEnd())
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^seed \d+: kills 6, in mid-batch \d+, .*violations 0;/)
})
