/** How long people need for a caption. */

/** People read aloud some fifteen characters a second, and look at the numbers for a moment. */
const CHARACTERS_PER_SECOND = 15
const LOOK_MS = 1_000

/** In milliseconds. @param speed so many times as fast */
export function readingMs(text: string, speed: number): number {
  return (LOOK_MS + (text.length / CHARACTERS_PER_SECOND) * 1_000) / speed
}
