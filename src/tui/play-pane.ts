/** A play's part of the screen: its caption, what came of the lines since, and what comes next. */
import { endText } from '../scenario/play-text.js'
import type { ScriptLine } from '../scenario/scenario.js'
import type { SessionState } from '../session/session-state.js'
import { shownText } from './foreign-text.js'
import type { Glyphs, Look } from './glyphs.js'
import { keysLabel } from './key-label.js'
import type { Line, Size, Span } from './line.js'
import { PLAY_KEYS, playKeyLabel } from './play-keys.js'
import { allCaptions, nextLine, type PlaySetting, type PlayState } from './play-state.js'
import { type LineWords, wordsOfLine } from './play-words.js'
import { markOf, toldLines } from './play-told.js'
import { rule } from './pane.js'
import { clipLine, lineWidth, span, wrapSpans } from './spans.js'

/** Lines of what was told: few where there are no more rows than a stage has. */
const TOLD_ROWS = { few: 3, many: 6, manyFrom: 30 }
/** In a hall a line is shorter than the screen is wide, and has air around it. */
const PRESENTER_COLUMNS = 64
const PRESENTER_AIR_ROWS = 2

/** Rows of the caption: as many as the longest of the play needs, so that nothing jumps. */
export function captionRows(setting: PlaySetting, columns: number, { glyphs }: Look): number {
  return Math.max(...allCaptions(setting).map((text) => captionLines(text, setting, columns, glyphs).length))
}

/** Rows that the whole part would like to have, with its title. */
export function playRows({ setting }: PlayState, { columns, rows }: Size, look: Look): number {
  const isTall = rows >= TOLD_ROWS.manyFrom
  const caption = captionRows(setting, columns, look)
  return 1 + (setting.isPresenter ? hallRows(caption, isTall) : caption) + (isTall ? TOLD_ROWS.many : TOLD_ROWS.few) + 1
}

/** Of a caption with air above and below it, and between its lines too. */
function hallRows(captionRows: number, isSpaced: boolean): number {
  return (isSpaced ? 2 * captionRows - 1 : captionRows) + PRESENTER_AIR_ROWS
}

/**
 * Exactly `size.rows` lines.
 * @param state of the session; null while it opens
 * @param message what became of a key, to be told too; null for nothing
 */
export function playPart(play: PlayState, state: SessionState | null, { columns, rows }: Size, look: Look, message: Line | null): Line[] {
  const { glyphs } = look
  const { setting, shown, captions } = play
  const width = columns - 2
  const now = nowLine(play, state, width, glyphs)
  const inner = Math.max(0, rows - 1 - 1)
  const longest = captionRows(setting, columns, look)
  const isSpaced = setting.isPresenter && hallRows(longest, true) + TOLD_ROWS.few <= inner
  const lines = captionLines(captions[shown] ?? '', setting, columns, glyphs)
  const caption = isSpaced ? lines.flatMap((line, row) => (row === 0 ? [line] : [[], line])) : lines
  const most = setting.isPresenter ? hallRows(longest, isSpaced) : longest
  // On the smallest screens the caption is all there is room for.
  const captionHeight = Math.max(0, Math.min(most, inner < 4 ? inner : inner - 1))
  const toldHeight = inner - captionHeight
  const told = [...(message === null ? [] : [message]), ...toldLines(play, width, toldHeight - (message === null ? 0 : 1), glyphs)]
  return [
    rule(titleOf(play, glyphs), [span(positionOf(play))], columns, glyphs),
    ...filled(fitted(caption, captionHeight, width, glyphs), captionHeight, setting.isPresenter),
    ...Array.from({ length: toldHeight }, (_, row) => indented(told.slice(-toldHeight)[row] ?? [])),
    indented(now),
  ].slice(0, rows)
}

/** The keys while it plays, as many as fit; the last two always. */
export function playFooter({ phase, isPaused }: PlayState, columns: number, glyphs: Glyphs): Line {
  const own = PLAY_KEYS.map(({ name, label }) => item(playKeyLabel(name, glyphs), name === 'pause' && isPaused ? 'go on' : label))
  const first = phase === 'ended' ? AFTER_THE_END : own
  const end = LAST.flat()
  const line: Span[] = []
  for (const spans of [...first, ...SCREENS]) {
    if (lineWidth(line) + lineWidth(spans) + lineWidth(end) > columns - 2) break
    line.push(...spans)
  }
  return clipLine([span(' '), ...[...line, ...end].slice(1)], columns - 1, glyphs.ellipsis)
}

function item(key: string, label: string): Line {
  return [span('  '), span(key, 'key'), span(` ${label}`)]
}

