/** The recordings of a run that were asked for, as one recorder. */
import type { Effects } from '../effects.js'
import { recordCast } from './record-cast.js'
import { recordSvg } from './record-svg.js'
import type { ScreenRecorder } from './screen-recorder.js'
import { PALETTES } from './svg.js'
import { themeFor } from './theme.js'

export interface Recordings {
  /** A file for asciinema, as it was named; undefined for none. */
  readonly cast: string | undefined
  /** A picture that moves. */
  readonly svg: string | undefined
  /** What is recorded. */
  readonly title: string
  /** As the dashboard has it: null for what the environment asks for. */
  readonly theme: string | null
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Makes the files.
 * @param warn told, in a sentence, what a recording lacks
 * @returns null when there is nothing to record
 * @throws usage when a file is there already, or cannot be made; then none is left
 */
export function openRecorder({ cast, svg, title, theme, environment }: Recordings, warn: (sentence: string) => void, fx: Effects): ScreenRecorder | null {
  const palette = PALETTES[themeFor(theme, environment).background]
  const first = cast === undefined ? null : recordCast(cast, title, palette, fx)
  if (svg === undefined) return first
  try {
    return together(first, recordSvg(svg, title, warn, fx))
  } catch (error) {
    first?.close()
    throw error
  }
}

function together(first: ScreenRecorder | null, second: ScreenRecorder): ScreenRecorder {
  if (first === null) return second
  return {
    began(...told) {
      first.began(...told)
      second.began(...told)
    },
    wrote(...told) {
      first.wrote(...told)
      second.wrote(...told)
    },
    drew(...told) {
      first.drew(...told)
      second.drew(...told)
    },
    chapter(...told) {
      first.chapter(...told)
      second.chapter(...told)
    },
    close() {
      try {
        first.close()
      } finally {
        second.close()
      }
    },
  }
}
