/** What a step does under control: held, stepped, dwelt at, changed meanwhile, over. */
import { expect, test } from 'vitest'
import { Control, type ControlSettings, reachUnder } from '../../src/engine/control.js'
import type { Step, StepEvent } from '../../src/engine/steps.js'
import { realEffects } from '../../src/effects.js'

const FREE: ControlSettings = { idempotent: null, armed: null, dwellMs: 0, intervalMs: null, isHeld: false }
const LONG_MS = 3_600_000

test('a held step is left when it is let go, one step at a time, and says so', async () => {
  const { control, walk, passed, told } = underControl({ isHeld: true })
  const walking = walk(['planned', 'offsets-logged', 'rows-read'])
  await settled()
  expect(passed).toEqual([])
  control.step()
  await settled()
  expect(passed).toEqual(['planned'])
  control.step()
  control.step()
  await walking
  expect(passed).toEqual(['planned', 'offsets-logged', 'rows-read'])
  // The last step was let go before it was reached, so it was never held.
  expect(told).toEqual(['planned held', 'planned let go', 'offsets-logged held', 'offsets-logged let go'])
})

test.each<[string, Partial<ControlSettings>, (control: Control, stop: AbortController) => void]>([
  ['no more hold', { isHeld: true }, (control) => control.change({ isHeld: false })],
  ['a shorter dwell', { dwellMs: LONG_MS }, (control) => control.change({ dwellMs: 0 })],
  ['a stop, when it is held', { isHeld: true }, (_, stop) => stop.abort()],
  ['a stop, when it dwells', { dwellMs: LONG_MS }, (_, stop) => stop.abort()],
])('%s ends the wait at once', async (_, settings, change) => {
  const { control, stop, walk, passed } = underControl(settings)
  const walking = walk(['planned'])
  await settled()
  expect(passed).toEqual([])
  change(control, stop)
  await walking
  expect(passed).toEqual(['planned'])
})

test.each<[string, Partial<ControlSettings>]>([
  ['dwells', { dwellMs: LONG_MS }],
  ['is held', { isHeld: true }],
])('a life that is over while it %s never goes on: it would write after its death', async (_, settings) => {
  const { control, walk, passed } = underControl(settings)
  void walk(['planned', 'offsets-logged'])
  await settled()
  control.end()
  control.change({ dwellMs: 0, isHeld: false })
  await settled()
  expect(passed).toEqual([])
})

function underControl(settings: Partial<ControlSettings>) {
  const stop = new AbortController()
  const control = new Control({ ...FREE, ...settings }, AbortSignal.abort(), stop.signal)
  const [passed, told]: [Step[], string[]] = [[], []]
  const onHeld = ({ step }: StepEvent, isHeld: boolean) => void told.push(`${step} ${isHeld ? 'held' : 'let go'}`)
  const die = () => Promise.reject(new Error('nobody armed it'))
  const { reach } = reachUnder(control, { report: () => {}, onHeld, die, stop: stop.signal }, realEffects)
  return {
    ...{ control, stop, passed, told },
    async walk(steps: readonly Step[]) {
      for (const step of steps) {
        await reach({ step, batchId: 0, attempt: 1, occurrence: 1 })
        passed.push(step)
      }
    },
  }
}

/** Everything that needs no time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}
