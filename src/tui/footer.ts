/** The keys that do something now, most important first, as many as fit. Keys and labels are those of the table of actions. */
import { type ActionContext, type ActionName, actionNamed } from '../session/actions.js'
import type { Glyphs } from './glyphs.js'
import { keysLabel } from './key-label.js'
import type { Line, Span } from './line.js'
import type { Model } from './model.js'
import { lineWidth, span } from './spans.js'

/** Each with the actions whose keys it shows; the label is the last one's. */
const ITEMS: readonly (readonly ActionName[])[] = [
  ['start'],
  ['arm'],
  ['choose-step'],
  ['idempotent'],
  ['replay'],
  ['pause'],
  ['step'],
  ['send'],
  ['kill'],
  ['slower', 'faster', 'pace'],
  ['reset'],
  ['rate-up', 'rate-down', 'generate'],
  ['drop'],
  ['rows'],
  ['history'],
  ['figures'],
  ['stop'],
  ['zoom'],
  ['command'],
  ['filter'],
]

/** Never left out. */
const LAST: readonly ActionName[] = ['help', 'quit']

/** @param lineCount how many lines it may fill */
export function footer(model: Model, columns: number, lineCount: number, { isAscii }: Glyphs): Line[] {
  if (model.state === null) return [[span(' '), ...item(['quit'], isAscii)]]
  const context: ActionContext = {
    state: model.state,
    view: model.view,
    query: model.state.queries.find(({ info }) => info.name === model.selected) ?? null,
  }
  const end = LAST.map((name) => item([name], isAscii))
  const endWidth = end.reduce((sum, one) => sum + lineWidth(one) + GAP.length, 0)
  const lines: Span[][] = [[]]
  let used = 0
  for (const names of ITEMS) {
    if (names.every((name) => actionNamed(name).keys.length === 0 || actionNamed(name).whyNot(context) !== null)) continue
    const shown = item(names, isAscii)
    const width = lineWidth(shown) + GAP.length
    const isLast = lines.length === lineCount
    if (used + width > columns - 1 - (isLast ? endWidth : 0)) {
      if (isLast) break
      lines.push([])
      used = 0
    }
    lines.at(-1)?.push(span(GAP), ...shown)
    used += width
  }
  lines.at(-1)?.push(...end.flatMap((one) => [span(GAP), ...one]))
  return lines.map((line) => [span(' '), ...line.slice(1)])
}

const GAP = '  '

function item(names: readonly ActionName[], isAscii: boolean): Line {
  const keys = names.flatMap((name) => actionNamed(name).keys.slice(0, 1))
  const label = actionNamed(names.at(-1) ?? 'quit').label
  return [span(keysLabel(keys, isAscii), 'key'), span(` ${label}`)]
}
