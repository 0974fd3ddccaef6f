/** The screens that lie over the main one: help, rows, history, figures. A title, what scrolls, and one line at the bottom. */
import { bottomLines } from './bottom-lines.js'
import { figureLines } from './figures-overlay.js'
import { shownText } from './foreign-text.js'
import { entryPassesFilter } from './filter.js'
import { type Look, UNICODE_GLYPHS } from './glyphs.js'
import { helpLines } from './help-overlay.js'
import type { Frame, Line, Size } from './line.js'
import type { Model } from './model.js'
import { rule } from './pane.js'
import { isForetold, isPlayShown } from './play-state.js'
import { clipLine, span } from './spans.js'
import { subjectsOf } from './subject.js'
import { rowLines, shownRows, shownVersions, versionLines } from './table-overlays.js'

interface Overlay {
  readonly title: Line
  /** Stays while the lines below it scroll. */
  readonly titles: Line | null
  readonly lines: readonly Line[]
}

/** The whole screen; null when the main one is to be seen. */
export function overlayOf(model: Model, size: Size, look: Look): Frame | null {
  const overlay = contentOf(model, size, look)
  if (overlay === null) return null
  const { columns, rows } = size
  const { glyphs } = look
  const bottom = bottomLines(model, columns, look, Math.max(1, rows - 2)) ?? [footer(model, look)]
  const roomRows = Math.max(0, rows - bottom.length - (overlay.titles === null ? 1 : 2))
  const first = Math.min('scroll' in model.screen ? model.screen.scroll : 0, Math.max(0, overlay.lines.length - roomRows))
  const body = overlay.lines.slice(first, first + roomRows)
  const title = rule(overlay.title, asideOf(model, { first, shown: body.length, count: overlay.lines.length }, look), columns, glyphs)
  const top = [title, ...(overlay.titles === null ? [] : [indented(overlay.titles)]), ...body.map(indented)]
  const room = Math.max(0, rows - bottom.length)
  const lines = [...Array.from({ length: room }, (_, row) => top[row] ?? []), ...bottom].slice(-rows)
  return lines.map((line, row) => clipLine(line, Math.max(0, row === rows - 1 ? columns - 1 : columns), glyphs.ellipsis))
}

/** How far the screen can be scrolled, and how many lines a page has. */
export function scrollRoom(model: Model, size: Size): { readonly pageRows: number; readonly mostRows: number } {
  const body = Math.max(1, bodyRows(model, size))
  return { pageRows: Math.max(1, body - 1), mostRows: Math.max(0, lineCount(model, size) - body) }
}

function lineCount({ screen, log, filter, view, play }: Model, { columns }: Size): number {
  switch (screen.kind) {
    case 'help':
      return helpLines(filter, columns, UNICODE_GLYPHS, isPlayShown(play)).length
    case 'rows':
      return screen.content === null ? 0 : shownRows(screen.content, filter).length
    case 'history':
      return screen.content === null ? 0 : shownVersions(screen.content, filter).length
    case 'zoom':
      if (screen.pane === 'events') return log.filter((entry) => entryPassesFilter(filter, entry)).length
      return Math.max(view?.detail?.batches.length ?? 0, view?.detail?.versions.length ?? 0)
    case 'main':
    case 'figures':
      return 0
  }
}

/** Lines between what stands still. Of a zoomed pane it is the least that there can be: above the logs stands what is to be said. */
function bodyRows({ screen }: Model, { columns, rows }: Size): number {
  if (screen.kind !== 'zoom') return rows - (screen.kind === 'help' ? 2 : 3)
  const around = columns >= 100 ? 2 : 1
  return screen.pane === 'events' ? rows - 2 - around : rows - 3 - Math.floor((rows - 2) / 3) - 2 * around
}

function contentOf(model: Model, { columns, rows }: Size, look: Look): Overlay | null {
  const { screen, filter } = model
  const { isAscii } = look.glyphs
  const width = Math.max(0, columns - 2)
  const reading: Overlay['lines'] = [[span('reading it')]]
  switch (screen.kind) {
    case 'main':
    case 'zoom':
      return null
    case 'help':
      return { title: [span('all keys and commands', 'title')], titles: null, lines: helpLines(filter, columns, look.glyphs, isPlayShown(model.play)) }
    case 'rows': {
      const title: Line = [span('rows of '), span(shownText(screen.table, isAscii, 60), 'title')]
      if (screen.content === null) return { title, titles: null, lines: reading }
      const { titles, lines } = rowLines(screen.content, filter, width, look)
      const { rows: newest, rowCount, version } = screen.content
      const count = newest.length < rowCount ? `the newest ${newest.length} of ${rowCount}` : `all ${rowCount}`
      return { title: [...title, span(`, version ${version}: ${count}`)], titles, lines }
    }
    case 'history': {
      const title: Line = [span('versions of '), span(shownText(screen.table, isAscii, 60), 'title')]
      if (screen.content === null) return { title, titles: null, lines: reading }
      return { title, ...versionLines(screen.content, filter, width, look) }
    }
    case 'figures': {
      const subject = subjectsOf(model).find(({ isSelected }) => isSelected)
      if (!subject) return { title: [span('figures', 'title')], titles: null, lines: [[span('there are no queries yet')]] }
      const { condition, name } = subject
      const title: Line = [span(shownText(name, isAscii, 60), 'title'), span(`  ${look.glyphs.condition[condition.name]} ${condition.word}`, condition.tone)]
      return { title, titles: null, lines: figureLines(subject, { columns: width, rows: rows - 2 }, look, isForetold(model)) }
    }
  }
}

/** What was said last, or the keys of the screen. */
function footer({ message, screen }: Model, { glyphs }: Look): Line {
  if (message !== null) {
    const text = shownText(message.text, glyphs.isAscii)
    return [span(' '), message.kind === 'refused' ? span(`no: ${text}`, 'alarm') : span(text, 'key')]
  }
  const arrows = glyphs.isAscii ? 'up down' : '↑ ↓'
  const move: Line = [span(` ${arrows}`, 'key'), span(screen.kind === 'figures' ? ' other query  ' : ' scroll  ')]
  const find: Line = screen.kind === 'figures' ? [] : [span('/', 'key'), span(' find  ')]
  return [...move, ...find, span('esc', 'key'), span(' back  '), span('q', 'key'), span(' quit')]
}

function asideOf(
  { filter }: Model,
  { first, shown, count }: { readonly first: number; readonly shown: number; readonly count: number },
  { glyphs }: Look,
): Line {
  const place = shown < count ? `${first + 1} to ${first + shown} of ${count}` : ''
  const found = filter === '' ? '' : `/${filter}`
  return place === '' && found === '' ? [] : [span([shownText(found, glyphs.isAscii, 20), place].filter((part) => part !== '').join('  '))]
}

function indented(line: Line): Line {
  return [span(' '), ...line]
}
