/** A few deaths of the verbs that change files beside a batch; `npm run test:harness` takes them all. */
import { expect, test } from 'vitest'
import { ADMIN_CASES } from './admin-cases.js'
import { judgeDeaths } from './admin-deaths.js'
import { temporaryStories } from './workspace.js'

const begin = temporaryStories()

test.each(ADMIN_CASES.filter(({ verb }) => ['vacuum', 'optimize'].includes(verb)).map((one) => [one.verb, one] as const))('%s', async (_, one) => {
  const { deaths, wrong } = await judgeDeaths(one, { deaths: 2, deadAgain: 0 }, begin)
  expect(wrong).toEqual([])
  expect(deaths).toBeGreaterThan(5)
})
