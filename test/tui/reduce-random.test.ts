/** Whatever is pressed, whatever arrives, in any order: nothing throws, and what must hold holds. */
import { expect, test } from 'vitest'
import { STEPS } from '../../src/engine/steps.js'
import { ACTIONS } from '../../src/session/actions.js'
import { ARRIVALS_LIMIT } from '../../src/tui/arrivals.js'
import { PROMPT_LIMIT } from '../../src/tui/edit-prompt.js'
import { frameOf } from '../../src/tui/frame.js'
import type { Size } from '../../src/tui/line.js'
import { type Input, LOG_LIMIT, type Model } from '../../src/tui/model.js'
import { COMMAND_HISTORY_LIMIT } from '../../src/tui/press-in-prompt.js'
import { initialModel, reduce } from '../../src/tui/reduce.js'
import { cellWidth } from '../../src/tui/width.js'
import { ASCII_LOOK, hostile, killedAt, LOOK, logEntry, skipped, versionLine, waiting } from './models.js'
import { AGAIN, CHECKED, END, expectation, FIRST, KILLED, OPENING, RUN, SECOND, setting, WRITTEN } from './plays.js'
import { sessionState, START_MS, withCopy, withInfos, workspaceView } from './reducer-models.js'
import { seededRandom, type SeededRandom } from './seeded-random.js'

const KEYS = [
  ...ACTIONS.flatMap(({ keys }) => keys),
  // In UTF-16 units: half a character is a key too.
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ;,._-!/:é日😀\u202e\u0301'.split(''),
  ...['left', 'right', 'home', 'end', 'pageup', 'pagedown', 'insert', 'delete', 'backspace', 'tab', 'shift-tab', 'f1', 'ctrl-left', 'alt-b', 'ctrl-h'],
  ...['ctrl-a', 'ctrl-b', 'ctrl-d', 'ctrl-e', 'ctrl-f', 'ctrl-k', 'ctrl-l', 'ctrl-n', 'ctrl-p', 'ctrl-u', 'ctrl-w', 'ctrl-z'],
  ...['enter', 'escape', 'tab', 'up', 'down', 'space', ':', '/', 'X', 'D', '?'],
]

const STORY = [OPENING, FIRST, RUN, KILLED, CHECKED, SECOND, AGAIN, WRITTEN, expectation(9, false), END]

test('ten thousand random inputs', () => {
  const random = seededRandom()
  const { next, seed } = random
  const begin = () => initialModel(START_MS, next(2) === 0 ? null : setting({ isPresenter: next(2) === 0, waitsAt: next(2) === 0 ? 'lines' : 'captions' }))
  let model = begin()
  const trail: string[] = []
  for (let turn = 0; turn < 10_000; turn++) {
    const size: Size = { columns: 1 + next(140), rows: 1 + next(50) }
    const input = next(8) === 0 ? anyMessage(random, turn) : anyKey(random)
    trail.push(input.kind === 'key' ? input.key.name : input.kind)
    const before = next(20) === 0 ? JSON.stringify(model) : null
    try {
      const { model: after } = reduce(model, input, size)
      if (before !== null) expect(JSON.stringify(model)).toBe(before)
      model = after
      expect([...unsound(model), ...(next(8) === 0 ? illegal(model, size, next(2) === 0) : [])]).toEqual([])
    } catch (error) {
      throw new Error(`seed ${seed}, turn ${turn}, after ${trail.slice(-12).join(' ')}: ${(error as Error).message}`, { cause: error })
    }
    // Quitting is the end: a new session begins. So is a play that somebody has taken over, now and then.
    if ((model.isQuitting && next(10) === 0) || (model.play?.phase === 'yours' && next(40) === 0)) model = begin()
  }
})

function anyKey({ next }: SeededRandom): Input {
  const name = KEYS[next(KEYS.length)] ?? 'x'
  if (next(60) === 0) return { kind: 'key', key: { name: 'paste', text: `kill-at ${STEPS[next(8)]}\r\n\u001b[2J日${'x'.repeat(next(600))}` } }
  return { kind: 'key', key: { name: name === ' ' ? 'space' : name === 'ctrl-c' && next(20) > 0 ? 'j' : name === 'q' && next(20) > 0 ? 'k' : name } }
}

