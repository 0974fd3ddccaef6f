/** The screens over the main one as exact text, and that they are legal at every size. */
import { describe, expect, test } from 'vitest'
import { bigText, bigWidth } from '../../src/tui/big-digits.js'
import { bottomLines } from '../../src/tui/bottom-lines.js'
import type { Look } from '../../src/tui/glyphs.js'
import type { Line, Size } from '../../src/tui/line.js'
import type { Input, Model } from '../../src/tui/model.js'
import { overlayOf } from '../../src/tui/overlay.js'
import { reduce } from '../../src/tui/reduce.js'
import { cellWidth } from '../../src/tui/width.js'
import { ASCII_LOOK, duplicated, hostile, killedAt, LOOK, modelWith, NOW_MS, versionLine } from './models.js'
import { after, modelAfter } from './reducer-models.js'

const STAGE: Size = { columns: 80, rows: 24 }
const DESK: Size = { columns: 120, rows: 40 }

const ROWS: Input = {
  kind: 'rows',
  table: 'events_copy',
  content: {
    table: 'events_copy',
    version: 7,
    columns: ['order_id', 'customer_id', 'status', 'amount', 'event_time', 'topic', 'partition', 'offset', 'timestamp'],
    rows: Array.from({ length: 30 }, (_, row) => [
      `${1001 + row}`,
      'C01',
      row % 2 === 0 ? 'placed' : 'paid',
      '25.50',
      '2026-10-01 09:15:00',
      'orders',
      '0',
      `${row}`,
      `2026-10-01 10:00:00.${100 + row}`,
    ]),
    rowCount: 51,
  },
}
const VERSIONS: Input = {
  kind: 'history',
  table: 'events_copy',
  content: [
    versionLine(9, { operation: 'MERGE', query: 'orders', rowsAdded: 4, rowsRemoved: 3, filesRemoved: 1 }),
    versionLine(8, { batchId: 7, attempt: 2, txns: [{ appId: 'events_copy', version: 7 }], timestampMs: NOW_MS - 90_000 }),
    versionLine(7),
    versionLine(6, { operation: 'STREAMING UPDATE', query: null, batchId: null, attempt: null, rowsAdded: null, timestampMs: null }),
    versionLine(0, { operation: 'CREATE TABLE', query: null, batchId: null, attempt: null, rowsAdded: 0, filesAdded: 0 }),
  ],
}

/** Of a commit over several tables. */
const TOGETHER: Input = {
  kind: 'history',
  table: 'events_copy',
  content: [versionLine(8, { togetherWith: ['events_copy_rejected'] }), versionLine(7)],
}

const SCREENS: Readonly<Record<string, Model>> = {
  help: after(modelWith(), '?'),
  rows: taken(after(modelWith(), 't'), ROWS),
  history: taken(after(modelWith(), 'h'), VERSIONS),
  figures: after(duplicated(), 'b'),
  together: taken(after(modelWith(), 'h'), TOGETHER),
}

describe.each([
  ['80x24', STAGE],
  ['120x40', DESK],
] as const)('%s', (name, size) => {
  test.each(Object.keys(SCREENS))('%s', async (screen) => {
    await expect(`${textOf(SCREENS[screen] as Model, size)}\n`).toMatchFileSnapshot(`overlays/${screen}-${name}.txt`)
  })
})

