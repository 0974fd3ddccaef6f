/** The filter of the screens: only what contains a text is shown; a leading `!` turns it around. Capitals do not matter. Pure. */
import type { LiveQuery, LogEntry } from '../session/session-state.js'

export function passesFilter(filter: string, text: string): boolean {
  const isInverse = filter.startsWith('!')
  const wanted = (isInverse ? filter.slice(1) : filter).toLowerCase()
  return wanted === '' || text.toLowerCase().includes(wanted) !== isInverse
}

/** By its name and by what it writes: most queries of a workspace read the same. */
export function queryPassesFilter(filter: string, { info }: LiveQuery): boolean {
  return filter === '' || passesFilter(filter, [info.name, info.table ?? '', ...info.writes].join(' '))
}

export function entryPassesFilter(filter: string, { who, text }: LogEntry): boolean {
  return filter === '' || passesFilter(filter, `${who} ${text}`)
}
