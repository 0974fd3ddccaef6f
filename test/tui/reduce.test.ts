import { expect, test } from 'vitest'
import { ARRIVALS_LIMIT } from '../../src/tui/arrivals.js'
import { type Input, LOG_LIMIT, type Model } from '../../src/tui/model.js'
import { initialModel, MESSAGE_MS, reduce } from '../../src/tui/reduce.js'
import { versionLine } from './models.js'
import { after, modelAfter, press, START_MS, sessionState, viewOfCopy, withCopy, withInfos, workspaceView } from './reducer-models.js'

const query = 'events_copy'

test('the query that a kill makes write twice is selected at first, and watched', () => {
  const { model, effects } = reduce(initialModel(START_MS), { kind: 'state', state: sessionState() })
  expect(model.selected).toBe(query)
  expect(effects).toEqual([{ kind: 'watch', query, batchLimit: 12 }])
})

test('a selection is a name: it stays while queries come and go, and moves when its own goes', () => {
  const model = after(modelAfter(), '3')
  const grown = take(model, { kind: 'state', state: withInfos({ name: 'vip_copy' }, {}, {}, { name: 'more' }) })
  expect(grown.selected).toBe('orders')
  const shrunk = reduce(grown, { kind: 'state', state: withInfos({}) })
  expect(shrunk.model.selected).toBe('bronze_orders')
  expect(shrunk.effects).toEqual([{ kind: 'watch', query: 'bronze_orders', batchLimit: 12 }])
  expect(take(shrunk.model, { kind: 'state', state: sessionState({ queries: [] }) }).selected).toBe(null)
})

test('arrows stop at the ends', () => {
  const model = modelAfter()
  expect(after(model, 'up up up').selected).toBe('bronze_orders')
  expect(after(model, 'j j j').selected).toBe('orders')
  expect(after(model, 'down k').selected).toBe(query)
})

test('a filter works as it is typed, keeps a listed query selected, and escape clears it', () => {
  const typed = after(modelAfter(), '/ "bronze_o"')
  expect(typed).toMatchObject({ filter: 'bronze_o', selected: query, prompt: { kind: 'filter', text: 'bronze_o' } })
  expect(after(modelAfter(), '/ "!copy"')).toMatchObject({ filter: '!copy', selected: query })
  expect(after(modelAfter(), '/ "!copy" down').selected).toBe('bronze_orders')
  expect(after(modelAfter(), '/ "!copy" enter')).toMatchObject({ filter: '!copy', selected: 'bronze_orders', prompt: null })
  expect(after(modelAfter(), '/ "!copy" enter 2').message?.text).toBe('the filter hides events_copy: esc shows all')
  expect(after(modelAfter(), '/ "!copy" escape')).toMatchObject({ filter: '', prompt: null })
  expect(after(modelAfter(), '/ "!copy" enter / backspace enter')).toMatchObject({ filter: '!cop' })
  // What fits no query is about the log: the queries stay listed.
  expect(after(modelAfter(), '/ "killed" enter down')).toMatchObject({ filter: 'killed', selected: 'orders' })
})

test('escape goes back one level at a time', () => {
  let model = after(modelAfter(), '/ "copy" enter enter X')
  const levels: unknown[] = []
  for (let level = 0; level < 5; level++) {
    levels.push({ chooser: model.chooser !== null, screen: model.screen.kind, filter: model.filter })
    model = after(model, 'escape')
  }
  expect(levels).toEqual([
    { chooser: true, screen: 'zoom', filter: 'copy' },
    { chooser: false, screen: 'zoom', filter: 'copy' },
    { chooser: false, screen: 'main', filter: 'copy' },
    { chooser: false, screen: 'main', filter: '' },
    { chooser: false, screen: 'main', filter: '' },
  ])
  expect(after(model, 'escape')).toBe(model)
  expect(after(after(model, '9'), 'escape').message).toBe(null)
})

test('enter goes through the panes, the key of a screen closes it, and a zoomed pane has more batches', () => {
  const { model, effects } = press(modelAfter(), 'enter enter enter')
  expect(model.screen).toEqual({ kind: 'main' })
  expect(effects).toEqual([
    { kind: 'watch', query, batchLimit: 100 },
    { kind: 'watch', query, batchLimit: 12 },
  ])
  expect(after(modelAfter(), 'enter enter').screen).toMatchObject({ kind: 'zoom', pane: 'events' })
  for (const key of ['?', 'b', 't', 'h']) expect(after(modelAfter(), `${key} ${key}`).screen, key).toEqual({ kind: 'main' })
})

test('a step is chosen by arrows and enter, or by its digit', () => {
  const chosen = (keys: string) => press(modelAfter(), `X ${keys}`)
  const choosing = (step: string) => [{ kind: 'perform', action: { name: 'kill-step', query, step }, by: 'X' }]
  expect(chosen('up up enter').effects).toEqual(choosing('files-written'))
  expect(chosen('j j j enter').effects).toEqual(choosing('batch-committed'))
  expect(chosen('home enter').effects).toEqual(choosing('planned'))
  expect(chosen('4').effects).toEqual(choosing('mid-write'))
  expect(chosen('4').model.chooser).toBe(null)
  for (const keys of ['escape', 'X', 'q', 'up escape']) expect(chosen(keys)).toMatchObject({ model: { chooser: null }, effects: [] })
  for (const keys of ['9', 'K', 'x', 'space']) expect(chosen(keys)).toMatchObject({ model: { chooser: { query } }, effects: [] })
})

