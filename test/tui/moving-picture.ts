/** An animated picture as a viewer sees it at a moment, cell by cell: reads the document and knows nothing of who made it. */

export interface MovingPicture {
  readonly durationMs: number
  /** Moments at which something changes. */
  readonly momentsMs: readonly number[]
  /** @param atMs null: without motion */
  textAt(atMs: number | null): string
}

interface PlacedUse {
  readonly name: string
  readonly x: number
}

const CELL = { width: 9, height: 19 }

export function movingPicture(svg: string): MovingPicture {
  const words = new Map(
    [...svg.matchAll(/<text id="(\w+)" textLength="(\d+)" lengthAdjust="spacingAndGlyphs">([^<]*)<\/text>/g)].map(([, id = '', length, text = '']) => [
      id,
      { text: unescaped(text), cells: Number(length) / CELL.width },
    ]),
  )
  const lines = new Map([...svg.matchAll(/<g id="(\w+)">(.*?)<\/g>/g)].map(([, id = '', inside = '']) => [id, usesIn(inside)]))
  const keyframes = new Map(
    [...svg.matchAll(/@keyframes (\w+)\{((?:[\d.]+%\{[^}]*\})*)\}/g)].map(([, name = '', steps = '']) => [
      name,
      [...steps.matchAll(/([\d.]+)%\{transform:(?:none|translate\(-(\d+)px\))\}/g)].map(([, percent, left]) => ({
        percent: Number(percent),
        left: Number(left ?? 0),
      })),
    ]),
  )
  const durationMs = Number(/\.m\{animation:([\d.]+)s/.exec(svg)?.[1]) * 1_000
  const rows = [...svg.matchAll(/<g transform="translate\(10,(\d+)\)">(?:<g class="m" style="animation-name:(\w+)">)?(.*?)<\/g>/g)].map(
    ([, y, name, inside = '']) => ({ row: (Number(y) - 24) / CELL.height, steps: keyframes.get(name ?? '') ?? [], uses: usesIn(inside) }),
  )
  const momentsMs = [...new Set([...keyframes.values()].flat().map(({ percent }) => (percent / 100) * durationMs))].sort((a, b) => a - b)

  function textOfLine(uses: readonly PlacedUse[]): string {
    let text = ''
    let cells = 0
    for (const { name, x } of uses) {
      const word = words.get(name)
      if (word === undefined) throw new Error(`there is no word ${name}`)
      const cell = x / CELL.width
      text += ' '.repeat(cell - cells) + word.text
      cells = cell + word.cells
    }
    return text
  }

  return {
    durationMs,
    momentsMs,
    textAt(atMs) {
      const picture: string[] = []
      for (const { row, steps, uses } of rows) {
        const left = atMs === null ? 0 : (steps.filter(({ percent }) => (percent / 100) * durationMs <= atMs + 1e-6).at(-1)?.left ?? 0)
        const shown = uses.find(({ x }) => x === left)
        picture[row] = shown === undefined ? '' : textOfLine(lines.get(shown.name) ?? [])
      }
      return picture.join('\n')
    },
  }
}

function usesIn(markup: string): PlacedUse[] {
  return [...markup.matchAll(/<use href="#(\w+)"(?: x="(\d+)")?/g)].map(([, name = '', x]) => ({ name, x: Number(x ?? 0) }))
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** What keeps a text from being XML: an element that is not closed, a mark that is not escaped, a character that XML 1.0 has not; null when it is. */
export function whyNoXml(text: string): string | null {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text)) return 'a character'
  const open: string[] = []
  let rest = text
  while (rest !== '') {
    const [token = '', closing, opening, empty] = /^(?:<\/(\w+)>|<(\w+)(?: [\w:-]+="[^"<&]*")*(\/?)>|(?:[^<>&]|&(?:amp|lt|gt);)+)/.exec(rest) ?? []
    if (token === '') return `at ${rest.slice(0, 40)}`
    if (closing !== undefined && open.pop() !== closing) return `</${closing}>`
    if (opening !== undefined && empty === '') open.push(opening)
    rest = rest.slice(token.length)
  }
  return open.length > 0 ? `<${open.join('><')}> without end` : null
}
