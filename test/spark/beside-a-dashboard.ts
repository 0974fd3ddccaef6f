/** Spark writes beside a dashboard that is open: it sees what Spark wrote, goes on with it, and gives it back. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openLive } from '../session/live.js'
import { GROUP_SIZE } from './orders-of-a-seed.js'
import type { Stage } from './play-history.js'

export async function playBesideADashboard({ bases, spark }: Stage): Promise<void> {
  const base = await bases.get('orders-1')
  const workspace = bases.copy(base.folder)
  // Its query is of the package that is installed, and here the source runs.
  rmSync(join(workspace, 'streamtop.config.mjs'))
  const live = await openLive(workspace, { startsNothing: true, ratePerSecond: 0 })
  const copyBySpark = async () => {
    const command = {
      workspace,
      query: 'copy',
      name: 'events_copy',
      source: 'bronze_orders',
      sink: 'events_copy',
      idempotent: true,
      appId: 'events_copy',
    } as const
    expect(await spark.stream(command)).toEqual({ died: false, error: null })
  }
  const isShown = (rows: number) =>
    live.until(`${rows} rows`, () => {
      const status = live.status('events_copy')
      return status?.rows === rows && status.missing === 0 && status.lag === 0
    })
  const verdict = () => live.status('events_copy')?.verdict

  await live.until('the first look', () => live.view() !== null)
  await copyBySpark()
  await isShown(base.taken)
  expect(verdict()).toBe('exactly-once')

  await bases.more(workspace)
  await live.do({ name: 'idempotent', query: 'events_copy', isOn: true })
  await live.do({ name: 'start', query: 'events_copy' })
  await isShown(base.taken + GROUP_SIZE)
  await live.do({ name: 'stop', query: 'events_copy' })
  await live.until('it has stopped', () => live.query('events_copy').process === 'none')

  await bases.more(workspace)
  await copyBySpark()
  await isShown(base.taken + 2 * GROUP_SIZE)
  expect(verdict()).toBe('exactly-once')
  expect(live.log().filter(({ kind }) => kind === 'failed')).toEqual([])
}
