/**
 * A recording of the screen as asciinema plays it: asciicast version 2 (docs.asciinema.org/manual/asciicast/v2), a line of JSON with the
 * header, then one for each event: `[seconds, "o", output]`, `"r"` a size, `"m"` a marker.
 *
 * In it is what streamtop wrote to the screen and nothing of the machine. Each event is in the file before the next one, on a line that
 * is whole, so that what a kill leaves can be played. The terminal is not entered and left in it: its last screen stays.
 */
import { resolve } from 'node:path'
import type { Effects } from '../effects.js'
import { safeText } from '../safe-text.js'
import { isNews } from './frame-news.js'
import type { Frame, Size } from './line.js'
import { notWritten, openNewFile } from './new-file.js'
import { RecordingClock } from './recording-clock.js'
import type { ScreenRecorder } from './screen-recorder.js'
import type { Palette } from './svg.js'

/** No wrapping at the right edge and no cursor, as the dashboard has its terminal, and nothing on it. */
const BEGIN = '\u001b[?7l\u001b[?25l\u001b[0m\u001b[2J\u001b[H'
const MOST_IN_MARKER = 80

/**
 * Begins a cast.
 * @param path as it was named
 * @param title what is recorded, for who plays it
 * @param palette the colours of the ground that it was drawn for
 * @throws usage when the file is there already, or cannot be made
 */
export function recordCast(path: string, title: string, palette: Palette, fx: Effects): ScreenRecorder {
  const file = openNewFile(path, fx)
  const clock = new RecordingClock()
  let size: Size | null = null
  let frame: Frame | null = null
  let failure: unknown = null

  function append(line: unknown): void {
    if (failure !== null) return
    try {
      file.append(`${JSON.stringify(line)}\n`)
    } catch (error) {
      failure = error
    }
  }
  const event = (recordedMs: number, code: 'o' | 'r' | 'm', data: string) => append([Math.round(recordedMs) / 1_000, code, data])

  return {
    began(next, atMs) {
      if (size === null) {
        append(headerOf(next, title, palette, atMs))
        event(clock.at(atMs), 'o', BEGIN)
      } else if (next.columns !== size.columns || next.rows !== size.rows) {
        event(clock.at(atMs), 'r', `${next.columns}x${next.rows}`)
      }
      size = next
      clock.happened(atMs)
    },
    wrote: (text, atMs) => event(clock.at(atMs), 'o', text),
    drew(next, _size, _theme, atMs) {
      if (isNews(frame, next)) clock.happened(atMs)
      frame = next
    },
    chapter(title, text, atMs) {
      event(clock.at(atMs), 'm', safeText(title.trim().replace(/\s+/g, ' '), MOST_IN_MARKER))
      clock.read(text, atMs)
    },
    close() {
      if (size === null) {
        file.close()
        return fx.files.remove(resolve(path))
      }
      // Below the screen's last line there may be no other: whoever prints next begins in its last cell, which is empty.
      event(clock.lengthMs, 'o', `\u001b[0m\u001b[?7h\u001b[${size.rows};${size.columns}H\u001b[?25h`)
      file.close()
      if (failure !== null) throw notWritten(path, failure, 'what happened until then is in it, unless the file is gone')
    },
  }
}

function headerOf({ columns, rows }: Size, title: string, { text, ground, ansi }: Palette, beganMs: number): object {
  return {
    version: 2,
    width: columns,
    height: rows,
    timestamp: Math.floor(beganMs / 1_000),
    title: safeText(title),
    // What the codes are for; not what this terminal calls itself.
    env: { TERM: 'xterm-256color' },
    theme: { fg: text, bg: ground, palette: ansi.join(':') },
  }
}
