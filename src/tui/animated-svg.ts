/**
 * Frames in time as one picture that moves: SVG with animations of CSS and no script, so that it moves where a page shows it as an image.
 * Pure.
 *
 * Each row of the screen is a strip of all that the row ever shows, side by side, and is pushed so that one of them is seen. What a row
 * shows last stands at its beginning: who wants no motion, or has a viewer that knows none, sees the last frame. Rows and words that
 * are shown again are there once.
 */
import { safeText } from '../safe-text.js'
import type { Frame, Line, Size } from './line.js'
import { CELL, escaped, MARGIN, PALETTES, runsOf, SVG_FONT } from './svg.js'
import type { Theme } from './theme.js'
import { cellWidth } from './width.js'

export interface TimedFrame {
  /** From the beginning. */
  readonly atMs: number
  readonly frame: Frame
  readonly size: Size
  readonly theme: Theme
}

export interface Story {
  readonly title: string
  /** What is told in it, one after the other, for who does not see it. */
  readonly chapters: readonly string[]
  /** In order, at least one. */
  readonly frames: readonly TimedFrame[]
  /** When it begins anew, from the beginning. */
  readonly durationMs: number
}

/** @returns a whole SVG document, with a line end */
export function animatedSvgOf({ title, chapters, frames, durationMs }: Story): string {
  const last = frames.at(-1) as TimedFrame
  const columns = Math.max(...frames.map(({ size }) => size.columns))
  const rows = Math.max(...frames.map(({ size }) => size.rows))
  const width = columns * CELL.width + 2 * MARGIN
  const height = rows * CELL.height + 2 * MARGIN
  const palette = PALETTES[last.theme.background]
  const pieces = new Pieces()
  const strips = Array.from({ length: rows }, (_, row) => stripOf(row, { frames, durationMs, width }, pieces))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(safeText(title))}</title>`,
    ...(chapters.length > 0 ? [`<desc>${chapters.map((text) => escaped(safeText(text))).join('\n')}</desc>`] : []),
    '<style>',
    `.m{animation:${durationMs / 1_000}s step-end infinite}`,
    // A style that is important wins over the names that the strips have.
    '@media (prefers-reduced-motion:reduce){.m{animation:none!important}}',
    ...pieces.styles,
    ...strips.flatMap(({ keyframes }) => keyframes),
    '</style>',
    '<defs>',
    ...pieces.definitions,
    '</defs>',
    `<rect width="${width}" height="${height}" rx="8" fill="${palette.ground}"/>`,
    `<g ${SVG_FONT} fill="${palette.text}">`,
    ...strips.map(({ markup }) => markup),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

interface Strip {
  readonly markup: string
  readonly keyframes: readonly string[]
}

function stripOf(row: number, { frames, durationMs, width }: Pick<Story, 'frames' | 'durationMs'> & { width: number }, pieces: Pieces): Strip {
  const shown = frames.map(({ atMs, frame, theme }) => ({ atMs, piece: pieces.row(frame[row] ?? [], theme) }))
  const changes = shown.filter(({ piece }, index) => piece !== shown[index - 1]?.piece)
  // The last one first.
  const places = [...new Set(changes.map(({ piece }) => piece).reverse())]
  const inside = places.map((piece, place) => (piece === null ? '' : `<use href="#${piece}"${place === 0 ? '' : ` x="${place * width}"`}/>`)).join('')
  const at = `<g transform="translate(${MARGIN},${MARGIN + row * CELL.height + CELL.baseline})"`
  if (changes.length === 1) return { markup: `${at}>${inside}</g>`, keyframes: [] }
  const keyframes = changes.map(({ atMs, piece }, index) => {
    const place = places.indexOf(piece)
    // What an animation does not say of its beginning is how it looks without motion: the end, for a moment in each round.
    return `${percent(index === 0 ? 0 : atMs, durationMs)}{transform:${place === 0 ? 'none' : `translate(-${place * width}px)`}}`
  })
  return {
    markup: `${at}><g class="m" style="animation-name:k${row}">${inside}</g></g>`,
    keyframes: [`@keyframes k${row}{${keyframes.join('')}}`],
  }
}

function percent(atMs: number, durationMs: number): string {
  return `${Number(((100 * atMs) / durationMs).toFixed(3))}%`
}

/** Words, rows and styles: each once, with a name. */
class Pieces {
  readonly #words = new Map<string, string>()
  readonly #rows = new Map<string, string>()
  /** By what a line says: most lines are there again in the next frame. */
  readonly #known = new Map<string, string | null>()
  readonly #styles = new Map<string, string>()

  get styles(): string[] {
    return [...this.#styles].map(([style, name]) => `.${name}{${style}}`)
  }

  get definitions(): string[] {
    return [
      ...[...this.#words].map(([word, name]) => `<text id="${name}" ${word}</text>`),
      ...[...this.#rows].map(([row, name]) => `<g id="${name}">${row}</g>`),
    ]
  }

  /** The name of what a line shows; null when that is nothing. */
  row(line: Line, theme: Theme): string | null {
    const says = JSON.stringify([theme.name, theme.background, line])
    const known = this.#known.get(says)
    if (known !== undefined) return known
    const markup = this.#markupOf(line, theme)
    const name = markup === '' ? null : nameIn(this.#rows, markup, 'r')
    this.#known.set(says, name)
    return name
  }

  #markupOf(line: Line, theme: Theme): string {
    const { text: ink, ground, ansi } = PALETTES[theme.background]
    let boxes = ''
    let words = ''
    let cell = 0
    for (const { text, tone } of line) {
      const { color, isBold, isReverse } = theme.styles[tone]
      const fill = color === null ? ink : (ansi[color] ?? ink)
      const shown = safeText(text)
      const cells = cellWidth(shown)
      if (isReverse && cells > 0) {
        const box = this.#style(`fill:${fill}`)
        boxes += `<rect class="${box}" x="${cell * CELL.width}" y="-${CELL.baseline}" width="${cells * CELL.width}" height="${CELL.height}"/>`
      }
      const styles = [...(isReverse ? [`fill:${ground}`] : color === null ? [] : [`fill:${fill}`]), ...(isBold ? ['font-weight:bold'] : [])].join(';')
      const look = styles === '' ? '' : ` class="${this.#style(styles)}"`
      for (const run of runsOf(shown)) words += `<use href="#${this.#word(run)}" x="${(cell + run.cell) * CELL.width}"${look}/>`
      cell += cells
    }
    return boxes + words
  }

  #word({ text, cells }: { readonly text: string; readonly cells: number }): string {
    return nameIn(this.#words, `textLength="${cells * CELL.width}" lengthAdjust="spacingAndGlyphs">${escaped(text)}`, 'w')
  }

  #style(style: string): string {
    return nameIn(this.#styles, style, 's')
  }
}

function nameIn(names: Map<string, string>, piece: string, prefix: string): string {
  const name = names.get(piece) ?? `${prefix}${names.size.toString(36)}`
  names.set(piece, name)
  return name
}
