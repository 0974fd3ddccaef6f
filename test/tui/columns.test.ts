/** Columns go, become short and are squeezed in the order that was given. */
import { expect, test } from 'vitest'
import { type Column, fittedTable } from '../../src/tui/columns.js'
import { queryTable } from '../../src/tui/query-table.js'
import { subjectsOf } from '../../src/tui/subject.js'
import { UNICODE_GLYPHS } from '../../src/tui/glyphs.js'
import { modelWith, duplicated } from './models.js'

const COLUMNS: readonly Column<{ name: string; rows: number }>[] = [
  { name: 'query', titles: ['query'], align: 'left', cell: ({ name }) => ({ texts: [name] }) },
  { name: 'state', titles: ['state', 's'], align: 'left', cell: () => ({ texts: ['running', 'R'] }) },
  { name: 'rows', titles: ['rows'], align: 'right', cell: ({ rows }) => ({ texts: [String(rows)] }) },
]
const REDUCTIONS = [
  { column: 'state', how: 'shorten' },
  { column: 'state', how: 'drop' },
  { column: 'query', how: 'squeeze' },
] as const
const textAt = (width: number) =>
  fittedTable(COLUMNS, [{ name: 'events_copy', rows: 51 }], { reductions: REDUCTIONS, width, ellipsis: '…' }).map((line) =>
    line.map(({ text }) => text).join(''),
  )

test('reductions are made one after the other until the rest fits', () => {
  expect(textAt(40)).toEqual(['query        state    rows', 'events_copy  running    51'])
  expect(textAt(24)).toEqual(['query       state   rows', 'events_copy running   51'])
  expect(textAt(18)).toEqual(['query       s rows', 'events_copy R   51'])
  expect(textAt(16)).toEqual(['query       rows', 'events_copy   51'])
  expect(textAt(12)).toEqual(['query   rows', 'events…   51'])
})

test('columns of the query table go in the stated order, and its figures never', () => {
  const subjects = subjectsOf(duplicated())
  const titlesAt = (width: number) =>
    queryTable(subjects, width, UNICODE_GLYPHS)[0]
      ?.map(({ text }) => text)
      .join('')
      .trim()
      .split(/ +/) ?? []
  const missing = (width: number) => titlesAt(200).filter((title) => !titlesAt(width).includes(title))
  expect(missing(140)).toEqual(['took'])
  expect(missing(132)).toEqual(['lag', 'took'])
  expect(missing(116)).toEqual(['last', 'step', 'lag', 'took'])
  expect(missing(95)).toEqual(['writes', 'by', 'last', 'step', 'lag', 'took'])
  expect(missing(78)).toEqual(['reads', 'writes', 'by', 'last', 'step', 'lag', 'took'])
  for (let width = 40; width <= 200; width++) expect(titlesAt(width), `at ${width}`).toEqual(expect.arrayContaining(['rows', 'dist', 'dup', 'miss']))
})

test('duplicates and missing rows are alarms, and figures of an older version are marked', () => {
  const spansOf = (model: Parameters<typeof subjectsOf>[0]) => queryTable(subjectsOf(model), 116, UNICODE_GLYPHS)[2] ?? []
  expect(spansOf(duplicated())).toContainEqual({ text: '   6', tone: 'alarm' })
  expect(spansOf(duplicated()).find(({ text }) => text.startsWith('+ duplicated'))?.tone).toBe('alarm')
  expect(spansOf(modelWith()).some(({ tone }) => tone === 'alarm')).toBe(false)
  const old = modelWith({ table: { events_copy: { version: 7, countsVersion: 6 } } })
  expect(spansOf(old).filter(({ text }) => text.trim() === '~51')).toHaveLength(2)
})

test('what is not known is a question mark', () => {
  const model = modelWith({ status: { events_copy: { rows: null, distinct: null, duplicates: null, missing: null, verdict: null } } })
  const line = queryTable(subjectsOf(model), 78, UNICODE_GLYPHS)[2]
    ?.map(({ text }) => text)
    .join('')
  expect(line).toBe('▶2 ● running events_copy   off      6     ?     ?    ?    ? ? not known     ')
})
