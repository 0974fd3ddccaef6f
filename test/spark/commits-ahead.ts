/**
 * A checkpoint whose commits log is ahead of its offsets log, with plain appends. It is no history: Spark writes a batch once more and
 * stops, streamtop stops before, and neither goes on.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { checkWorkspace, type OtherEngine, type Promised } from '../checker.mjs'
import { BRONZE, COPY } from '../nine-events.js'
import { readVersions } from './found-on-disk.js'
import { PLAIN } from './histories.js'
import { sentOf } from './orders-of-a-seed.js'
import type { Stage } from './play-history.js'
import { streamtop, tryStreamtop } from './streamtop-command.js'

/** The name of the difference. */
export const COMMITS_AHEAD = 'refused first: commits ahead'

/** Plays it with each of them, and throws unless they part so. */
export async function playCommitsAhead({ bases, spark, dist }: Stage): Promise<void> {
  const { folder, records } = await bases.get('orders-1')
  const ofSpark = bases.copy(folder)
  const run = ['run', PLAIN.query, '--no-idempotent']
  await streamtop(dist, ofSpark, ...run)
  await bases.more(ofSpark)
  await streamtop(dist, ofSpark, ...run)
  rmSync(join(ofSpark, 'checkpoints', PLAIN.query, 'offsets', '1'))
  const own = bases.copy(ofSpark)
  const check = (workspace: string, other?: OtherEngine) => {
    const query = { ...COPY, exactlyOnce: false, caughtUp: false, damaged: ['offsets/1'], ...(other ? { other, isUnhealed: true } : {}) }
    const promised: Promised = { topic: 'orders', sent: records.map(sentOf), queries: [{ ...BRONZE, caughtUp: false }, query] }
    return checkWorkspace(workspace, promised)
  }

  const answer = await spark.stream({ workspace: ofSpark, query: 'copy', name: PLAIN.query, source: 'bronze_orders', sink: PLAIN.query, idempotent: false })
  expect(answer).toMatchObject({ died: false, error: { condition: 'CONCURRENT_STREAM_LOG_UPDATE' } })
  expect(await check(ofSpark, { versions: new Map([[2, 0]]), commits: [] }), 'Spark has written batch 0 once more, as version 2').toEqual([])

  const { code, stderr } = await tryStreamtop(dist, own, run)
  expect([code, stderr]).toEqual([1, expect.stringContaining('[CONCURRENT_STREAM_LOG_UPDATE]')])
  expect(readVersions(own, PLAIN.query)).toHaveLength(2)
  expect(await check(own)).toEqual([])
}
