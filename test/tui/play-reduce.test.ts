/** A play on the screen: when it goes on, what its keys do, and who has the workspace after it. */
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/tui/model.js'
import { isAsExpected } from '../../src/tui/play-state.js'
import { AGAIN, CHECKED, END, expectation, FIRST, KILLED, OPENING, playing, RUN, SECOND, told, TO_SECOND, WRITTEN } from './plays.js'
import { after as pressed, press, sessionState } from './reducer-models.js'
import { reduce } from '../../src/tui/reduce.js'

const phase = ({ play }: Model) => play?.phase
const next = (afterMs: number) => ({ kind: 'play-next', afterMs })

describe('who goes on', () => {
  test('each caption waits for a key; the lines after it come one after the other, so that they can be seen', () => {
    const opened = told(playing([]), [OPENING])
    expect([phase(opened.model), opened.effects]).toEqual(['waiting', [{ kind: 'chapter', title: 'Mine', text: 'What it is about.' }]])
    const { model, effects } = told(press(opened.model, 'enter').model, [FIRST])
    expect([phase(model), effects]).toEqual(['waiting', [{ kind: 'chapter', title: 'We copy, and die.', text: 'We copy, and die.' }]])
    expect(press(model, 'enter').effects).toEqual([next(0)])
    expect(told(model, [RUN, KILLED, CHECKED]).effects).toEqual([next(900), next(900), next(700)])
    expect(phase(told(model, [RUN, KILLED, CHECKED]).model)).toBe('playing')
    expect(phase(playing(TO_SECOND))).toBe('waiting')
  })

  test.each(['enter', 'right', 'pagedown'])('%s does, as a clicker has it', (key) => {
    expect(press(playing([OPENING]), key).effects).toEqual([next(0)])
  })

  test('with a speed it does so by itself, when the caption was read', () => {
    const { model, effects } = told(playing([], { waitsAt: 'nothing', speed: 2 }), [OPENING, FIRST, RUN])
    expect(effects.filter(({ kind }) => kind === 'play-next')).toEqual([next((1_000 + 17_000 / 15) / 2), next((1_000 + 17_000 / 15) / 2), next(450)])
    expect(phase(model)).toBe('playing')
  })

  test('by hand each line waits for a key, and is done at once when it was pressed', () => {
    const at = (...events: readonly Parameters<typeof told>[1][number][]) => told(playing([OPENING, FIRST], { waitsAt: 'lines' }), events)
    expect([phase(at(RUN).model), at(RUN).effects]).toEqual(['playing', [next(0)]])
    expect([phase(at(RUN, KILLED).model), at(RUN, KILLED).effects]).toEqual(['waiting', [next(0)]])
    expect(phase(at(RUN, KILLED, CHECKED).model)).toBe('waiting')
  })
})

describe('what is on the screen', () => {
  test('the query that a line is about is selected, also by the table that it writes', () => {
    expect(playing([OPENING, FIRST, RUN]).selected).toBe('bronze_orders')
    expect(playing([OPENING, FIRST, RUN, KILLED, CHECKED]).selected).toBe('orders')
  })

  test('what came of the lines stays below the next caption, until the next line begins', () => {
    expect(playing(TO_SECOND).play?.told).toEqual([KILLED, CHECKED])
    expect(playing([...TO_SECOND, AGAIN]).play?.told).toEqual([])
  })

  test('an earlier caption is read again and nothing is asked; going on comes back first', () => {
    const { model, effects } = press(playing(TO_SECOND), 'left pageup left left')
    expect([model.play?.shown, effects]).toEqual([0, []])
    const back = press(model, 'enter right')
    expect([back.model.play?.shown, back.effects]).toEqual([2, []])
    expect(press(back.model, 'enter').effects).toEqual([next(0)])
    expect(told(model, [AGAIN]).model.play?.shown).toBe(2)
  })
})

describe('space', () => {
  test('holds the play and every query, and lets both go on', () => {
    const held = press(playing([OPENING, FIRST, RUN]), 'space')
    expect(held.effects).toEqual([{ kind: 'play-pause' }, { kind: 'perform', action: { name: 'pause' }, by: 'space' }])
    expect(held.model.play).toMatchObject({ isPaused: true, phase: 'playing' })
    for (const key of ['space', 'enter']) {
      const goingOn = press(held.model, key)
      expect(goingOn.effects).toEqual([{ kind: 'play-resume' }, { kind: 'perform', action: { name: 'resume' }, by: 'space' }])
      expect(goingOn.model.play?.isPaused).toBe(false)
    }
  })

  test('leaves queries alone that the scenario itself has paused', () => {
    const paused = reduce(playing([OPENING, FIRST]), { kind: 'state', state: sessionState({ isPaused: true }) }).model
    expect(press(paused, 'space space').effects).toEqual([{ kind: 'play-pause' }, { kind: 'play-resume' }])
  })
})

