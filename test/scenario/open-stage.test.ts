/** What a stage leaves when it is closed while a line of its play is under way. */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import type { Ending, NamedQuery, Runner } from '../../src/engine/runner.js'
import { loadQueries } from '../../src/queries/load-queries.js'
import { openStage } from '../../src/scenario/open-stage.js'
import { temporaryFolder } from '../session/live.js'

test('a second process of a query ends with it', async () => {
  const running = new Set<string>()
  const runner: Runner<NamedQuery> = {
    start({ definition: { name } }) {
      running.add(name)
      let end: (ending: Ending) => void = () => {}
      const ending = new Promise<Ending>((resolve) => {
        end = resolve
      })
      const kill = () => {
        running.delete(name)
        end({ kind: 'died', signal: 'SIGKILL' })
      }
      return { pid: null, ending, kill, stop() {}, change() {}, step() {}, upstreamEnded() {} }
    },
  }
  const workspace = temporaryFolder()
  const signal = new AbortController().signal
  const stage = await openStage({ workspace, configFile: null, queries: await loadQueries(null, fx), isVirtual: false, runner, signal }, fx)
  const ended = stage.runBeside('bronze_orders', {}).catch((error: Error) => error.message)
  expect([...running]).toEqual(['bronze_orders'])
  await stage.close()
  expect([...running]).toEqual([])
  expect(await ended).toBe('the second process of bronze_orders was killed')
})
