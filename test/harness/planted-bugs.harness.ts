/** `npm run test:mutants` must not rot: each bug can still be planted in src as it is now. Whether each is found takes minutes. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PLANTED_BUGS, planted } from '../mutants/planted-bugs.mjs'

test.each(PLANTED_BUGS)('$name', (bug) => {
  expect(planted(bug).size).toBeGreaterThan(0)
})

test('are many, and each has a name of its own', () => {
  expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(20)
  expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length)
})

test('a misspelled name is an error, and no run in which nothing is wrong', () => {
  const program = fileURLToPath(new URL('../mutants.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--only', 'no such bug'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toContain('there is no planted bug no such bug')
})