test('figures without room are small, in one row, or words; in ASCII they are drawn with strokes', () => {
  const model = after(duplicated(), 'b')
  expect(textOf(model, { columns: 60, rows: 12 }, ASCII_LOOK)).toMatchInlineSnapshot(`
    "-- events_copy  * running ----------------------------------
     rows          distinct      duplicates    missing
      _   _         _             _             _
     |_    |       |_    |       |_            | |
      _|   |        _|   |       |_|           |_|

     + DUPLICATED: rows of its source were written more often
     than once
     batch 7 ran again and its 6 rows are in the table twice;
     nothing failed and nothing warned.

     events_copy runs again: batch 7 comes first"
  `)
  expect(textOf(model, { columns: 60, rows: 12 })).toMatchInlineSnapshot(`
    "── events_copy  ● running ──────────────────────────────────
     rows          distinct      duplicates    missing
     █▀▀ ▀▀█       █▀▀   █       █▀▀           █▀█
     ▀▀█   █       ▀▀█   █       █▀█           █ █
     ▀▀▀   ▀       ▀▀▀   ▀       ▀▀▀           ▀▀▀

     + DUPLICATED: rows of its source were written more often
     than once
     batch 7 ran again and its 6 rows are in the table twice;
     nothing failed and nothing warned.

     events_copy runs again: batch 7 comes first"
  `)
  expect(textOf(model, { columns: 40, rows: 9 })).toMatchInlineSnapshot(`
    "── events_copy  ● running ──────────────
     rows 57
     distinct 51
     duplicates 6
     missing 0

     + DUPLICATED: rows of its source were
     written more often than once
     events_copy runs again: batch 7 comes…"
  `)
})

test('the digits', () => {
  expect(bigText('0123456789-?', 'small', true).join('\n')).toMatchInlineSnapshot(`
    " _       _   _       _   _   _   _   _       _ 
    | |   |  _|  _| |_| |_  |_    | |_| |_|  _   _|
    |_|   | |_   _|   |  _| |_|   | |_|  _|     |  "
  `)
  expect(bigText('0123456789-?', 'small', false).join('\n')).toMatchInlineSnapshot(`
    "█▀█   █ ▀▀█ ▀▀█ █ █ █▀▀ █▀▀ ▀▀█ █▀█ █▀█     ▀▀█
    █ █   █ █▀▀ ▀▀█ ▀▀█ ▀▀█ █▀█   █ █▀█ ▀▀█ ▀▀▀ █▀▀
    ▀▀▀   ▀ ▀▀▀ ▀▀▀   ▀ ▀▀▀ ▀▀▀   ▀ ▀▀▀ ▀▀▀     ▀  "
  `)
  expect(bigText('0123456789', 'large', true).join('\n')).toMatchInlineSnapshot(`
    "######     ## ###### ###### ##  ## ###### ###### ###### ###### ######
    ##  ##     ##     ##     ## ##  ## ##     ##         ## ##  ## ##  ##
    ##  ##     ## ###### ###### ###### ###### ######     ## ###### ######
    ##  ##     ## ##         ##     ##     ## ##  ##     ## ##  ##     ##
    ######     ## ###### ######     ## ###### ######     ## ###### ######"
  `)
  for (const size of ['large', 'small'] as const) {
    for (const isAscii of [true, false])
      for (const line of bigText('0123456789-? x', size, isAscii)) expect(cellWidth(line)).toBe(bigWidth('0123456789-? x', size))
  }
})

test('what is chosen and asked takes the place of the footer', () => {
  expect(linesOf(bottomLines(after(modelAfter(), 'X'), 80))).toMatchInlineSnapshot(`
    "── x kills events_copy when it has reached ─────────────────────────────────────
     1 planned          nothing on disk: it plans again, perhaps with more rows
     2 offsets-logged   the range is fixed, nothing is written: it runs again
     3 rows-read        the same: its rows were only in memory
     4 mid-write        half a file that no version names: it runs again
     5 files-written    whole files that no version names: it runs again
     6 version-linked   the version is in the Delta log: it is found, then as 7
    ▶7 table-committed  the table has the rows: a plain append doubles them
     8 batch-committed  all is done: it goes on with the next batch
     enter or 1-8 choose   esc leave it as it is"
  `)
  expect(linesOf(bottomLines(after(modelAfter(), '1 D'), 60))).toMatchInlineSnapshot(`
    " Drop table bronze_orders and the checkpoint of
     bronze_orders? events_copy and orders read it and break.
     y yes, do it   any other key no"
  `)
  // With few rows the chosen step stays in sight.
  expect(linesOf(bottomLines(after(modelAfter(), 'X'), 80, LOOK, 5))).toMatchInlineSnapshot(`
    "── x kills events_copy when it has reached ─────────────────────────────────────
     6 version-linked   the version is in the Delta log: it is found, then as 7
    ▶7 table-committed  the table has the rows: a plain append doubles them
     8 batch-committed  all is done: it goes on with the next batch
     enter or 1-8 choose   esc leave it as it is"
  `)
  expect(bottomLines(modelAfter(), 80)).toBe(null)
})