describe('handed over', () => {
  test('esc stops the play and says where', () => {
    const { model, effects } = press(playing([OPENING, FIRST, RUN]), 'escape')
    expect(effects).toEqual([{ kind: 'play-stop' }])
    expect(model).toMatchObject({ play: { phase: 'yours' }, message: { text: 'yours now: the play has stopped at line 5' } })
    expect(model.log.at(-1)).toMatchObject({ who: 'streamtop', text: 'yours now: the play has stopped at line 5' })
  })

  test.each(['K', 'S', 'i', 'r', 'R', 'p', 'g', '+', 'n', 'x', 'D y', 'X enter', ': "kill orders" enter'])(
    '%s does what it does, and the workspace is yours',
    (keys) => {
      const { model, effects } = press(playing([OPENING, FIRST, RUN]), keys)
      expect(effects.map(({ kind }) => kind)).toEqual(['play-stop', 'perform'])
      expect(phase(model)).toBe('yours')
    },
  )

  test.each(['?', '? enter', 'up', 'down', '1', 't', 'h', 'b', ':', ': "select orders" enter', '/', '[', ']', 'f5', 't escape', '/ "x" enter escape', 's'])(
    '%s is safe',
    (keys) => {
      const { model, effects } = press(playing([OPENING, FIRST, RUN]), keys)
      expect(phase(model)).toBe('playing')
      expect(effects.map(({ kind }) => kind)).not.toContain('play-stop')
    },
  )

  test('after it the keys are the dashboard’s, and the play is told no more', () => {
    const yours = press(playing([OPENING, FIRST, RUN]), 'escape').model
    expect(pressed(yours, 'enter').screen.kind).toBe('zoom')
    expect(press(yours, 'space').effects).toEqual([{ kind: 'perform', action: { name: 'pause' }, by: 'space' }])
    expect(told(yours, [KILLED, CHECKED, SECOND])).toEqual({ model: yours, effects: [] })
  })

  test('what became of the key is said behind it, and what is said later alone', () => {
    const outcome = (text: string) => ({ kind: 'outcome' as const, message: { kind: 'done' as const, text, atMs: 0 } })
    const first = reduce(press(playing([OPENING, FIRST, RUN]), 'p').model, outcome('part 1 sent')).model
    expect(first.message?.text).toBe('yours now: the play has stopped at line 5; part 1 sent')
    expect(reduce(first, outcome('part 2 sent')).model.message?.text).toBe('part 2 sent')
  })

  test('before the workspace is open nothing is handed over', () => {
    expect(phase(pressed(playing([]), 'K enter space'))).toBe('opening')
  })
})

describe('on another screen', () => {
  test('enter goes on and comes back to the captions; page down scrolls', () => {
    const rows = pressed(playing([OPENING]), 'h')
    const on = press(rows, 'enter')
    expect([on.model.screen.kind, on.effects]).toEqual(['main', [next(0)]])
    expect(press(rows, 'pagedown').effects).toEqual([])
    expect(press(pressed(playing([OPENING]), 'b'), 'pagedown').effects).toEqual([next(0)])
  })
})

describe('the end', () => {
  test('of a play that went well, and of one that did not; also when somebody leaves before', () => {
    const failed = playing([...TO_SECOND, AGAIN, WRITTEN, expectation(9, false)])
    const ended = told(failed, [{ ...END, isMet: false, unmet: 1 } as typeof END]).model
    const isGood = ({ play }: Model) => play !== null && isAsExpected(play)
    expect([playing(TO_SECOND), playing([...TO_SECOND, AGAIN, WRITTEN, END]), failed, ended, pressed(failed, 'escape')].map(isGood)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })

  test('the last caption stays, going on does nothing more, and a key that does something has the dashboard', () => {
    const ended = playing([...TO_SECOND, AGAIN, WRITTEN, END])
    expect(press(ended, 'enter right pagedown')).toEqual({ model: ended, effects: [] })
    expect(pressed(ended, 'left').play?.shown).toBe(1)
    expect(pressed(ended, 'p')).toMatchObject({ play: { phase: 'yours' }, message: { text: 'yours now: the play is over' } })
  })
})
