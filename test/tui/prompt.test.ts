import { expect, test } from 'vitest'
import { bottomLines } from '../../src/tui/bottom-lines.js'
import { PROMPT_LIMIT } from '../../src/tui/edit-prompt.js'
import type { Line } from '../../src/tui/line.js'
import { parseCommand } from '../../src/tui/parse-command.js'
import { COMMAND_HISTORY_LIMIT } from '../../src/tui/press-in-prompt.js'
import { reduce } from '../../src/tui/reduce.js'
import { after, modelAfter, press } from './reducer-models.js'

/** Keys, and the line after them with `|` where the cursor is. */
test.each([
  ['"kill"', 'kill|'],
  ['"kill" left left "x"', 'kix|ll'],
  ['"ab" home "x" end "y"', 'xaby|'],
  ['"ab" ctrl-a "x" ctrl-e "y"', 'xaby|'],
  ['"ab" ctrl-b ctrl-b ctrl-b ctrl-f "x"', 'ax|b'],
  ['"abc" backspace', 'ab|'],
  ['"abc" left backspace', 'a|c'],
  ['"abc" home delete', '|bc'],
  ['"abc" left ctrl-d ctrl-d', 'ab|'],
  ['"one two" left ctrl-u', '|o'],
  ['"one two" home right ctrl-k', 'o|'],
  ['"one two  " ctrl-w', 'one |'],
  ['"one two" alt-backspace ctrl-w', '|'],
  ['"one two" ctrl-left alt-b alt-f "x"', 'onex| two'],
  ['"one two" home alt-d', '| two'],
  ['"one two" ctrl-left ctrl-right', 'one two|'],
  ['é 日 😀 left backspace', 'é|😀'],
  ['"x" f5 alt-x insert pageup', 'x|'],
])('%s leaves %s', (keys, line) => {
  const { prompt } = after(modelAfter(), `: ${keys}`)
  const points = [...(prompt?.text ?? '')]
  expect([...points.slice(0, prompt?.cursor), '|', ...points.slice(prompt?.cursor)].join('')).toBe(line)
})

test('a paste has its line ends removed and is not run; a line is bounded', () => {
  const paste = (text: string) => reduce(after(modelAfter(), ': "a"'), { kind: 'key', key: { name: 'paste', text } }).model.prompt
  expect(paste('b\r\nq\nK\t\x1b[Ac')).toMatchObject({ text: 'abqK  [Ac', cursor: 9 })
  expect([...(paste('😀'.repeat(5_000))?.text ?? '')]).toHaveLength(PROMPT_LIMIT)
  const full = after(modelAfter(), `: "${'x'.repeat(PROMPT_LIMIT)}"`)
  expect(after(full, 'y')).toBe(full)
})

test('escape, and backspace on an empty line, close it', () => {
  for (const keys of [': "abc" escape', ': backspace', ': enter', ': "  " enter'])
    expect(press(modelAfter(), keys), keys).toMatchObject({ model: { prompt: null, message: null }, effects: [] })
})

test('lines of before come back, newest first', () => {
  const model = after(modelAfter(), ': "pace full" enter : "send 2" enter : "send 2" enter :')
  expect(model.commandHistory).toEqual(['pace full', 'send 2'])
  const text = (keys: string) => after(model, keys).prompt?.text
  expect([text('up'), text('up up'), text('up up up'), text('up up down'), text('up down'), text('down')]).toEqual([
    'send 2',
    'pace full',
    'pace full',
    'send 2',
    '',
    '',
  ])
  expect(press(model, 'up up enter').effects).toEqual([{ kind: 'perform', action: { name: 'pace', pace: 'full' }, by: ':pace' }])
  expect(text('ctrl-p "x" up')).toBe('send 2')
  const many = Array.from({ length: COMMAND_HISTORY_LIMIT + 5 }, (_, index) => `: "filter ${index}" enter`).join(' ')
  expect(after(modelAfter(), many).commandHistory).toHaveLength(COMMAND_HISTORY_LIMIT)
})

test.each([
  ['"ki"', 'kill'],
  ['"kill-"', 'kill-at '],
  ['"kill-at m"', 'kill-at mid-write '],
  ['"kill-at mid-write ev"', 'kill-at mid-write events_copy'],
  ['"kill-at ev"', 'kill-at events_copy'],
  ['"kill-at "', 'kill-at '],
  ['"pace f"', 'pace f'],
  ['"pace fu"', 'pace full'],
  ['"pa"', 'pa'],
  ['"rows bronze_"', 'rows bronze_orders'],
  ['"idem"', 'idempotent '],
  ['"idempotent on b"', 'idempotent on bronze_orders'],
  ['"theme high-contrast-l"', 'theme high-contrast-light'],
  ['"nothing x"', 'nothing x'],
  ['"st orders" home right right', 'st orders'],
  ['"sta orders" home right right right', 'start  orders'],
])('tab after %s makes it %j', (keys, line) => {
  expect(after(modelAfter(), `: ${keys} tab`).prompt?.text).toBe(line)
})

