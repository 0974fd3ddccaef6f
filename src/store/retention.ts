/** How long a table keeps files that were removed from it: Delta's `delta.deletedFileRetentionDuration`, a week unless it is set. */
import { StreamtopError } from '../errors.js'
import type { Metadata } from './actions.js'

const PROPERTY = 'delta.deletedFileRetentionDuration'
const DAY_MS = 86_400_000
const UNIT_MS: Readonly<Record<string, number>> = { week: 7 * DAY_MS, day: DAY_MS, hour: 3_600_000, minute: 60_000, second: 1000, millisecond: 1 }

/** @throws bad-value when the property is no interval of weeks or shorter units (`interval 7 days`; Delta takes no others) */
export function retentionOf(table: string, metadata: Metadata): number {
  const text = metadata.configuration[PROPERTY]
  if (text === undefined) return 7 * DAY_MS
  const parts = [...text.matchAll(/(\d+)\s*(week|day|hour|minute|second|millisecond)s?\b/gi)]
  const rest = parts.reduce((left, [part]) => left.replace(part, ''), text).replace(/interval/i, '')
  if (parts.length > 0 && rest.trim() === '') return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0), 0)
  throw new StreamtopError('bad-value', `table ${table} has ${PROPERTY} "${text}", which is no interval`, { hint: 'set it to one such as "interval 7 days"' })
}

/** A duration in words: `7 days`, `36 hours`. */
export function durationText(durationMs: number): string {
  const [unit = 'millisecond', unitMs = 1] = Object.entries(UNIT_MS).find(([name, ms]) => name !== 'week' && durationMs >= ms && durationMs % ms === 0) ?? [
    'second',
    1000,
  ]
  const count = durationMs / unitMs
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
