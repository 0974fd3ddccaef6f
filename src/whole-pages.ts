/**
 * Whether a database file was cut in the middle of a page. SQLite notices pages that are missing, and reads the missing rest of one as
 * zeros, which are other rows.
 */
import type { Effects } from './effects.js'

/** SQLite's default, with which every database of streamtop is made. */
const PAGE_BYTES = 4_096

/** What is wrong with the file, as the end of a sentence; null when nothing is, or a WAL beside it has what it lacks. */
export function cutPageOf(path: string, fx: Effects): string | null {
  const bytes = fx.files.status(path)?.size ?? 0
  // A full disk may cut a page that is moved out of the WAL, which then still has it.
  if (bytes % PAGE_BYTES === 0 || (fx.files.status(`${path}-wal`)?.size ?? 0) > 0) return null
  return `it ends in the middle of a page, after ${bytes} bytes`
}
