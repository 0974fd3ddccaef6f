/** Moments as people read them. Pure: the time zone is given, and so is now. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** `12:04:28`. @param timeZoneOffsetMinutes what is added to UTC */
export function timeOfDay(epochMs: number, timeZoneOffsetMinutes: number): string {
  const local = epochMs + timeZoneOffsetMinutes * MINUTE_MS
  const ms = local - Math.floor(local / DAY_MS) * DAY_MS
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${two(ms / 3_600_000)}:${two((ms / MINUTE_MS) % 60)}:${two((ms / 1_000) % 60)}`
}

/** `now`, `3 s ago`, `5 min ago`, `2 h ago`. */
export function ageOf(epochMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - epochMs) / 1_000)
  if (seconds < 1) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  return `${Math.floor(seconds / 3_600)} h ago`
}

/** How long work took: `0.4ms`, `12ms`, `1.3s`. */
export function shortDuration(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)}ms`
  if (ms < 999.5) return `${Math.round(ms)}ms`
  return `${(ms / 1_000).toFixed(1)}s`
}
