/**
 * Every death of `reset`, `drop`, `replay`, `vacuum`, `optimize`, of an adoption and of healing: before, in and after each change of a
 * file. What follows, the verb again or only a query, comes to the same each time, and the checker finds nothing; nor does it when
 * the verb that is called again dies too.
 */
import { existsSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { ADMIN_CASES } from '../stories/admin-cases.js'
import { judgeDeaths } from '../stories/admin-deaths.js'
import { temporaryStories } from '../stories/workspace.js'

// Nothing here depends on a sync, and a file system in memory has more deaths in a second.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const begin = temporaryStories()
const counted: string[] = []
afterAll(() => console.log(counted.join('\n')))

test.each(ADMIN_CASES.map((one) => [one.verb, one] as const))('%s', async (verb, one) => {
  const { deaths, recoveries, wrong } = await judgeDeaths(one, { deadAgain: 2 }, begin)
  counted.push(`${verb}: ${deaths} deaths, ${recoveries} recoveries, ${wrong.length} wrong`)
  expect(wrong).toEqual([])
  expect(deaths).toBeGreaterThan(4)
})
