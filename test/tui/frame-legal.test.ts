/** A frame is legal at every size, whatever is in the model: it is what the terminal gets. */
import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { frameOf } from '../../src/tui/frame.js'
import type { Frame, Size } from '../../src/tui/line.js'
import type { Model, Screen } from '../../src/tui/model.js'
import { logEntry, modelWith, MODELS, ASCII_LOOK, LOOK } from './models.js'

const MODEL = fc.constantFrom(...Object.values(MODELS))
const SIZE = fc.record({ columns: fc.integer({ min: 1, max: 250 }), rows: fc.integer({ min: 1, max: 80 }) })
const LOOKS = fc.constantFrom(LOOK, ASCII_LOOK)
const SCREEN = fc.constantFrom<Screen>(
  { kind: 'main' },
  { kind: 'zoom', pane: 'logs', scroll: 3 },
  { kind: 'zoom', pane: 'events', scroll: 900 },
  { kind: 'help', scroll: 0 },
  { kind: 'figures' },
)

test('every model at every size', () => {
  fc.assert(
    fc.property(MODEL, SIZE, LOOKS, SCREEN, (model, size, look, screen) => expectLegal(frameOf({ ...model, screen }, size, look), size)),
    { numRuns: 400 },
  )
})

test('any text in the place of names, messages, filters and entries of the log', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  fc.assert(
    fc.property(text, text, fc.string({ unit: 'grapheme', maxLength: 60 }), SIZE, LOOKS, (name, message, words, size, look) =>
      expectLegal(frameOf(withTexts(name, message, words), size, look), size),
    ),
    { numRuns: 200 },
  )
})

test('the smallest sizes, one by one', () => {
  for (let columns = 1; columns <= 62; columns++) {
    for (let rows = 1; rows <= 16; rows++) expectLegal(frameOf(modelWith(), { columns, rows }, LOOK), { columns, rows })
  }
})

test('no control or format character reaches a frame', () => {
  for (const model of Object.values(MODELS)) {
    const text = frameOf(model, { columns: 120, rows: 40 }, LOOK).flatMap((line) => line.map((span) => span.text))
    expect(text.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
})

test('nothing changes while everything is paused, however late it gets and whatever arrives', () => {
  const paused = MODELS['paused'] ?? modelWith()
  for (const model of [paused, { ...paused, view: paused.view && { ...paused.view, takenAtMs: paused.nowMs - 5_000 } }]) {
    const later = { ...model, nowMs: model.nowMs + 3_600_000, arrivals: [9, 9, 9] }
    expect(frameOf(later, { columns: 120, rows: 40 }, LOOK)).toEqual(frameOf(model, { columns: 120, rows: 40 }, LOOK))
  }
})

/** All that comes from others is set to these texts. */
function withTexts(name: string, message: string, words: string): Model {
  const model = modelWith({ log: [logEntry(0, name, 'failed', words), logEntry(0, words, 'note', name)] })
  const status = model.view?.status
  return {
    ...model,
    selected: name,
    filter: words.slice(0, 2),
    message: { kind: 'refused', text: message, atMs: 0 },
    state: model.state && {
      ...model.state,
      workspace: `/${name}/${words}`,
      queries: model.state.queries.map((live, index) =>
        index === 1 ? { ...live, info: { ...live.info, name, source: { kind: 'table', name: words } } } : live,
      ),
    },
    view: status
      ? {
          takenAtMs: 0,
          status: {
            ...status,
            topics: [{ name: words, kind: 'kafka', partitions: 1, endOffsets: { '0': message } }],
            queries: status.queries.map((query, index) =>
              index === 1 ? { ...query, name, sink: { kind: 'table', name: message }, reasons: [words], batchAttempts: [] } : query,
            ),
            errors: [{ code: 'table-damaged', message: words, hint: name, condition: null }],
          },
          detail: {
            query: name,
            table: message,
            batches: [{ batchId: 6, isLogged: true, isCommitted: false, range: words, rows: 1, attempts: 2 }],
            versions: [],
          },
        }
      : null,
  }
}

function expectLegal(frame: Frame, { columns, rows }: Size): void {
  expect(frame.length).toBe(rows)
  frame.forEach((line, row) => {
    const width = stringWidth(line.map(({ text }) => text).join(''))
    expect(width, `row ${row + 1} of ${rows}: ${JSON.stringify(line)}`).toBeLessThanOrEqual(row === rows - 1 ? columns - 1 : columns)
  })
}
