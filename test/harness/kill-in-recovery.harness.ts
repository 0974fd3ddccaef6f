/** Every pair of steps as a kill and a kill in the recovery from it, of each way of writing. */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { type Beginnings, beginnings, expectKilledTwice, WAYS_OF_WRITING } from '../stories/kill-in-recovery.js'
import { temporaryStories } from '../stories/workspace.js'

// A killed process needs no disk that keeps what it is told.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const begin = temporaryStories()
let beginning: Beginnings
beforeAll(async () => {
  beginning = await beginnings()
})
afterAll(() => beginning.remove())

const PAIRS = STEPS.flatMap((first) => STEPS.map((second) => [first, second] as const))

describe.each(WAYS_OF_WRITING)('$name', (way) => {
  test.each(PAIRS)('killed at %s, then at %s', async (first, second) => {
    await expectKilledTwice(begin(beginning.of(way)), way, first, second)
  })
})
