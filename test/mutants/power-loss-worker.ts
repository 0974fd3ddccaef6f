/** Loses power in batches of each way of writing, told by its parent, until something is wrong; answers like the worker of schedules. */
import { WAYS_OF_WRITING } from '../power-loss/batches.js'
import { losePowerInBatches } from '../power-loss/power-loss-run.js'
import { seededRandom } from '../tui/seeded-random.js'

process.on('message', async ({ seed, number }: { readonly seed: number; readonly number: number }) => {
  const way = WAYS_OF_WRITING[number % WAYS_OF_WRITING.length]
  const violations: string[] = []
  try {
    if (way) violations.push(...(await losePowerInBatches(way, CASES, seededRandom(seed + number))).violations)
  } catch (error) {
    violations.push((error as Error).message)
  }
  process.send?.({ number, violations })
})

const CASES = 12
