/** Whether anything happens between two frames, or only time goes by. Pure. */
import type { Frame, Line } from './line.js'
import { textOf } from './paint.js'

/** The first line has the time of day and what arrives: it alone changes each second, also while nothing happens. */
export function isNews(before: Frame | null, after: Frame): boolean {
  if (before === null || before.length !== after.length) return true
  return after.some((line, row) => row > 0 && timeless(line) !== timeless(before[row] ?? []))
}

/** Without what `ageOf` says, and without the rule that is longer where an age is shorter. */
function timeless(line: Line): string {
  return textOf(line)
    .replace(/\bnow\b|\b\d+ (s|min|h) ago\b/g, '')
    .replace(/[─-]{2,}/g, '')
}
