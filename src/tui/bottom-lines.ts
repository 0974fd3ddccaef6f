/** What takes the footer's place while a line is typed, a step is chosen or a question is open. */
import { STEPS, type Step } from '../engine/steps.js'
import { knownNames } from './command-words.js'
import { completeCommand } from './complete-command.js'
import { shownText } from './foreign-text.js'
import { type Look, UNICODE_GLYPHS } from './glyphs.js'
import type { Line } from './line.js'
import type { Confirm, Model, Prompt, StepChooser } from './model.js'
import { rule } from './pane.js'
import { isForetold } from './play-state.js'
import { clipLine, span, wrapSpans } from './spans.js'
import { cellWidth } from './width.js'

const USUAL_LOOK: Look = { glyphs: UNICODE_GLYPHS, timeZoneOffsetMinutes: 0 }

/**
 * At least one line, none wider than `columns`, the last one a cell narrower; null when the footer may stay.
 * @param mostRows how many lines there is room for: what matters most stays
 */
export function bottomLines(model: Model, columns: number, look: Look = USUAL_LOOK, mostRows = Number.POSITIVE_INFINITY): Line[] | null {
  const lines = dialogLines(model, columns, look, Math.max(1, mostRows))
  return lines === null ? null : lines.map((line, row) => clipLine(line, Math.max(0, row === lines.length - 1 ? columns - 1 : columns), look.glyphs.ellipsis))
}

function dialogLines(model: Model, columns: number, look: Look, mostRows: number): Line[] | null {
  if (model.confirm) return confirmLines(model.confirm, columns, look).slice(-mostRows)
  if (model.prompt) return promptLines(model, model.prompt, columns, look).slice(-mostRows)
  return model.chooser && chooserLines(model.chooser, columns, look, mostRows, isForetold(model))
}

function confirmLines({ question }: Confirm, columns: number, { glyphs }: Look): Line[] {
  return [
    ...wrapSpans([span(shownText(question, glyphs.isAscii), 'alarm')], columns - 2).map((line) => [span(' '), ...line]),
    [span(' '), span('y', 'key'), span(' yes, do it   '), span('any other key', 'key'), span(' no')],
  ]
}

/** What can be typed, or what was wrong with it, above the line itself. */
function promptLines(model: Model, prompt: Prompt, columns: number, look: Look): Line[] {
  const typed = promptLine(prompt, columns, look)
  if (prompt.kind === 'filter') return [[span(' only what contains it, '), span('!', 'key'), span(' in front for what does not  '), ...HINT_OF_FILTER], typed]
  if (model.message?.kind === 'refused') return [[span(' '), span(shownText(model.message.text, look.glyphs.isAscii), 'alarm')], typed]
  const { candidates, form } = completeCommand([...prompt.text].slice(0, prompt.cursor).join(''), knownNames(model))
  const isListed = candidates.length > 1 || (candidates.length === 1 && form === null)
  const words = isListed ? candidates.join('  ') : (form ?? '')
  return [[span(` ${shownText(words, look.glyphs.isAscii)}`, isListed ? 'key' : 'said')], typed]
}

const HINT_OF_FILTER: Line = [span('enter', 'key'), span(' keep  '), span('esc', 'key'), span(' clear')]

/** The end of a long line up to its cursor, which is a cell of its own behind the text. */
function promptLine(prompt: Prompt, columns: number, { glyphs }: Look): Line {
  const points = [...prompt.text].map((point) => shownText(point, glyphs.isAscii))
  const cursor = Math.min(prompt.cursor, points.length)
  const under = points[cursor] ?? '_'
  // The sign in front, the cell under the cursor, the ellipsis when more follows, and the last cell of the screen.
  let room = columns - 2 - Math.max(1, cellWidth(under)) - (cursor + 1 < points.length ? glyphs.ellipsis.length : 0)
  let start = cursor
  while (start > 0 && room - cellWidth(points[start - 1] ?? '') >= 0) {
    start -= 1
    room -= cellWidth(points[start] ?? '')
  }
  const sign = start > 0 ? '<' : prompt.kind === 'filter' ? '/' : ':'
  return [span(sign, 'key'), span(points.slice(start, cursor).join('')), span(under, 'selected'), span(points.slice(cursor + 1).join(''))]
}

/** The eight steps with what a death there leaves behind; of them as many around the chosen one as there is room for. */
function chooserLines({ query, step }: StepChooser, columns: number, { glyphs }: Look, mostRows: number, isForetold: boolean): Line[] {
  const title = [span('x', 'key'), span(' kills '), span(shownText(query, glyphs.isAscii, 60), 'title'), span(' when it has reached')]
  const keys: Line = [span(' '), span('enter', 'key'), span(' or '), span('1-8', 'key'), span(' choose   '), span('esc', 'key'), span(' leave it as it is')]
  const shown = Math.max(1, Math.min(STEPS.length, mostRows - 2))
  const first = Math.min(STEPS.length - shown, Math.max(0, STEPS.indexOf(step) - Math.floor(shown / 2)))
  const steps = STEPS.slice(first, first + shown).map((one): Line => {
    const isChosen = one === step
    const name = `${isChosen ? glyphs.selected : ' '}${STEPS.indexOf(one) + 1} ${one.padEnd(LONGEST_STEP)}`
    return [span(name, isChosen ? 'selected' : 'text'), ...(isForetold ? [span('  '), span(DEATH_AT[one], 'said')] : [])]
  })
  return [rule(title, [], columns, glyphs), ...steps, keys].slice(mostRows < 3 ? 1 : 0, mostRows < 2 ? 2 : undefined)
}

const LONGEST_STEP = Math.max(...STEPS.map((step) => step.length))

/** What a death there leaves, and what the next start makes of it. */
const DEATH_AT: Readonly<Record<Step, string>> = {
  planned: 'nothing on disk: it plans again, perhaps with more rows',
  'offsets-logged': 'the range is fixed, nothing is written: it runs again',
  'rows-read': 'the same: its rows were only in memory',
  'mid-write': 'half a file that no version names: it runs again',
  'files-written': 'whole files that no version names: it runs again',
  'version-linked': 'the version is in the Delta log: it is found, then as 7',
  'table-committed': 'the table has the rows: a plain append doubles them',
  'batch-committed': 'all is done: it goes on with the next batch',
}