test.each([
  ['kill-at mid-write events_copy', { action: 'arm', step: 'mid-write', query: 'events_copy' }],
  ['kill-at events_copy', { action: 'arm', query: 'events_copy' }],
  ['kill-at b', 'b can be batch-committed or bronze_orders'],
  ['kill-at', { action: 'arm' }],
  ['kill', { action: 'kill' }],
  ['fil two  words ', { action: 'filter', text: 'two  words' }],
  ['  :pa fu', 'pa can be pause or pace'],
  [':pac fu', { action: 'pace', pace: 'full' }],
  ['sen 3', { action: 'send', part: 3 }],
  ['gen on', { action: 'generate', isOn: true }],
  ['gen 2.5', { action: 'generate', isOn: true, ratePerSecond: 2.5 }],
  ['gen 0', { action: 'generate', isOn: false }],
  ['gen 5000', '5000 orders a second are too many: at most 1000'],
  ['gen o', 'o can be on or off'],
  ['idempotent events_copy', { action: 'idempotent', query: 'events_copy' }],
  ['idempotent off ord', { action: 'idempotent', isOn: false, query: 'orders' }],
  ['theme mono', { action: 'theme', theme: 'mono' }],
  ['q', { action: 'quit' }],
  ['rows bronze_orders_r', { action: 'rows', table: 'bronze_orders_rejected' }],
  ['strt', 'there is no command strt; did you mean start?'],
  ['start evnts_copy', 'there is no query evnts_copy; did you mean events_copy?'],
  ['kill-at midwrite', 'there is no step or query midwrite; did you mean mid-write?'],
  ['pace', 'pace needs a pace: slowest, slower, slow, brisk, fast or full'],
  ['pace warp', 'there is no pace warp; there are slowest, slower, slow, brisk, fast and full'],
  ['send 9', 'there is no part 9; there are 1, 2, 3 and 4'],
  ['select', 'select needs a query: bronze_orders, events_copy or orders'],
  ['start orders now', 'now is too much: start [QUERY]'],
  ['', null],
] as const)('%j is %j', (line, expected) => {
  const names = { queries: ['bronze_orders', 'events_copy', 'orders'], tables: ['bronze_orders', 'bronze_orders_rejected', 'events_copy', 'orders'] }
  const parsed = parseCommand(line, names)
  expect(parsed.kind === 'request' ? parsed.request : parsed.kind === 'error' ? parsed.message : null).toEqual(expected)
})

test('a line that cannot be understood stays with what is wrong above it, until it is changed', () => {
  const { model, effects } = press(modelAfter(), ': "strt" enter')
  expect(effects).toEqual([])
  expect(text(bottomLines(model, 80))).toEqual([' there is no command strt; did you mean start?', ':strt_'])
  expect(text(bottomLines(after(model, 'backspace'), 80))).toEqual([' ', ':str_'])
  expect(after(model, 'escape up')).toMatchObject({ prompt: null })
  expect(after(model, 'escape : up').prompt?.text).toBe('strt')
})

test('another theme is no action of a session', () => {
  expect(press(modelAfter(), ': "theme mono" enter').effects).toEqual([{ kind: 'theme', name: 'mono' }])
})

test('the line shows what can come next, and its cursor at every width', () => {
  expect(text(bottomLines(after(modelAfter(), ': "s"'), 80))).toEqual([' start  stop  step  send  select', ':s_'])
  expect(text(bottomLines(after(modelAfter(), ': "kill-at"'), 80))).toEqual([' kill-at [STEP] [QUERY]', ':kill-at_'])
  expect(text(bottomLines(after(modelAfter(), ': "kill-at mid-write or"'), 80))[0]).toBe(' kill-at [STEP] [QUERY]')
  expect(text(bottomLines(after(modelAfter(), ': "abcdefghijklm"'), 10))[1]).toBe('<ghijklm_')
  expect(text(bottomLines(after(modelAfter(), ': "abcdefghijklm" left left left'), 10))[1]).toBe('<efghijk…')
  expect(text(bottomLines(after(modelAfter(), '/ "cop"'), 80))).toEqual([
    ' only what contains it, ! in front for what does not  enter keep  esc clear',
    '/cop_',
  ])
  const cursor = bottomLines(after(modelAfter(), ': "abc" left'), 80)?.[1]?.find(({ tone }) => tone === 'selected')
  expect(cursor?.text).toBe('c')
})

test('foreign text that is pasted into the line only looks like itself', () => {
  const { model } = reduce(after(modelAfter(), ':'), { kind: 'key', key: { name: 'paste', text: 'a\u202eb' } })
  expect(text(bottomLines(model, 80))[1]).toBe(':a\\u{202e}b_')
})

function text(lines: readonly Line[] | null): string[] {
  return (lines ?? []).map((line) => line.map((one) => one.text).join(''))
}
