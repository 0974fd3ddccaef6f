/** `?`: every key and every command, from the table of actions. */
import { ACTIONS, type Action } from '../session/actions.js'
import { THEME_DOES, THEME_FORM } from './command-words.js'
import { passesFilter } from './filter.js'
import type { Glyphs } from './glyphs.js'
import { keysLabel } from './key-label.js'
import type { Line } from './line.js'
import { PLAY_KEYS } from './play-keys.js'
import { beside, span, wrapSpans } from './spans.js'
import { padRight } from './width.js'

interface Entry {
  readonly keys: readonly string[]
  readonly does: string
  readonly command: string | null
}

interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

/** Two columns of text from this width on. */
const TWO_COLUMNS = 110
const KEYS_WIDTH = 10

/**
 * The lines of the help that fit the filter; all of them when none does, since it may be about something else.
 * @param isPlaying whether the keys of a play come first
 */
export function helpLines(filter: string, columns: number, glyphs: Glyphs, isPlaying: boolean): Line[] {
  const all = isPlaying ? [PLAY_GROUP, ...GROUPS] : GROUPS
  const found = all.map((group) => ({ ...group, entries: group.entries.filter((entry) => passesFilter(filter, textOf(entry))) }))
  const groups = found.some(({ entries }) => entries.length > 0) ? found.filter(({ entries }) => entries.length > 0) : all
  const isWide = columns >= TWO_COLUMNS
  const width = isWide ? Math.floor((columns - 4) / 2) : columns - 2
  const blocks = groups.map((group) => [[span(group.title, 'title')], ...group.entries.flatMap((entry) => entryLines(entry, width, glyphs)), []] as Line[])
  if (!isWide) return blocks.flat().slice(0, -1)
  const cut = cutOf(blocks.map(({ length }) => length))
  return beside(blocks.slice(0, cut).flat(), width + 2, blocks.slice(cut).flat(), glyphs.ellipsis).slice(0, -1)
}

/** Stands for the blanks of a command's form while it is wrapped, so that the form stays whole. */
const FIXED_BLANK = '\u2420'

function entryLines({ keys, does, command }: Entry, width: number, { isAscii }: Glyphs): Line[] {
  const words = wrapSpans([span(does), ...(command === null ? [] : [span('  '), span(`:${command}`.replaceAll(' ', FIXED_BLANK), 'said')])], width - KEYS_WIDTH)
  const label = keysLabel(keys, isAscii)
  return words.map((line, row) => [
    span(row === 0 ? padRight(label, KEYS_WIDTH, '') : ' '.repeat(KEYS_WIDTH), 'key'),
    ...line.map(({ text, tone }) => span(text.replaceAll(FIXED_BLANK, ' '), tone)),
  ])
}

/** After how many blocks the second column begins, so that the longer one is as short as can be. */
function cutOf(heights: readonly number[]): number {
  const total = heights.reduce((sum, height) => sum + height, 0)
  let best = heights.length
  let least = total
  let left = 0
  heights.forEach((height, index) => {
    left += height
    const longer = Math.max(left, total - left)
    if (longer < least) {
      best = index + 1
      least = longer
    }
  })
  return best
}

function textOf({ keys, does, command }: Entry): string {
  return `${keys.join(' ')} ${does} ${command === null ? '' : `:${command}`}`
}

function actionsOn(on: Action['on']): readonly Entry[] {
  return ACTIONS.filter((action) => action.on === on)
}

const PLAY_GROUP: Group = {
  title: 'the play',
  entries: PLAY_KEYS.map(({ keys, does }) => ({ keys: keys.slice(0, 1), does, command: null })),
}

const GROUPS: readonly Group[] = [
  { title: 'the selected query', entries: actionsOn('query') },
  { title: 'all queries and the topic', entries: actionsOn('workspace') },
  {
    title: 'the screen',
    entries: [
      ...actionsOn('screen'),
      { keys: [], does: THEME_DOES, command: THEME_FORM },
      { keys: ['ctrl-l'], does: 'draw everything anew', command: null },
      { keys: ['ctrl-z'], does: 'stop this process; fg goes on', command: null },
    ],
  },
  {
    title: 'the command line',
    entries: [
      { keys: ['tab'], does: 'complete the word; the beginning of a word is enough if it can be only one', command: null },
      { keys: ['up', 'down'], does: 'lines of before', command: null },
      { keys: ['ctrl-u'], does: 'delete to the left; ctrl-k to the right, ctrl-w a word', command: null },
    ],
  },
]
