/** A line as a terminal takes it: its text with SGR codes for the tones. Pure. */
import { safeText } from '../safe-text.js'
import type { Line } from './line.js'
import type { Theme, ToneStyle } from './theme.js'

/**
 * The line's text with the codes of its tones, ending in the terminal's own style. Nothing in it moves the cursor: views make foreign
 * text safe before they measure it, and what slipped through would appear as marks here.
 */
export function paintLine(line: Line, theme: Theme): string {
  let painted = ''
  let current = ''
  for (const { text, tone } of line) {
    if (text === '') continue
    const codes = sgrOf(theme.styles[tone])
    if (codes !== current) painted += current === '' ? `${CSI}${codes}m` : codes === '' ? RESET : `${CSI}0;${codes}m`
    current = codes
    painted += safeText(text)
  }
  return current === '' ? painted : painted + RESET
}

/** The line's text alone, without blanks at its end. */
export function textOf(line: Line): string {
  return safeText(line.map(({ text }) => text).join('')).trimEnd()
}

const CSI = '\u001b['
const RESET = `${CSI}0m`

/** ECMA-48 SGR parameters: 1 bold, 7 reverse, 30 to 37 and 90 to 97 the sixteen colours of text. */
function sgrOf({ color, isBold, isReverse }: ToneStyle): string {
  const codes: number[] = []
  if (isBold) codes.push(1)
  if (isReverse) codes.push(7)
  if (color !== null) codes.push(color < 8 ? 30 + color : 82 + color)
  return codes.join(';')
}
