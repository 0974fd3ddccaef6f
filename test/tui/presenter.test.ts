/** For a hall nothing is foretold: neither in the sentence, nor in a hint, nor where a step is chosen. People are to guess. */
import { expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import type { Model } from '../../src/tui/model.js'
import { initialPlay } from '../../src/tui/play-state.js'
import { killedAt, MODELS, pictureOf } from './models.js'
import { setting } from './plays.js'
import { after as pressed } from './reducer-models.js'

/** What the dashboard says of things to come. */
const FORETOLD = /\bwill (run|not help|fail)|\bnext (start|attempt)\b|\bexpect \d|comes? once more|written twice|It leaves|and no row is|doubles? them/

/** Taken over, so that the whole dashboard is to be seen. */
function inHall(model: Model): Model {
  return { ...model, play: { ...initialPlay(setting({ isPresenter: true })), phase: 'yours' } }
}

test.each(Object.entries({ ...MODELS, ...Object.fromEntries(STEPS.map((step) => [`killed at ${step}`, killedAt(step)])) }))('%s', (_, model) => {
  for (const keys of ['', 'X', 'b', 'enter']) {
    const hall = pressed(inHall(model), keys)
    for (const [columns, rows] of [
      [80, 24],
      [120, 40],
    ] as const)
      expect(pictureOf(hall, columns, rows), keys).not.toMatch(FORETOLD)
  }
})

test('what is on disk is said all the same, and elsewhere it is foretold', () => {
  const killed = killedAt('table-committed')
  expect(pictureOf(inHall(killed), 120, 40)).toContain('events_copy has the 6 rows, the checkpoint')
  expect(pictureOf(killed, 120, 40)).toMatch(FORETOLD)
  expect(pictureOf(pressed(killed, 'X'), 120, 40)).toMatch(FORETOLD)
})
