/** Parts of the main screen that pictures show too little of: header, footer, filter, message, scrolling, layout. */
import { expect, test } from 'vitest'
import { footer } from '../../src/tui/footer.js'
import { header, sparkline } from '../../src/tui/header.js'
import { layoutOf } from '../../src/tui/layout.js'
import { ageOf, shortDuration, timeOfDay } from '../../src/tui/local-time.js'
import type { Model } from '../../src/tui/model.js'
import { shortCount } from '../../src/tui/query-table.js'
import { modelWith, NOW_MS, duplicated, foreign, killedAt, viewer, LOOK, pictureOf } from './models.js'

const textOf = (line: readonly { readonly text: string }[] | undefined) => line?.map(({ text }) => text).join('') ?? ''

test('the header gives up what matters least first', () => {
  const at = (columns: number) =>
    textOf(header(modelWith(), columns, LOOK))
      .trim()
      .replace(/ {2,}/g, '  ')
  expect(at(120)).toBe('streamtop …/talks/demo  topic orders 57  +2.0/s ▅▆▅█▅▃▅▅▆▅▃▅  pace slow 150 ms/step  12:04:28')
  expect(at(80)).toBe('streamtop …/demo  topic orders 57  +2.0/s ▅▆▅█▅▃▅▅▆▅▃▅  slow  12:04:28')
  expect(at(50)).toBe('streamtop  orders 57  +2.0/s  slow  12:04:28')
  expect(at(25)).toBe('streamtop  12:04:28')
})

test('the columns of queries stay where they are while the list scrolls past a long name', () => {
  const model = manyQueries(12, 5)
  const titles = [...Array(12).keys()].map((place) => pictureOf({ ...model, selected: `query_${place}` }, 80, 24).split('\n')[1])
  expect(new Set(titles).size).toBe(1)
})

/** So many queries, of which one has a name that takes the room of other columns. */
function manyQueries(count: number, long: number): Model {
  const model = modelWith()
  const [state, view] = [model.state, model.view]
  if (state === null || view === null) throw new Error('a model without queries')
  const names = [...Array(count).keys()].map((place) => `query_${place}${place === long ? '_with_a_long_name'.repeat(3) : ''}`)
  const live = state.queries[1]
  const status = view.status.queries[1]
  if (!live || !status) throw new Error('no second query')
  return {
    ...model,
    state: { ...state, queries: names.map((name) => ({ ...live, info: { ...live.info, name } })) },
    view: { ...view, status: { ...view.status, queries: names.map((name) => ({ ...status, name })) } },
  }
}

test('whose workspace it is stays in the header', () => {
  expect(textOf(header(viewer(), 80, LOOK))).toContain('viewer: queries are held by pid 4711')
  expect(textOf(header(viewer(), 50, LOOK))).toContain('viewer: pid 4711')
  expect(textOf(header(foreign(), 60, LOOK))).toContain('read-only: made by Spark')
  expect(textOf(header({ ...modelWith(), state: null, view: null }, 60, LOOK))).toContain('opens the workspace')
  expect(textOf(header({ ...modelWith(), state: null, view: null, isQuitting: true }, 60, LOOK))).toContain('ctrl-c ends it now')
  const alone = { ...viewer(), state: viewer().state && { ...viewer().state, hasHolderEnded: true } } as Model
  expect(textOf(header(alone, 120, LOOK))).toContain('viewer: pid 4711 has ended; start streamtop again to run the queries')
  expect(textOf(header(alone, 60, LOOK))).toContain('viewer: pid 4711 has ended')
})

test('a look at the disk that is long ago says so', () => {
  const model = modelWith()
  const later = { ...model, nowMs: NOW_MS + 42_000 }
  expect(textOf(header(later, 120, LOOK))).toContain('looked 42 s ago')
  expect(textOf(header(model, 120, LOOK))).not.toContain('ago')
})

test('the footer has the keys that do something now, and always the last two', () => {
  const keysOf = (model: Model) => textOf(footer(model, 80, 1, LOOK.glyphs)[0])
  expect(keysOf(modelWith())).toMatch(/^ x kill {2}X/)
  expect(keysOf(killedAt('mid-write'))).toMatch(/^ s start {2}X/)
  expect(keysOf(viewer())).toBe(' t rows  h history  b big figures  enter zoom  : command  ? all keys  q quit')
  for (const columns of [40, 60, 80, 120]) expect(textOf(footer(modelWith(), columns, 1, LOOK.glyphs)[0])).toMatch(/\? all keys {2}q quit$/)
  expect(footer(modelWith(), 120, 2, LOOK.glyphs)).toHaveLength(2)
})

