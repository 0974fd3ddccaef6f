/** A few modelled losses of power; test/harness/power-loss.harness.ts tries them by the hundred. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WAYS_OF_WRITING } from '../power-loss/batches.js'
import { losePowerAfterDeaths, losePowerInBatches } from '../power-loss/power-loss-run.js'

// What starts again on a modelled disk need not be durable.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const [append] = WAYS_OF_WRITING

test('power is lost in a batch, and after a process was killed and another has gone on: nothing is lost or doubled', { timeout: 120_000 }, async () => {
  if (!append) throw new Error('no way of writing')
  expect((await losePowerInBatches(append, 12)).violations).toEqual([])
  expect((await losePowerAfterDeaths(append, 4)).violations).toEqual([])
})