test('the help can be searched, and shows all when nothing fits, or when it is about something else', () => {
  const found = (filter: string) => textOf({ ...after(modelWith(), '?'), filter }, STAGE)
  expect(found(':kill')).toMatchInlineSnapshot(`
    "── all keys and commands ───────────────────────────────────────────── /:kill ──
     the selected query
     x         kill its next batch at the chosen step (table-committed at first);
               again: disarm  :kill-at [STEP] [QUERY]
     K         SIGKILL now, wherever it is  :kill [QUERY]


















     ↑ ↓ scroll  / find  esc back  q quit"
  `)
  expect(found('events_copy').split('\n').slice(1)).toEqual(found('').split('\n').slice(1))
})

test('a filter of rows', () => {
  const lines = textOf({ ...taken(after(modelWith(), 't'), ROWS), filter: '!placed' }, STAGE)
    .split('\n')
    .slice(1)
  expect(lines.filter((line) => line.includes('paid'))).toHaveLength(15)
  expect(lines.filter((line) => line.includes('placed'))).toHaveLength(0)
})

test('a screen that waits for its content, and a message at its foot', () => {
  const lines = textOf(after(modelWith(), 't 9'), STAGE).split('\n')
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([`── rows of events_copy ${'─'.repeat(57)}`, ' reading it', ' no: there is no query 9'])
  expect(textOf(after(modelWith(), 'h / "x"'), STAGE).split('\n').at(-1)).toBe('/x_')
})

test('every screen is legal at every size, in both looks, with foreign text and with every dialog', () => {
  const content: Input = {
    kind: 'rows',
    table: 'events_copy',
    content: {
      table: 'events_copy',
      version: 1,
      columns: ['注文', 'a\u001b[2J', 'e\u0301\u0301\u0301\u0301\u0301', ''],
      rows: [['日'.repeat(90), '\u202ex\n', '', 'y']],
      rowCount: 1,
    },
  }
  const hostileModel = { ...hostile(), message: null }
  const models = [
    ...Object.values(SCREENS),
    after(killedAt('mid-write'), 'b'),
    after(hostileModel, 'b'),
    after(hostileModel, '?'),
    taken({ ...hostileModel, screen: { kind: 'rows', table: 'events_copy', content: null, scroll: 0 } }, content),
    after(modelAfter(), 'b : "kill-at 日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日"'),
    after(modelAfter(), 'b X'),
    after(modelAfter(), 'b 1 D'),
  ]
  for (const model of models) {
    for (const look of [LOOK, ASCII_LOOK]) {
      for (const columns of [1, 2, 3, 7, 12, 20, 33, 40, 41, 59, 80, 109, 120, 200])
        for (const rows of [1, 2, 3, 5, 8, 12, 24, 40]) expectLegal(model, { columns, rows }, look)
    }
  }
})

function expectLegal(model: Model, { columns, rows }: Size, look: Look): void {
  const frame = overlayOf(model, { columns, rows }, look) ?? []
  const widths = frame.map((line) => cellWidth(line.map(({ text }) => text).join('')))
  const isLegal = frame.length === rows && widths.every((width, row) => width <= (row === rows - 1 ? columns - 1 : columns))
  const text = linesOf(frame)
  const isSafe = !/[\p{Cc}\p{Cf}]/u.test(text.replaceAll('\n', '')) && (!look.glyphs.isAscii || /^[\x20-\x7e\n]*$/.test(text))
  if (!isLegal || !isSafe) expect.fail(`${model.screen.kind} at ${columns}×${rows}${look.glyphs.isAscii ? ' in ASCII' : ''}:\n${text}`)
}

function taken(model: Model, input: Input): Model {
  return reduce(model, input).model
}

function textOf(model: Model, size: Size, look: Look = LOOK): string {
  return linesOf(overlayOf(model, size, look))
}

function linesOf(lines: readonly Line[] | null): string {
  return (lines ?? [])
    .map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n')
}
