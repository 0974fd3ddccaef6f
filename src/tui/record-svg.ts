/** A recording of the screen as a picture that moves: collected while it is shown, written at the end. */
import { resolve } from 'node:path'
import type { Effects } from '../effects.js'
import { animatedSvgOf } from './animated-svg.js'
import { FrameReel, LEAST_GAP_MS } from './frame-reel.js'
import { isNews } from './frame-news.js'
import type { Frame } from './line.js'
import { notWritten, openNewFile } from './new-file.js'
import { RecordingClock } from './recording-clock.js'
import type { ScreenRecorder } from './screen-recorder.js'

/** A page that shows it loads it whole. */
const MOST_BYTES = 1024 * 1024
/** How long the last frame is looked at before it begins anew. */
const LAST_LOOK_MS = 3_000

/**
 * Begins a picture.
 * @param path as it was named
 * @param title what is shown
 * @param warn told, in a sentence, what the picture lacks
 * @throws usage when the file is there already, or cannot be made
 */
export function recordSvg(path: string, title: string, warn: (sentence: string) => void, fx: Effects): ScreenRecorder {
  // Whether it can be made is known now; it is there when it is whole.
  openNewFile(path, fx).close()
  fx.files.remove(resolve(path))
  const clock = new RecordingClock()
  const reel = new FrameReel()
  const chapters: string[] = []
  let frame: Frame | null = null

  /** As many frames as there is room for. */
  function picture(): string {
    for (;;) {
      const svg = animatedSvgOf({ title, chapters, frames: reel.frames, durationMs: clock.lengthMs + LAST_LOOK_MS })
      const size = Buffer.byteLength(svg)
      if (size <= MOST_BYTES || reel.frames.length < 2) return svg
      // Half the frames are more than half the picture: what they have in common is in it once.
      for (let left = size; left > MOST_BYTES; left /= 2) reel.thin()
    }
  }

  return {
    began: (_size, atMs) => clock.happened(atMs),
    wrote: () => {},
    drew(next, size, theme, atMs) {
      reel.add({ atMs: clock.at(atMs), frame: next, size, theme })
      if (isNews(frame, next)) clock.happened(atMs)
      frame = next
    },
    chapter(_title, text, atMs) {
      chapters.push(text.trim().replace(/\s+/g, ' '))
      clock.read(text, atMs)
    },
    close() {
      if (reel.frames.length === 0) return
      const file = openNewFile(path, fx)
      try {
        file.append(picture())
      } catch (cause) {
        fx.files.remove(resolve(path))
        throw notWritten(path, cause, 'there is no picture of this run')
      } finally {
        file.close()
      }
      if (reel.gapMs > LEAST_GAP_MS) warn(`${path} has a frame every ${(reel.gapMs / 1_000).toFixed(1)} s: with more of them it would be too large for a page`)
    },
  }
}
