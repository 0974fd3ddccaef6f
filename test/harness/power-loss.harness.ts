/**
 * A modelled loss of power (test/power-loss): real batches, recorded effect by effect; disks that a loss of power may leave of them, each
 * started again and run to its end. Nothing is lost or doubled, and what was told to be there is there. STREAMTOP_POWER_LOSSES=N tries N
 * of each kind instead of a few dozen.
 */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { WAYS_OF_WRITING } from '../power-loss/batches.js'
import { leaveOutEachSync, losePowerAfterDeaths, losePowerInBatches, losePowerInSends, type PowerLossRun } from '../power-loss/power-loss-run.js'
import { SEED } from '../seed.js'

// What starts again on a modelled disk need not be durable.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const MOST = Number(process.env['STREAMTOP_POWER_LOSSES'] ?? 60)
const MOST_AFTER_DEATHS = Math.ceil(MOST / 3)

function expectNoViolation(what: string, { tried, legal, violations }: PowerLossRun): void {
  console.log(`${what}: ${tried} of ${legal} losses of power tried, ${violations.length} violations (seed ${SEED})`)
  expect(violations).toEqual([])
  expect(tried).toBeGreaterThan(0)
}

describe.each(WAYS_OF_WRITING)('$name', (way) => {
  test('power lost in a batch', async () => {
    expectNoViolation(way.name, await losePowerInBatches(way, MOST))
  })

  test('power lost after a process was killed and another has gone on', async () => {
    expectNoViolation(`${way.name}, after a death`, await losePowerAfterDeaths(way, MOST_AFTER_DEATHS))
  })
})

test('power lost while records are sent', async () => {
  expectNoViolation('sending', await losePowerInSends(MOST))
})

test('a sync that is left out is missed', async () => {
  const [append] = WAYS_OF_WRITING
  if (!append) throw new Error('no way of writing')
  const found = await leaveOutEachSync({ ...append, sourceOptions: ['maxOffsetsPerTrigger=3'] })
  console.log(found.map(({ sync, isMissed }) => `${isMissed ? 'missed' : 'not missed'}: ${sync}`).join('\n'))
  expect(found.length).toBe(9)
  // The version file decides, and from it the log is made whole: its sync keeps the ledger's row at the moment it is told, no more.
  expect(found.filter(({ isMissed }) => !isMissed).map(({ sync }) => sync)).toEqual(['sync tables/_log.db-wal'])
})