test('a drop asks first, names who breaks, and only y does it', () => {
  const state = withInfos({ writes: ['bronze_orders', 'bronze_orders_rejected'] }, {}, {})
  const asked = after(modelAfter({ kind: 'state', state }), '1 D')
  expect(asked.confirm?.question).toBe(
    'Drop tables bronze_orders and bronze_orders_rejected and the checkpoint of bronze_orders? events_copy and orders read it and break.',
  )
  expect(press(asked, 'y')).toMatchObject({
    model: { confirm: null },
    effects: [{ kind: 'perform', action: { name: 'drop', query: 'bronze_orders' }, by: 'D' }],
  })
  for (const key of ['Y', 'n', 'enter', 'escape', 'space', 'D', 'q', 'paste']) {
    expect(press(asked, key), key).toMatchObject({ model: { confirm: null, message: { text: 'nothing was dropped' }, isQuitting: false }, effects: [] })
  }
})

test('a dialog about a query that is gone closes', () => {
  const state = sessionState({ queries: sessionState().queries.slice(0, 1) })
  for (const keys of ['X', 'D']) expect(take(after(modelAfter(), keys), { kind: 'state', state })).toMatchObject({ chooser: null, confirm: null })
})

test('an action out of the help is done, and seen', () => {
  expect(press(modelAfter(), '? x')).toMatchObject({
    model: { screen: { kind: 'main' } },
    effects: [{ kind: 'perform', action: { name: 'arm', query }, by: 'x' }],
  })
  expect(press(modelAfter(), 'b x').model.screen).toEqual({ kind: 'figures' })
})

test('quitting is once; then only quitting is heard, and asks to go at once', () => {
  const quitting = after(modelAfter(), 'q')
  expect(quitting.isQuitting).toBe(true)
  for (const key of ['q', 'ctrl-c']) expect(press(quitting, key)).toEqual({ model: quitting, effects: [{ kind: 'quit' }] })
  expect(press(quitting, 'x K : ? up')).toEqual({ model: quitting, effects: [] })
  for (const keys of [':', '/', 'X', 'D', '?', 't']) expect(press(modelAfter(), `${keys} ctrl-c`).effects.at(-1), keys).toEqual({ kind: 'quit' })
})

test('ctrl-z and ctrl-l work everywhere and change nothing', () => {
  for (const keys of ['j', ':', 'X', 'D', '?', 'q']) {
    const model = after(modelAfter(), keys)
    expect(press(model, 'ctrl-z ctrl-l')).toEqual({ model, effects: [{ kind: 'suspend' }, { kind: 'redraw' }] })
  }
})

test('what was read arrives at the screen that asked for it, and at no other', () => {
  const content = { table: query, version: 1, columns: ['a'], rows: [['1']], rowCount: 1 }
  const rows: Input = { kind: 'rows', table: query, content }
  expect(take(after(modelAfter(), 't'), rows).screen).toMatchObject({ kind: 'rows', content })
  for (const keys of ['h', 't t', '1 t']) {
    const model = after(modelAfter(), keys)
    expect(take(model, rows), keys).toBe(model)
  }
  const versions: Input = { kind: 'history', table: query, content: [versionLine(1)] }
  expect(take(after(modelAfter(), 'h'), versions).screen).toMatchObject({ content: [{ version: 1 }] })
  // Another query selected: its table.
  const { model, effects } = press(after(modelAfter(), 't'), '3')
  expect(model).toMatchObject({ selected: 'orders', screen: { kind: 'rows', table: 'orders', content: null } })
  expect(effects).toContainEqual({ kind: 'read-rows', table: 'orders' })
})

test('a table is read again when it has another version, unless somebody has scrolled', () => {
  const at = (version: number) => ({ table: query, version, columns: ['a'], rows: Array.from({ length: 50 }, () => ['1']), rowCount: 50 })
  const look: Input = { kind: 'view', view: workspaceView(1_000, 57) }
  const shown = (kind: 'rows' | 'history', version: number) =>
    kind === 'rows'
      ? take(after(modelAfter(), 't'), { kind, table: query, content: at(version) })
      : take(after(modelAfter(), 'h'), { kind, table: query, content: Array.from({ length: 50 }, (_, back) => versionLine(version - back)) })
  // The look found version 6.
  for (const kind of ['rows', 'history'] as const) {
    expect(reduce(shown(kind, 6), look).effects, kind).toEqual([])
    expect(reduce(shown(kind, 5), look).effects, kind).toEqual([{ kind: `read-${kind}`, table: query }])
    // It was dropped and made again.
    expect(reduce(shown(kind, 9), look).effects, kind).toEqual([{ kind: `read-${kind}`, table: query }])
    expect(reduce(after(shown(kind, 5), 'down'), look).effects, kind).toEqual([])
  }
  expect(reduce(after(modelAfter(), 't'), look).effects).toEqual([])
})

