/** A short one of the long runs, by which its bounds are kept: `npm run long` is the long one, with a speed that is looked at. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SEED } from '../seed.js'

const SCRIPT = fileURLToPath(new URL('../long-run.mjs', import.meta.url))

test('500 batches of two queries with kills: files, WAL, open files and memory stay within bounds, and the checker finds nothing', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--batches', '500', '--kill-every', '100', '--seed', String(SEED)], {
    encoding: 'utf8',
  })
  console.log(stdout.trim())
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout).toContain('violations 0')
})