function anyMessage({ next }: SeededRandom, turn: number): Input {
  const table = ['events_copy', 'orders', 'bronze_orders'][next(3)] ?? ''
  const states = [
    () => sessionState({ isPaused: next(2) === 0 }),
    () => withCopy({ process: next(2) === 0 ? 'none' : 'running', armed: next(2) === 0 ? null : { step: 'mid-write', occurrence: 1 } }),
    () => withInfos(...Array.from({ length: next(4) }, () => ({}))),
    () => sessionState({ access: 'viewer', holderPid: 5 }),
    () => hostile().state ?? sessionState(),
    () => killedAt('table-committed').state ?? sessionState(),
  ]
  const views = [() => workspaceView(turn * 100, turn), () => hostile().view, () => waiting().view, () => skipped().view]
  switch (next(9)) {
    case 6:
    case 7:
      return { kind: 'play', event: STORY[next(STORY.length)] ?? OPENING }
    case 0:
      return { kind: 'state', state: (states[next(states.length)] ?? sessionState)() }
    case 1:
      return { kind: 'view', view: (views[next(views.length)] ?? (() => null))() ?? workspaceView(turn * 100, turn) }
    case 2:
      return { kind: 'log', entry: logEntry(next(9), 'you', 'asked', 'x: \u001b[2J') }
    case 3:
      return { kind: 'tick', nowMs: START_MS + turn * 100 }
    case 4:
      return { kind: 'outcome', message: { kind: next(2) === 0 ? 'done' : 'refused', text: 'a\u202eb', atMs: START_MS + turn * 100 } }
    case 5:
      return {
        kind: 'rows',
        table,
        content: {
          table,
          version: 1,
          columns: ['a', 'b'],
          rows: Array.from({ length: next(60) }, (_, row) => [`${row}`, '日'.repeat(next(99))]),
          rowCount: 60,
        },
      }
    default:
      return { kind: 'history', table, content: Array.from({ length: next(60) }, (_, version) => versionLine(version)) }
  }
}

/** What does not hold of a model. */
function unsound(model: Model): string[] {
  const names = model.state?.queries.map(({ info }) => info.name) ?? []
  const { selected, log, arrivals, commandHistory, prompt, chooser, confirm, screen, play } = model
  const asked = [chooser?.query, confirm && 'query' in confirm.action ? confirm.action.query : undefined]
  const length = [...(prompt?.text ?? '')].length
  const holds: Readonly<Record<string, boolean>> = {
    'a query is selected whenever there is one': selected === null ? names.length === 0 : names.includes(selected),
    'the log is bounded': log.length <= LOG_LIMIT,
    'arrivals are bounded numbers': arrivals.length <= ARRIVALS_LIMIT && arrivals.every((records) => records >= 0 && Number.isFinite(records)),
    'the lines of before are bounded': commandHistory.length <= COMMAND_HISTORY_LIMIT,
    'one dialog at most': [prompt, chooser, confirm].filter((dialog) => dialog !== null).length <= 1,
    'a dialog is about a query that there is': asked.every((name) => name === undefined || names.includes(name)),
    'the line is bounded and without controls': length <= PROMPT_LIMIT && !/[\p{Cc}\p{Cs}]/u.test(prompt?.text ?? ''),
    'the cursor is in the line': prompt === null || (prompt.cursor >= 0 && prompt.cursor <= length),
    'the caption is one of the play': play === null || play.captions.length === 0 || play.shown in play.captions,
    'a play that is over is not paused': play === null || play.phase !== 'yours' || !play.isPaused,
    'nothing is scrolled above the top': !('scroll' in screen) || screen.scroll >= 0,
  }
  return Object.keys(holds).filter((name) => !holds[name])
}

/** Lines of a frame that no terminal may get. */
function illegal(model: Model, { columns, rows }: Size, isAscii: boolean): string[] {
  const texts = frameOf(model, { columns, rows }, isAscii ? ASCII_LOOK : LOOK).map((line) => line.map(({ text }) => text).join(''))
  const bad = texts.filter((text, row) => cellWidth(text) > (row === rows - 1 ? columns - 1 : columns) || /[\p{Cc}\p{Cf}]/u.test(text))
  return texts.length === rows ? bad : [`${texts.length} lines of ${rows}`, ...bad]
}