test('a screen scrolls as far as it has lines, and no press is lost at the end', () => {
  const rows = Array.from({ length: 100 }, (_, row) => [String(row)])
  const model = take(after(modelAfter(), 't'), { kind: 'rows', table: query, content: { table: query, version: 1, columns: ['a'], rows, rowCount: 100 } })
  const size = { columns: 80, rows: 24 }
  const scrolled = (keys: string) => after(model, keys, size).screen
  // 21 of 24 lines are rows: the title, the columns' names and the keys are the others.
  expect(scrolled('end')).toMatchObject({ scroll: 79 })
  expect(scrolled('end down j up')).toMatchObject({ scroll: 78 })
  expect(scrolled('pagedown pagedown pageup down')).toMatchObject({ scroll: 21 })
  expect(scrolled('end home up k')).toMatchObject({ scroll: 0 })
  expect(after(after(model, 'end', size), 'up', { columns: 80, rows: 60 }).screen).toMatchObject({ scroll: 42 })
  expect(after(after(modelAfter(), '?'), 'down', { columns: 120, rows: 60 }).screen).toMatchObject({ scroll: 0 })
})

test('a message goes after eight seconds, and stays in a pause', () => {
  const said = after(modelAfter(), '9')
  const tick = (model: Model, afterMs: number) => take(model, { kind: 'tick', nowMs: START_MS + afterMs })
  expect(tick(said, MESSAGE_MS - 1).message).not.toBe(null)
  expect(tick(said, MESSAGE_MS).message).toBe(null)
  const paused = take(said, { kind: 'state', state: sessionState({ isPaused: true }) })
  expect(tick(paused, 60_000).message).toBe(said.message)
  const outcome: Input = { kind: 'outcome', message: { kind: 'done', text: 'sent', atMs: START_MS } }
  expect(take(said, outcome).message?.text).toBe('sent')
})

test('arrivals are counted second by second, spread over the time between two looks', () => {
  const looks: readonly Input[] = [
    { kind: 'view', view: workspaceView(500, 58) },
    { kind: 'view', view: workspaceView(1_500, 60) },
    { kind: 'view', view: workspaceView(1_600, 61) },
    { kind: 'view', view: workspaceView(4_500, 61) },
  ]
  expect(modelAfter(...looks.slice(0, 1)).arrivals).toEqual([1])
  expect(modelAfter(...looks.slice(0, 2)).arrivals).toEqual([2, 1])
  expect(modelAfter(...looks).arrivals).toEqual([2, 2, 0, 0, 0])
  // A topic that was made anew has fewer; offsets beyond what a double holds still differ by one.
  expect(modelAfter({ kind: 'view', view: workspaceView(500, 3) }).arrivals).toEqual([0])
  const far: readonly Input[] = [
    { kind: 'view', view: workspaceView(3_600_000, '9007199254740992') },
    { kind: 'view', view: workspaceView(3_600_500, '9007199254740993') },
  ]
  const [before = 0, now = 0] = [far.slice(0, 1), far].map((views) => modelAfter(...views).arrivals.at(-1))
  expect(now - before).toBe(1)
  expect(modelAfter(...far).arrivals).toHaveLength(ARRIVALS_LIMIT)
})

test('the log keeps the newest', () => {
  const entries = Array.from(
    { length: LOG_LIMIT + 5 },
    (_, index): Input => ({ kind: 'log', entry: { atMs: index, who: query, kind: 'note', text: `${index}` } }),
  )
  const { log } = modelAfter(...entries)
  expect([log.length, log[0]?.text, log.at(-1)?.text]).toEqual([LOG_LIMIT, '5', `${LOG_LIMIT + 4}`])
})

test('a model that nothing changed is the same one', () => {
  const model = modelAfter()
  const { state, view } = model
  const same: readonly Input[] = [
    { kind: 'tick', nowMs: model.nowMs },
    ...(state ? [{ kind: 'state', state } as const] : []),
    ...(view ? [{ kind: 'view', view } as const] : []),
    ...['f5', 'insert', 'alt-x', 'w', 'ctrl-q', 'paste', 'escape', '2', 'home'].map((name): Input => ({ kind: 'key', key: { name } })),
  ]
  for (const input of same) expect(take(model, input), JSON.stringify(input).slice(0, 60)).toBe(model)
  // In a pause a look that found the same is none, and one that found something is.
  const paused = take(model, { kind: 'state', state: sessionState({ isPaused: true }) })
  expect(take(paused, { kind: 'view', view: workspaceView(5_000, 57) })).toBe(paused)
  expect(take(paused, { kind: 'view', view: workspaceView(5_000, 58) })).not.toBe(paused)
  expect(take(paused, { kind: 'view', view: viewOfCopy({ state: 'killed' }) })).not.toBe(paused)
  expect(take(model, { kind: 'state', state: withCopy({ process: 'none' }) })).not.toBe(model)
})

function take(model: Model, input: Input): Model {
  return reduce(model, input).model
}
