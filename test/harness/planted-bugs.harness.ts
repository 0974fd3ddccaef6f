/** `npm run test:mutants` must not rot: each bug can still be planted in src as it is now. Whether each is found takes minutes. */
import { expect, test } from 'vitest'
import { PLANTED_BUGS, planted } from '../mutants/planted-bugs.mjs'

test.each(PLANTED_BUGS)('$name', (bug) => {
  expect(planted(bug).size).toBeGreaterThan(0)
})

test('are many, and each has a name of its own', () => {
  expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(20)
  expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length)
})
