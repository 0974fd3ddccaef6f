/** Every scenario that comes with streamtop, played virtually: all that it expects is so, and two plays say the same to the letter. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { type FoundScenario, listScenarios } from '../../src/scenario/library.js'
import type { PlayEvent } from '../../src/scenario/play-event.js'
import type { Model } from '../../src/tui/model.js'
import { allCaptions, initialPlay } from '../../src/tui/play-state.js'
import { initialModel, reduce } from '../../src/tui/reduce.js'
import { setting } from '../tui/plays.js'
import { playVirtually } from './virtual-play.js'

const SCENARIOS = listScenarios(fileURLToPath(new URL('../../scenarios', import.meta.url)), realEffects)

test.each(SCENARIOS.map((found) => [found.name, found] as const))('%s', async (_, found) => {
  const events = await playVirtually(found)
  expect(events.filter((event) => event.kind === 'expectation' && !event.isMet)).toEqual([])
  expect(events.at(-1)).toMatchObject({ kind: 'end', isMet: true })
  expectOnScreen(found, events)
  expect(JSON.stringify(await playVirtually(found))).toBe(JSON.stringify(events))
})

test('there are sixteen, each with a caption before its first action, and with an expectation at its end', () => {
  expect(SCENARIOS.map(({ name }) => name.slice(0, 2))).toEqual(Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(2, '0')))
  for (const { name, scenario } of SCENARIOS) {
    expect(scenario.about, name).not.toBeNull()
    const kinds = scenario.script.map(({ action }) => action.kind)
    expect(kinds.filter((kind) => kind !== 'say').at(-1), name).toBe('expect')
    expect(kinds.slice(0, 4), name).toContain('say')
  }
})

/** On the screen too it comes to its end: every caption is shown, at each somebody is waited for, and all is as expected. */
function expectOnScreen(found: FoundScenario, events: readonly PlayEvent[]): void {
  const begun = setting({ name: found.name }, found.scenario)
  let model: Model = { ...initialModel(0), play: initialPlay(begun) }
  let waited = 0
  for (const event of events) {
    model = reduce(model, { kind: 'play', event }).model
    if (model.play?.phase === 'waiting') waited += 1
  }
  expect(model.play).toMatchObject({ phase: 'ended', captions: allCaptions(begun), unmet: 0, at: found.scenario.script.length - 1 })
  expect(waited).toBe(allCaptions(begun).length)
}
