/** What came of the lines of a play: outcomes, and checks with what was found where it was not what was expected. Pure. */
import type { Check, CheckValue, PlayEvent } from '../scenario/play-event.js'
import { checkText } from '../scenario/play-text.js'
import { shownText } from './foreign-text.js'
import type { Glyphs } from './glyphs.js'
import type { Line } from './line.js'
import type { PlayState } from './play-state.js'
import { clipLine, span, wrapSpans } from './spans.js'

/** Whole where that many lines are there for it; else what is as expected has a line each. The newest is the last. */
export function toldLines({ told, setting }: PlayState, width: number, height: number, glyphs: Glyphs): Line[] {
  const blocks = told.map((event) => toldOf(event, queryRunBy(event, setting), width, glyphs))
  const whole = blocks.flatMap(({ lines }) => lines)
  if (whole.length <= height) return whole
  return blocks.flatMap(({ lines, mayBeCut }) => (mayBeCut && lines.length > 0 ? [shortened(lines, width, glyphs)] : lines))
}

/** `✓` or `✗`. */
export function markOf(isMet: boolean, { isAscii }: Glyphs): string {
  if (isAscii) return isMet ? 'ok' : 'NO'
  return isMet ? '✓' : '✗'
}

interface Told {
  readonly lines: readonly Line[]
  readonly mayBeCut: boolean
}

function toldOf(event: PlayEvent, query: string | null, width: number, glyphs: Glyphs): Told {
  const shown = (text: string) => shownText(text, glyphs.isAscii)
  if (event.kind === 'expectation') {
    const { isMet, subject, checks } = event
    const mark = span(markOf(isMet, glyphs), isMet ? 'alive' : 'alarm')
    const spans = checks.flatMap((check, index) => [
      span(index === 0 ? ' ' : ', '),
      span(shown(check.isMet ? metText(check) : checkText(check)), check.isMet ? 'text' : 'alarm'),
    ])
    return { lines: wrapSpans([mark, span(` ${shown(subject.replace(/^query /, ''))}:`), ...spans], width), mayBeCut: isMet }
  }
  if (event.kind !== 'outcome') return { lines: [], mayBeCut: false }
  // What a run says of itself does not name it.
  const named = (text: string) => (query === null || text.startsWith(`${query} `) ? text : `${query}: ${text}`)
  const lines = event.texts.flatMap((text) => wrapSpans([span(`${glyphs.log.note} ${shown(named(text))}`)], width))
  if (event.error === null) return { lines, mayBeCut: event.texts.length === 1 }
  return { lines: [...lines, ...wrapSpans([span(`${glyphs.log.failed} ${shown(named(event.error.message))}`, 'alarm')], width).slice(0, 2)], mayBeCut: false }
}

function queryRunBy(event: PlayEvent, { scenario }: PlayState['setting']): string | null {
  if (event.kind !== 'outcome') return null
  const action = scenario.script.find(({ line }) => line === event.line)?.action
  return action?.kind === 'run' ? action.query : null
}

/** What was so, shorter than in a transcript: there are few cells. */
function metText(check: Check): string {
  const { field, expected } = check
  // `missing` is a figure too.
  if (field === 'verdict' && expected !== 'missing') return String(expected)
  if (!field.startsWith('version ') || typeof expected !== 'object' || expected === null || Array.isArray(expected)) return checkText(check)
  const { operation, batch, rows, txn } = expected as Readonly<Record<string, CheckValue>>
  const told = [
    operation,
    batch === undefined ? undefined : `batch ${batch}`,
    rows === undefined ? undefined : `+${rows}`,
    txn === undefined ? undefined : txnText(txn),
  ]
  return `${field.replace('version ', 'v')} ${told.filter((part) => part !== undefined).join(' ')}`
}

function txnText(txn: CheckValue): string {
  if (txn === null) return 'no txn'
  return typeof txn === 'object' && 'app-id' in txn ? `txn (${txn['app-id']}, ${txn.version})` : `txn ${txn}`
}

function shortened(lines: readonly Line[], width: number, { ellipsis }: Glyphs): Line {
  const [first = [], second] = lines
  return second === undefined ? first : clipLine([...first, span(' '), ...second, span(' '.repeat(width))], width, ellipsis)
}
