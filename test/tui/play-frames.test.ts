/** A play drawn: legal at every size, every caption of every scenario whole at 80×24, and a picture of it. */
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { listScenarios } from '../../src/scenario/library.js'
import { parseScenario } from '../../src/scenario/parse-scenario.js'
import type { PlayEvent } from '../../src/scenario/play-event.js'
import { frameOf } from '../../src/tui/frame.js'
import type { Size } from '../../src/tui/line.js'
import type { Model, Screen } from '../../src/tui/model.js'
import { allCaptions, initialPlay } from '../../src/tui/play-state.js'
import { ASCII_LOOK, killedAt, LOOK, MODELS, modelWith, pictureOf } from './models.js'
import { AGAIN, CHECKED, END, expectation, FIRST, KILLED, OPENING, playing, RUN, setting, TO_SECOND, told, WRITTEN } from './plays.js'
import { after as pressed } from './reducer-models.js'

const SCENARIOS = listScenarios(fileURLToPath(new URL('../../scenarios', import.meta.url)), realEffects)
const FAILED: PlayEvent = {
  kind: 'outcome',
  line: 8,
  texts: [],
  error: { code: 'conflict', message: 'somebody \u001b[31m was faster '.repeat(9), hint: null, condition: null },
}
const STORY: readonly PlayEvent[] = [...TO_SECOND, AGAIN, WRITTEN, FAILED, expectation(9, false), { ...END, isMet: false, unmet: 1 } as PlayEvent]

function legal(model: Model, { columns, rows }: Size, look = LOOK): string {
  const frame = frameOf(model, { columns, rows }, look)
  expect(frame).toHaveLength(rows)
  frame.forEach((line, row) => {
    expect(stringWidth(line.map(({ text }) => text).join('')), `row ${row}`).toBeLessThanOrEqual(row === rows - 1 ? columns - 1 : columns)
  })
  const text = frame
    .map((line) =>
      line
        .map((span) => span.text)
        .join('')
        .trimEnd(),
    )
    .join('\n')
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  return text
}

test('legal at every size, on every screen, at every moment', () => {
  const size = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 60 }) })
  const screen = fc.constantFrom<Screen>({ kind: 'main' }, { kind: 'help', scroll: 0 }, { kind: 'figures' })
  const at = fc.record({
    model: fc.constantFrom(...Object.values(MODELS)),
    count: fc.integer({ min: 0, max: STORY.length }),
    keys: fc.constantFrom('', 'space', 'left', 'escape', 'D'),
    isPresenter: fc.boolean(),
  })
  fc.assert(
    fc.property(at, size, fc.constantFrom(LOOK, ASCII_LOOK), screen, ({ model, count, keys, isPresenter }, room, look, shown) => {
      const begun = told({ ...model, play: initialPlay(setting({ isPresenter })) }, STORY.slice(0, count)).model
      legal({ ...pressed(begun, keys), screen: shown }, room, look)
    }),
    { numRuns: 150 },
  )
})

describe.each(SCENARIOS.map(({ name, scenario }) => [name, scenario] as const))('%s', (name, scenario) => {
  test.each([
    ['80×24', { columns: 80, rows: 24 }, false],
    ['80×24 for a hall', { columns: 80, rows: 24 }, true],
    ['120×40', { columns: 120, rows: 40 }, false],
    ['60×16', { columns: 60, rows: 16 }, false],
  ] as const)('every caption is there whole at %s', (_, size, isPresenter) => {
    for (const text of allCaptions(setting({}, scenario))) {
      const play = { ...initialPlay(setting({ name, isPresenter }, scenario)), phase: 'waiting' as const, captions: [text], told: [KILLED, CHECKED] }
      const picture = legal({ ...modelWith(), play }, size).replaceAll(/\s+/g, ' ')
      expect(picture).toContain(text.trim().replaceAll(/\s+/g, ' '))
    }
  })

  test('every line says in words what it does, in one line', () => {
    for (const [at, { text }] of scenario.script.entries()) {
      const play = { ...initialPlay(setting({ name }, scenario)), phase: 'playing' as const, captions: ['x'], at }
      const [, now] = /^ now: (.*)$/m.exec(legal({ ...modelWith(), play }, { columns: 80, rows: 24 })) ?? []
      expect(now, text).toMatch(/^(([a-zA-Z[\]] )+ )?[a-z].{5}/)
      expect(now, text).not.toContain('…')
    }
  })
})

test.each([
  ['play-80x24', 80, 24, {}],
  ['play-presenter-80x24', 80, 24, { isPresenter: true }],
  ['play-120x40', 120, 40, {}],
  ['play-60x16', 60, 16, {}],
] as const)('%s', async (name, columns, rows, change) => {
  const model = killedAt('table-committed')
  const play = playing([OPENING, FIRST, RUN, KILLED, CHECKED], change).play
  await expect(`${pictureOf({ ...model, play }, columns, rows)}\n`).toMatchFileSnapshot(`pictures/${name}.txt`)
})

test('what was not met says what was found, and the end says it too', () => {
  const picture = pictureOf(playing(STORY), 80, 24)
  expect(picture).toContain('✗ query bronze_orders: rows 9 (found 18)'.replace('query ', ''))
  expect(picture).toContain('✗ 1 of 2 expectations met. The workspace is yours')
})

test('a line names the key of idempotence where it is not so already', () => {
  const scenario = parseScenario('title: Mine\nscript:\n  - say: Once.\n  - run: { query: events_copy, idempotent: true }\n', 'mine.yaml')
  const play = { ...initialPlay(setting({}, scenario)), phase: 'playing' as const, captions: ['Once.'], at: 1 }
  const now = (idempotent: boolean) => /now: (.*)/.exec(pictureOf({ ...modelWith({ live: { events_copy: { idempotent } } }), play }, 80, 24))?.[1]?.trim()
  expect(now(false)).toBe('i s  runs events_copy, idempotence on')
  expect(now(true)).toBe('s  runs events_copy, idempotence on')
})

test('the help has the keys of the play first', () => {
  expect(
    pictureOf(pressed(playing([OPENING]), '?'), 80, 24)
      .split('\n')
      .slice(1, 4)
      .join('\n'),
  ).toMatch(/the play\n *enter +what follows happens/)
  expect(pictureOf(pressed(modelWith(), '?'), 80, 24)).not.toContain('the play\n')
})
