/** A frame as a test reads it. */
import { frameOf } from '../../src/tui/frame.js'
import { ASCII_GLYPHS, type Look, UNICODE_GLYPHS } from '../../src/tui/glyphs.js'
import type { Model } from '../../src/tui/model.js'

export const LOOK: Look = { glyphs: UNICODE_GLYPHS, timeZoneOffsetMinutes: 0 }
export const ASCII_LOOK: Look = { glyphs: ASCII_GLYPHS, timeZoneOffsetMinutes: 0 }

/** A frame as text, without the blanks at the ends of lines. */
export function pictureOf(model: Model, columns: number, rows: number, look: Look = LOOK): string {
  return frameOf(model, { columns, rows }, look)
    .map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n')
}
