/** The table of queries: what each is doing, and its figures. */
import type { Step } from '../engine/steps.js'
import type { VerdictName } from '../observe/status.js'
import { type Cell, type Column, fittedTable, type Reduction } from './columns.js'
import { shownText } from './foreign-text.js'
import type { Glyphs } from './glyphs.js'
import type { Line, Tone } from './line.js'
import { shortDuration } from './local-time.js'
import { isAlive, type Subject } from './subject.js'
import { clip } from './width.js'

/**
 * A line of titles, then a line for each query.
 * @param all those that the columns are for: they stay where they are while some of them are scrolled past
 */
export function queryTable(subjects: readonly Subject[], width: number, glyphs: Glyphs, all = subjects): Line[] {
  const digits = String(Math.max(0, ...all.map(({ number }) => number))).length
  return fittedTable(columnsOf(glyphs, digits), subjects, { reductions: REDUCTIONS, width, ellipsis: glyphs.ellipsis, all })
}

/**
 * What goes first where columns are scarce. Rows, distinct, duplicates, missing and verdict never go; of the verdict its mark stays.
 */
const REDUCTIONS: readonly Reduction[] = [
  { column: 'took', how: 'drop' },
  { column: 'lag', how: 'drop' },
  { column: 'last step', how: 'drop' },
  { column: 'verdict', how: 'shorten' },
  { column: 'writes by', how: 'drop' },
  { column: 'reads', how: 'drop' },
  { column: 'query', how: 'shorten' },
  { column: 'verdict', how: 'shorten' },
  { column: 'batch', how: 'drop' },
  { column: 'state', how: 'shorten' },
  { column: 'idem', how: 'drop' },
  { column: 'verdict', how: 'shorten' },
  { column: 'rows', how: 'shorten' },
  { column: 'distinct', how: 'shorten' },
  { column: 'duplicates', how: 'shorten' },
  { column: 'missing', how: 'shorten' },
  { column: 'query', how: 'squeeze' },
]

/** In cells, with room and without. */
const LONGEST_NAMES = [40, 16]

function columnsOf(glyphs: Glyphs, digits: number): Column<Subject>[] {
  const { isAscii } = glyphs
  const name = (text: string) => shownText(text, isAscii, 60)
  return [
    {
      name: 'number',
      titles: [' #'],
      align: 'left',
      leastWidth: 2,
      cell: ({ number, isSelected }) => ({
        texts: [`${isSelected ? glyphs.selected : ' '}${String(number).padStart(digits)}`],
        tone: isSelected ? 'selected' : 'text',
      }),
    },
    {
      name: 'state',
      titles: ['state', ''],
      align: 'left',
      leastWidth: 9,
      cell: ({ condition }) => {
        const shape = glyphs.condition[condition.name]
        return { texts: [`${shape} ${condition.word}`, `${shape}${condition.letter}`], tone: condition.tone }
      },
    },
    {
      name: 'query',
      titles: ['query'],
      align: 'left',
      leastWidth: 13,
      cell: (subject) => ({
        texts: LONGEST_NAMES.map((cells) => clip(name(subject.name), cells, glyphs.ellipsis)),
        tone: subject.isSelected ? 'selected' : 'text',
      }),
    },
    {
      name: 'reads',
      titles: ['reads'],
      align: 'left',
      cell: ({ status, live }) => {
        const source = status?.source ?? live.info.source
        return { texts: [source === null ? '?' : name(source.kind === 'topic' ? `topic ${source.name}` : source.name)] }
      },
    },
    { name: 'writes by', titles: ['writes by'], align: 'left', cell: ({ status, live }) => ({ texts: [status?.mode ?? live.info.mode ?? '?'] }) },
    { name: 'idem', titles: ['idem'], align: 'left', cell: idempotenceCell },
    { name: 'batch', titles: ['batch'], align: 'right', leastWidth: 5, cell: (subject) => ({ texts: [String(newestBatchOf(subject) ?? '-')] }) },
    { name: 'last step', titles: ['last step'], align: 'left', leastWidth: 17, cell: (subject) => lastStepCell(subject, glyphs) },
    { name: 'lag', titles: ['lag'], align: 'right', leastWidth: 4, cell: ({ status }) => ({ texts: [count(status?.lag)] }) },
    { name: 'took', titles: ['took'], align: 'right', leastWidth: 6, cell: ({ live }) => ({ texts: [tookOf(live.attempt?.steps ?? [])] }) },
    { name: 'rows', titles: ['rows'], align: 'right', leastWidth: 5, cell: (subject) => figureCell(subject.status?.rows, { isOld: isCountOld(subject) }) },
    {
      name: 'distinct',
      titles: ['dist'],
      align: 'right',
      leastWidth: 5,
      cell: (subject) => figureCell(subject.status?.distinct, { isOld: isCountOld(subject) }),
    },
    { name: 'duplicates', titles: ['dup'], align: 'right', leastWidth: 4, cell: ({ status }) => figureCell(status?.duplicates, { isAlarm: true }) },
    { name: 'missing', titles: ['miss'], align: 'right', leastWidth: 4, cell: ({ status }) => figureCell(status?.missing, { isAlarm: true }) },
    { name: 'verdict', titles: ['verdict', 'verdict', 'verdict', ''], align: 'left', leastWidth: 26, cell: verdictCell },
  ]
}