const AFTER_THE_END: readonly Line[] = [item('s', 'start'), item('x', 'kill'), item('K', 'kill now'), item('i', 'idem'), item('r', 'replay')]
const SCREENS: readonly Line[] = [item('t', 'rows'), item('h', 'history'), item('b', 'big figures')]
const LAST: readonly Line[] = [item('?', 'keys'), item('q', 'quit')]

function titleOf({ setting }: PlayState, { isAscii }: Glyphs): Line {
  const number = /^\d\d(?=-)/.exec(setting.name)?.[0]
  return [span(shownText(`${number === undefined ? '' : `${number}  `}${setting.scenario.title}`, isAscii, 90), 'title')]
}

/** Of the captions, which one this is. */
function positionOf({ setting, shown }: PlayState): string {
  return `${shown + 1}/${allCaptions(setting).length}`
}

function captionLines(text: string, { isPresenter }: PlaySetting, columns: number, { isAscii }: Glyphs): Line[] {
  const width = isPresenter ? Math.min(PRESENTER_COLUMNS, columns - 8) : columns - 2
  const lines = wrapSpans([span(shownText(text.trim().replaceAll(/\s+/g, ' '), isAscii), 'said')], width)
  const margin = ' '.repeat(isPresenter ? Math.max(0, Math.floor((columns - width) / 2)) : 1)
  return lines.map((line) => [span(margin), ...line])
}

/** A caption that is too long for the screen ends in an ellipsis. */
function fitted(lines: readonly Line[], height: number, width: number, { ellipsis }: Glyphs): readonly Line[] {
  if (lines.length <= height) return lines
  const kept = lines.slice(0, height)
  const last = kept.pop()
  return last === undefined ? kept : [...kept, clipLine([...last, span(' '.repeat(width))], width, ellipsis)]
}

/** In the middle of its room where there is air, else from the top. */
function filled(lines: readonly Line[], height: number, isCentred: boolean): Line[] {
  const above = isCentred ? Math.floor((height - lines.length) / 2) : 0
  return Array.from({ length: height }, (_, row) => lines[row - above] ?? [])
}

function indented(line: Line): Line {
  return [span(' '), ...line]
}

/** What is being done or comes next, and who is to go on. */
function nowLine(play: PlayState, state: SessionState | null, width: number, glyphs: Glyphs): Line {
  const { phase, isPaused, shown, captions, setting, at, end } = play
  const goOn = playKeyLabel('go-on', glyphs)
  if (shown < captions.length - 1) return [span('an earlier caption: '), span(goOn, 'key'), span(' comes back')]
  if (isPaused) return [span('paused: ', 'flight'), span(playKeyLabel('pause', glyphs), 'key'), span(' goes on')]
  const line = setting.scenario.script[at]
  const next = nextLine(play)
  // What is so already has no key.
  const wordsOf = ({ action }: ScriptLine) => wordsOfLine(action, (query) => state?.queries.find(({ info }) => info.name === query)?.idempotent ?? null)
  const words = next === null ? null : wordsOf(next)
  switch (phase) {
    case 'opening':
      return [span(`opening the workspace${glyphs.ellipsis}`)]
    case 'waiting':
      return fittedLine([span(goOn, 'key'), span(': '), ...(words === null ? [span('the end')] : spansOf(words, glyphs))], width, glyphs)
    case 'reading':
      return fittedLine([span(`next${glyphs.ellipsis} `, 'flight'), ...(words === null ? [] : spansOf(words, glyphs))], width, glyphs)
    case 'playing':
      return fittedLine([span('now: ', 'flight'), ...(line === undefined ? [] : spansOf(wordsOf(line), glyphs))], width, glyphs)
    case 'ended':
      return endLine(end, glyphs)
    case 'yours':
      return []
  }
}

function endLine(end: PlayState['end'], glyphs: Glyphs): Line {
  if (end === null) return []
  const mark = markOf(end.isMet, glyphs)
  return [
    span(`${mark} ${endText(end)}`, end.isMet ? 'said' : 'alarm'),
    span('. The workspace is yours: '),
    span('?', 'key'),
    span(' lists the keys, '),
    span('q', 'key'),
    span(' quits'),
  ]
}

function spansOf({ keys, text }: LineWords, { isAscii }: Glyphs): Line {
  const shown = span(shownText(text, isAscii, 200))
  return keys.length === 0 ? [shown] : [span(keysLabel(keys, isAscii), 'key'), span('  '), shown]
}

function fittedLine(line: Line, width: number, { ellipsis }: Glyphs): Line {
  return lineWidth(line) <= width ? line : clipLine(line, width, ellipsis)
}
