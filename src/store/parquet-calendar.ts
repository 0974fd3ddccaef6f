/**
 * Spark before version 3, and later Spark in its legacy mode, counted old days in the Julian calendar. The same number would be
 * another date here, so such files are refused where it matters: days before 1582-10-15 and times before 1900.
 */
import { StreamtopError } from '../errors.js'
import type { Vector } from './columns.js'
import { compareValues, rangeOf } from './statistics.js'

/** For the columns of a file that was written in the old calendar. Throws `unsupported-feature` for a value that both calendars name differently. */
export function refuseJulianDates(vectors: readonly Vector[], rowCount: number): void {
  for (const vector of vectors) {
    const limit = LIMITS.get(vector.column.type.kind)
    const range = limit === undefined ? null : rangeOf(vector, rowCount)
    if (limit === undefined || range === null || compareValues(range.low, limit) >= 0) continue
    throw new StreamtopError('unsupported-feature', `column ${vector.column.name} has dates in the Julian calendar, as Spark before version 3 wrote them`, {
      hint: 'write the table again with a newer Spark',
      condition: 'INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME',
    })
  }
}

/** 1582-10-15 in days, and 1900-01-01 in microseconds since 1970. */
const LIMITS: ReadonlyMap<string, number | bigint> = new Map<string, number | bigint>([
  ['date', -141_427],
  ['timestamp', -2_208_988_800_000_000n],
])