/** The batch that it is at: of a running attempt, which a look at the disk may not have seen yet, or the newest on disk. */
export function newestBatchOf({ live, status }: Subject): number | null {
  if (live.process === 'none' || live.attempt === null) return status?.batchId ?? null
  return live.attempt.batchId
}

function idempotenceCell(subject: Subject): Cell {
  const { live, status } = subject
  if (live.info.mode === null && (status?.idempotent ?? null) === null) return { texts: ['?'] }
  // What the next attempt is to be is known of a query that is run here; of another one the newest attempt is.
  const isOn = subject.condition.name === 'elsewhere' ? (status?.idempotent ?? live.idempotent) : live.idempotent
  return { texts: [isOn ? 'ON' : 'off'] }
}

function lastStepCell({ live, status }: Subject, glyphs: Glyphs): Cell {
  if (live.armed !== null) return { texts: [`${glyphs.step.armed} ${live.armed.step}`], tone: 'flight' }
  const step: Step | null = live.attempt?.steps.at(-1)?.event.step ?? status?.step ?? null
  return { texts: [step ?? '-'] }
}

function tookOf(steps: readonly { readonly tookMs: number }[]): string {
  return steps.length === 0 ? '' : shortDuration(steps.reduce((sum, { tookMs }) => sum + tookMs, 0))
}

/** Whether rows and distinct are those of a version before the newest. */
export function isCountOld({ table }: Subject): boolean {
  return table !== null && table.version !== null && table.countsVersion !== null && table.countsVersion < table.version
}

function figureCell(figure: number | null | undefined, { isOld = false, isAlarm = false }): Cell {
  const mark = isOld ? '~' : ''
  const tone: Tone = isAlarm && (figure ?? 0) > 0 ? 'alarm' : isOld ? 'flight' : 'text'
  return { texts: [mark + count(figure), mark + shortCount(figure)], tone }
}

/** `?` is not known, a point is that nobody has looked yet. */
function count(figure: number | null | undefined): string {
  return figure === undefined ? '.' : figure === null ? '?' : String(figure)
}

/** In at most five cells: `9999`, `12k`, `3.4M`. */
export function shortCount(figure: number | null | undefined): string {
  if (figure === undefined || figure === null || Math.abs(figure) < 10_000) return count(figure)
  let rest = figure / 1_000
  for (const unit of ['k', 'M', 'G']) {
    if (Math.abs(rest) < 999.5) return `${rest < 9.95 ? rest.toFixed(1) : Math.round(rest)}${unit}`
    rest /= 1_000
  }
  return `${Math.round(rest)}T`
}

interface ShownVerdict {
  readonly mark: string
  readonly words: string
  readonly word: string
  readonly tone: Tone
}

const VERDICTS: Readonly<Record<VerdictName, ShownVerdict>> = {
  'exactly-once': { mark: '=', words: 'exactly once', word: 'once', tone: 'text' },
  duplicated: { mark: '+', words: 'duplicated', word: 'dup', tone: 'alarm' },
  missing: { mark: '-', words: 'missing', word: 'miss', tone: 'alarm' },
  empty: { mark: ' ', words: 'empty', word: 'none', tone: 'text' },
}
const MISSING_AND_DUPLICATED: ShownVerdict = { mark: '-', words: 'missing, dup', word: 'both', tone: 'alarm' }
const UNKNOWN_VERDICT: ShownVerdict = { mark: '?', words: 'not known', word: '', tone: 'text' }

function verdictCell(subject: Subject): Cell {
  const { status } = subject
  if (status === null) return { texts: [''] }
  const { mark, words, word, tone } = status.verdict === null ? UNKNOWN_VERDICT : status.alsoDuplicated ? MISSING_AND_DUPLICATED : VERDICTS[status.verdict]
  const isOpen = isInFlight(subject)
  const flight = isOpen ? '~' : ' '
  const long = `${mark} ${words}`.padEnd(15)
  return { texts: [`${long}${isOpen ? '~ in flight' : ''}`, `${long}${flight}`, `${`${mark} ${word}`.padEnd(7)}${flight}`, `${mark}${flight}`], tone }
}

/** A batch that is begun and not committed, for longer than a healthy one takes, held, or left by a dead process. */
function isInFlight(subject: Subject): boolean {
  const { status, live, isNewerThanView } = subject
  const last = live.attempt?.steps.at(-1)?.event.step
  // The look that says so may have been taken before the commit that was the last thing its process told.
  if (status?.inFlight) return !(isNewerThanView && last === 'batch-committed')
  const isOpen = last !== undefined && last !== 'planned' && last !== 'batch-committed'
  return isOpen && (live.attempt?.isDead === true ? !isAlive(subject) : live.heldAt !== null)
}
