/** Milliseconds since the epoch as `yyyy-MM-ddTHH:mm:ss.SSSZ`, in UTC. */
import { formatDays } from './store/civil-time.js'

const MS_PER_DAY = 86_400_000

export function isoTimeOf(epochMs: number): string {
  const days = Math.floor(epochMs / MS_PER_DAY)
  const ms = Math.trunc(epochMs - days * MS_PER_DAY)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const clock = [two(ms / 3_600_000), two((ms / 60_000) % 60), two((ms / 1_000) % 60)].join(':')
  return `${formatDays(days)}T${clock}.${String(ms % 1_000).padStart(3, '0')}Z`
}