test('the last message stands in the last rule of the screen', () => {
  expect(pictureOf(duplicated(), 80, 24)).toContain('── events_copy runs again: batch 7 comes first ─')
  expect(pictureOf(duplicated(), 120, 40).split('\n').at(-3)).toMatch(/^╰─ events_copy runs again: batch 7 comes first ─+╯$/)
  const refused = { ...modelWith(), message: { kind: 'refused' as const, text: 'events_copy is running', atMs: NOW_MS } }
  expect(pictureOf(refused, 60, 15)).toContain('── no: events_copy is running ─')
})

test('the filter hides queries and entries of the log, and says so', () => {
  const picture = pictureOf({ ...modelWith(), filter: 'events_c' }, 80, 24)
  expect(picture).toContain('filter /events_c')
  expect(picture).toContain('── events /events_c ─')
  expect(picture).not.toMatch(/ 1 ● running bronze_orders/)
  expect(picture).not.toMatch(/12:04:26 bronze_orders/)
  // Others that read what it writes are not meant.
  expect(pictureOf({ ...modelWith(), filter: 'bronze' }, 80, 24)).not.toMatch(/2 ● running events_copy/)
  const inverse = pictureOf({ ...modelWith(), filter: '!events_c' }, 80, 24)
  expect(inverse).toMatch(/ 1 ● running bronze_orders/)
  expect(inverse).not.toMatch(/2 ● running events_copy/)
})

test('more queries than rows: the list goes with the selected one', () => {
  const model = modelWith()
  const first = model.state?.queries[0]
  if (!first) throw new Error('no query')
  const queries = Array.from({ length: 12 }, (_, index) => ({ ...first, info: { ...first.info, name: `query_${index + 1}` } }))
  const many = { ...model, state: model.state && { ...model.state, queries }, selected: 'query_9' }
  const picture = pictureOf(many, 80, 24)
  expect(picture.split('\n')[0]).toContain('queries 8-10 of 12')
  expect(picture).toContain('▶ 9  ● running  query_9')
  expect(picture).not.toContain('query_1 ')
})

test('a refusal and a death are never told by tone alone', () => {
  expect(pictureOf(killedAt('mid-write'), 80, 24)).toMatch(/✕ KILLED .*\n/)
  expect(pictureOf(killedAt('mid-write'), 60, 15)).toContain('✕K events_copy')
})

test('rows are handed out to the last one, at every size with all panes', () => {
  for (let rows = 15; rows <= 80; rows++) {
    for (const columns of [60, 80, 100, 120]) {
      const { style, rows: given, footerRows } = layoutOf({ columns, rows }, 3)
      const parts = Object.entries(given).filter(([, count]) => count > 0)
      const used = parts.reduce(
        (sum, [part, count]) => sum + count + (part === 'queries' ? (style === 'boxed' ? 3 : 1) : style === 'boxed' ? 2 : 1),
        1 + footerRows,
      )
      expect(used, `${columns}×${rows}`).toBe(rows)
      for (const part of ['logs', 'said'] as const) expect(given[part]).toBeGreaterThan(1)
    }
  }
})

test('times, ages and counts in few cells', () => {
  expect(timeOfDay(NOW_MS, 0)).toBe('12:04:28')
  expect(timeOfDay(NOW_MS, 120)).toBe('14:04:28')
  expect(timeOfDay(NOW_MS, -750)).toBe('23:34:28')
  expect([400, 3_000, 120_000, 7_200_000].map((ms) => ageOf(NOW_MS - ms, NOW_MS))).toEqual(['now', '3 s ago', '2 min ago', '2 h ago'])
  expect([0.44, 9.94, 9.96, 150, 1_250].map(shortDuration)).toEqual(['0.4ms', '9.9ms', '10ms', '150ms', '1.3s'])
  expect([0, 9_999, 10_000, 123_456, 9_990_000, 4_000_000_000].map(shortCount)).toEqual(['0', '9999', '10k', '123k', '10M', '4.0G'])
  expect(sparkline([0, 1, 2, 4], ['a', 'b', 'c', 'd', 'e'])).toBe('abce')
})
